#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Invalid values are refused by a message that names them, and the
# default is used. Boot with kmemtrace.enable=maybe kmemtrace.subbufs=1
# kmemtrace.subbuf_size=12x kmemtrace.abi=4 kmemtrace.tasks=1 possible_cpus=16,
# then each number as one that would be valid if it wrapped around, and 256 MB.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

dmesg >/tmp/dmesg
for value in enable=maybe subbufs=1 subbuf_size=12x abi=4 tasks=1 \
	subbufs=4294967298 subbuf_size=18014398509481985K abi=4294967297 \
	tasks=4294967312; do
	grep "kmemtrace: .*kmemtrace\.$value is not" /tmp/dmesg ||
		grep "kmemtrace: .*kmemtrace\.$value is neither" /tmp/dmesg ||
		fail "no message about kmemtrace.$value"
done
# Buffers for all possible CPUs would be too large here, but the defaults must not
# cause a warning.
grep "kmemtrace: .*too much" /tmp/dmesg && fail "a warning about the defaults"
[ "$(cat $kmt/enabled)" = 0 ] || fail "on by kmemtrace.enable=maybe"
[ "$(cat $kmt/subbufs)" = 20 ] || fail "subbufs is $(cat $kmt/subbufs)"
[ "$(cat $kmt/abi_version)" = 3 ] || fail "abi_version"
[ "$(cat $kmt/subbuf_size)" = 524288 ] ||
	fail "subbuf_size is $(cat $kmt/subbuf_size)"
for file in abi_version total_overruns overruns consumed info caches tasks; do
	[ "$(stat -c %a $kmt/$file)" = 400 ] || fail "mode of $file"
done
for file in enabled subbufs subbuf_size filter mode; do
	[ "$(stat -c %a $kmt/$file)" = 600 ] || fail "mode of $file"
done
# Only root may access the files.
find $kmt -type f -exec stat -c '%a %u %n' {} + >/tmp/files
grep -v '^[246]00 0 ' /tmp/files && fail "files that are others' too"
[ "$(wc -l </tmp/files)" -ge 20 ] || fail "few files: $(cat /tmp/files)"
