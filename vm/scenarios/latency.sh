#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The longest stretches with interrupts off, for bench/latency: recording with
# every way to allocate, and snapshots. Boot by vm/run --icount a kernel of the
# fragment test with kmemtrace.test_latency.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

figures=/sys/kernel/debug/kmemtrace-test/irqs_off

# show WHAT: print the longest duration of each section since the last call.
show()
{
	sed "s/^/latency: $1 /" $figures
	echo 0 >$figures
}

dd if=/dev/random of=/dev/null bs=32 count=1 2>/dev/null
echo overwrite >$kmt/mode
echo 1 >$kmt/snapshot/take 2>/dev/null
echo 1 >$kmt/enabled
echo "latency: cpus $(find $kmt -maxdepth 1 -name 'cpu[0-9]*' | wc -l)"
echo 0 >$figures
insmod /modules/kmt_gap.ko || fail "no gap module"
sleep 6
for i in 1 2 3; do
	work_files /tmp 3
	work_processes 3
done
show recording
for i in 1 2 3; do
	echo 1 >$kmt/snapshot/take || fail "no snapshot"
	work_processes 1
done
show snapshots
echo 0 >$kmt/enabled
