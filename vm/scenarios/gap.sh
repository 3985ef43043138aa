#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Takes each way through the allocators under tracing; tests/vm/gap.py holds the
# capture against what the module printed. Then a session with events in NMI
# context, which must be counted as lost and nothing else.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

daemon_start /out/capture
insmod /modules/kmt_gap.ko || fail "the gap module could not be loaded"
# kfree_rcu() may delay a free for up to five seconds.
sleep 7
daemon_stop
[ "$(total_overruns)" = 0 ] || fail "events were lost"
dmesg >/out/gap.log
stacks_are_right
rmmod kmt_gap

[ "$(uname -m)" = x86_64 ] || exit 0
read_buffers()
{
	taskset 1 cat $kmt/cpu0 >/out/nmi/cpu0.out
	taskset 2 cat $kmt/cpu1 >/out/nmi/cpu1.out
}

mkdir /out/nmi
echo 1 >$kmt/enabled
insmod /modules/kmt_gap.ko nmi_events=50 || fail "no NMI could be sent"
echo 0 >$kmt/enabled
echo "events in NMI context: 50, overruns: $(total_overruns)"
[ "$(total_overruns)" = 50 ] || fail "events in NMI context are miscounted"
read_buffers
{
	echo "abi_version=$(cat $kmt/abi_version)"
	echo "record_size=$(cat $kmt/record_size)"
} >/out/nmi/kmemtrace.meta
