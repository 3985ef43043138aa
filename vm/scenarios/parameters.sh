#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Values that make no sense are refused by a message that names them, and the
# default is used. Boot with kmemtrace.enable=maybe kmemtrace.subbufs=1
# kmemtrace.subbuf_size=12x kmemtrace.abi=3 kmemtrace.tasks=1.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

dmesg >/tmp/dmesg
for value in enable=maybe subbufs=1 subbuf_size=12x abi=3 tasks=1; do
	grep "kmemtrace: .*kmemtrace\.$value" /tmp/dmesg ||
		fail "no message about kmemtrace.$value"
done
[ "$(cat $kmt/enabled)" = 0 ] || fail "on by kmemtrace.enable=maybe"
[ "$(cat $kmt/subbufs)" = 20 ] || fail "subbufs is $(cat $kmt/subbufs)"
[ "$(cat $kmt/abi_version)" = 2 ] || fail "abi_version"
[ "$(cat $kmt/subbuf_size)" = 524288 ] ||
	fail "subbuf_size is $(cat $kmt/subbuf_size)"
for file in abi_version subbufs subbuf_size total_overruns overruns consumed \
	caches tasks; do
	[ "$(stat -c %a $kmt/$file)" = 400 ] || fail "mode of $file"
done
[ "$(stat -c %a $kmt/enabled)" = 600 ] || fail "mode of enabled"
