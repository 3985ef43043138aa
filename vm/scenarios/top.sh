#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# kmemtrace-top in batch mode, with a raw capture of the same events. tests/vm/top.py
# compares the two.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

top_records()
{
	[ -e /out/capture/kmemtrace.meta ] && [ "$(cat $kmt/enabled)" = 1 ]
}

kmemtrace-top -b --json -d 1 -D /out/capture -- \
	sh -c 'until [ -e /tmp/done ]; do sleep 1; done' >/out/top.json 2>/out/top.log &
top=$!
wait_until 60 top_records || {
	cat /out/top.log
	fail "kmemtrace-top records nothing"
}
insmod /modules/kmt_gap.ko || fail "the gap module could not be loaded"
work 1
sleep 3
touch /tmp/done
status=0
wait $top || status=$?
cat /out/top.log
[ $status = 0 ] || fail "kmemtrace-top ended with $status"
[ "$(cat $kmt/enabled)" = 0 ] || fail "tracing is still on"
