#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The same work on each slab allocator, for bench/allocators. Boot with
# kmemtrace.enable=yes, two CPUs, and buffers that hold all events after the boot:
# kmemtraced stops meanwhile, so that its own allocations are not part of the work.
# /out/MOMENT.* has the kernel's and the module's counts at the moments begin, full (all
# objects are live), and end (three of four are free).
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

work=/proc/kmt_mixture

# moment NAME: mark the moment, and save the counts.
moment()
{
	echo "$1" >$kmt/marker || fail "no mark $1"
	[ "$1" != end ] || echo 0 >$kmt/enabled
	# Add the changes that each CPU has not added to the sums.
	[ ! -e /proc/sys/vm/stat_refresh ] || echo 1 >/proc/sys/vm/stat_refresh
	cp /proc/meminfo "/out/$1.meminfo"
	[ ! -e /proc/slabinfo ] || cp /proc/slabinfo "/out/$1.slabinfo"
	cp $work "/out/$1.counts"
}

# on CPU COMMAND NUMBER: run a command of the module on a CPU.
on()
{
	taskset "$(printf %x $((1 << $1)))" sh -c "echo '$2 $3' >$work" ||
		fail "the module failed: $2 $3"
}

# on_both COMMAND NUMBER COMMAND NUMBER: run a command on CPU 0 and one on CPU 1 at a
# time.
on_both()
{
	local other
	on 0 "$1" "$2" &
	other=$!
	on 1 "$3" "$4"
	wait $other || fail "the module failed"
}

# The work itself. Workers 2 and 3 free on the other CPU than the one that allocated.
fill()
{
	on_both fill 0 fill 1
	on_both fill 2 fill 3
	on_both churn 0 churn 1
	on_both churn 2 churn 3
	on_both produce 50000 consume 50000
	load 2 200 /tmp || fail "no load"
}

thin()
{
	on_both thin 0 thin 1
	on_both thin 3 thin 2
}

insmod /modules/kmt_mixture.ko || fail "no module"
daemon_start /out/capture
kill -STOP "$daemon"
moment begin
fill
moment full
thin
moment end
kill -CONT "$daemon"
daemon_stop
total_overruns | tee /out/total_overruns
uname -r >/out/release
if [ -d /sys/kernel/slab ]; then
	echo SLUB
elif [ -e /proc/slabinfo ]; then
	echo SLAB
else
	echo SLOB
fi >/out/allocator
# A cache of SLUB has sheaves if its capacity is not 0.
for file in /sys/kernel/slab/kmalloc-64/sheaf_capacity \
	/sys/kernel/slab/kmt_mixture/sheaf_capacity; do
	[ ! -e "$file" ] || echo "$file $(cat "$file")"
done >/out/sheaves
