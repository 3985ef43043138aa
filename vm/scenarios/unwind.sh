#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The fast unwinder against the kernel's, whose stacks a kernel of the fragment
# test compares for each record: in tasks and interrupts, with exceptions in the
# kernel, with modules that come and go at the same addresses, and with tracers
# that replace return addresses. Boot with kmemtrace.stacks=yes.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

test=/sys/kernel/debug/kmemtrace-test
ft=/sys/kernel/debug/tracing

figure()
{
	sed -n "s/^$1 //p" $test/stacks
}

# phase NAME: check that no stack was wrong since the last phase.
phase()
{
	fast=$(($(figure fast) - fast_before))
	slow=$(($(figure slow) - slow_before))
	fast_before=$(figure fast)
	slow_before=$(figure slow)
	echo "unwind: $1: fast $fast slow $slow searched $(figure searched) wrong $(figure wrong)"
	[ "$(figure wrong)" = 0 ] || fail "$1: a stack is wrong"
}

# The buffers are too small for all events; a lost event has no stack to compare.
new_session()
{
	echo 0 >$kmt/enabled
	echo overwrite >$kmt/mode
	echo 1 >$kmt/enabled
}

fast_before=0
slow_before=0
phase boot
new_session
work 1
phase work
[ $fast -gt $((9 * slow)) ] || fail "too many stacks are unwound slowly"

# Softirqs, and timers on both CPUs.
work_sockets 200
phase network

# Use each path through the allocators in each context, and the stacks of a module.
insmod /modules/kmt_gap.ko || fail "the gap module could not be loaded"
sleep 1
rmmod kmt_gap
phase gap

# Exceptions in the kernel: read() into untouched memory.
dd if=/dev/zero of=/dev/null bs=8M count=4 2>/dev/null
phase exceptions
[ $slow -gt 0 ] || [ $fast -gt 0 ] || fail "nothing was recorded"

# Other code at the addresses of code that is gone.
for i in 1 2 3 4 5 6 7 8; do
	for module in storm count snapshot nested; do
		insmod /modules/kmt_$module.ko || fail "no module $module"
		case $module in
		storm) echo 50 >/proc/kmt_storm ;;
		count) echo 'mixed 2' >/proc/kmt_count ;;
		snapshot) echo 'keep 50' >/proc/kmt_snapshot
			echo drop >/proc/kmt_snapshot ;;
		nested) echo 'irq_work_queue 50' >/proc/kmt_nested ;;
		esac
		rmmod kmt_$module
	done
done
phase modules
[ $fast -gt $slow ] || fail "too many stacks of modules are unwound slowly"

if [ -e $ft/kprobe_events ]; then
	echo 'r:kmt_r1 vfs_write' >$ft/kprobe_events
	echo 'r:kmt_r2 do_sys_openat2' >>$ft/kprobe_events
	echo 'p:kmt_p1 vfs_read' >>$ft/kprobe_events
	echo 1 >$ft/events/kprobes/enable
	work_pipes 50
	work_processes 3
	echo 0 >$ft/events/kprobes/enable
	echo >$ft/kprobe_events
	phase kretprobes
	[ $slow -gt 0 ] || fail "no return address was replaced"
fi
for tracer in function function_graph; do
	grep -q "\<$tracer\>" $ft/available_tracers 2>/dev/null || continue
	echo $tracer >$ft/current_tracer
	work_pipes 20
	work_processes 2
	echo nop >$ft/current_tracer
	phase $tracer
done
work_pipes 50
phase after
[ $fast -gt $((9 * slow)) ] || fail "too many stacks are unwound slowly again"
echo 0 >$kmt/enabled
