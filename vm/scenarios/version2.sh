#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Records of version 2: all events of version 3 except the hand-over to kfree_rcu().
# tests/vm/gap.py and tests/vm/version2.py judge the capture. Boot with
# kmemtrace.enable=yes kmemtrace.abi=2: gap.py accepts no free of a vmalloc area
# that was allocated before the trace.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

[ "$(cat $kmt/abi_version)" = 2 ] || fail "abi_version is $(cat $kmt/abi_version)"
[ "$(cat $kmt/record_size)" = 64 ] || fail "record_size is $(cat $kmt/record_size)"
for file in caches marker marks tasks events/percpu_alloc events/vfree; do
	[ -e $kmt/$file ] || fail "version 2 lacks $file"
done
for file in kfree_rcu vfree_rcu; do
	[ ! -e $kmt/events/$file ] || fail "version 2 has events/$file"
done
grep -E '^(record 7|event [a-z]*_rcu) ' $kmt/info && fail "info has version 3"
grep -q '^record 6 stop$' $kmt/info || fail "info lacks the record stop"

daemon_start /out/capture
insmod /modules/kmt_gap.ko || fail "the gap module could not be loaded"
# kfree_rcu() may delay a free for up to five seconds.
sleep 7
work 1
daemon_stop
[ "$(total_overruns)" = 0 ] || fail "events were lost"
dmesg >/out/gap.log
