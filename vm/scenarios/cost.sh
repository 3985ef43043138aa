#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The cost of an event, for bench/kernel: each workload of kmt_count with nothing
# traced, with kmemtrace and with ftrace, the latter with stacks too where kmemtrace
# has them. Boot by vm/run --icount with kmemtrace.enable=no, and with kmt_frames=N
# for that many more callers of each workload; a kernel without kmemtrace has the
# first of them only.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

ft=/sys/kernel/debug/tracing
rounds=200

# Initialize the random pool now, so that the initialization does not disturb a
# measurement.
dd if=/dev/random of=/dev/null bs=32 count=1 2>/dev/null
frames=$(sed -n 's/^.*kmt_frames=\([0-9]*\).*$/\1/p' /proc/cmdline)
insmod /modules/kmt_count.ko frames="${frames:-0}" ||
	fail "no module to count with"

# begin, end TRACER: enclose the measurements of a tracer.
begin()
{
	case $1 in
	kmemtrace) echo 1 >$kmt/enabled ;;
	ftrace*)
		echo >$ft/trace
		[ "$1" = ftrace ] || echo 1 >$ft/options/stacktrace
		for event in $events; do
			echo 1 >$ft/events/kmem/"$event"/enable
		done ;;
	esac
}

end()
{
	case $1 in
	kmemtrace) echo 0 >$kmt/enabled ;;
	ftrace*)
		echo 0 >$ft/events/kmem/enable
		echo 0 >$ft/options/stacktrace
		;;
	esac
}

tracers=off
if [ -e $kmt ]; then
	tracers="off kmemtrace ftrace"
	[ ! -e $kmt/stacks ] || tracers="$tracers ftrace_stacks"
	echo "cost: record $(cat $kmt/record_size)"
fi
events="kmalloc kfree kmem_cache_alloc kmem_cache_free mm_page_alloc mm_page_free"
echo 65536 >$ft/buffer_size_kb
for tracer in $tracers; do
	for workload in kmalloc mixed cache pages order3 large; do
		begin "$tracer"
		echo "$workload $rounds" >/proc/kmt_count || fail "$workload"
		end "$tracer"
		echo "cost: $tracer $(cat /proc/kmt_count)"
	done
done
[ ! -e $kmt ] || [ "$(total_overruns)" = 0 ] || fail "events were lost"
