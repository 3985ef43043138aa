#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Takes each path through the page and slab allocators on a kernel with vm/coverage,
# for tests/vm/coverage.py. Boot with kmemtrace.enable=yes and a second disk.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

vmstat()
{
	sed -n "s/^$1 //p" /proc/vmstat
}

# grew NAME BEFORE: check that a counter of /proc/vmstat has grown.
grew()
{
	[ "$(vmstat "$1")" -gt "$2" ] || fail "nothing happened: $1"
}

say()
{
	echo "$(cut -d' ' -f1 /proc/uptime) $*"
}

# Fill memory until the kernel reclaims pages of the page cache, of tmpfs, and of
# processes, some of which it swaps out.
reclaim()
{
	local free before swap
	before=$(vmstat pswpout)
	swap=$(findfs LABEL=second) || fail "no second disk"
	mkswap "$swap" >/dev/null || fail "no swap"
	swapon "$swap" || fail "no swap"
	free=$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)
	mount -t tmpfs -o size=100% fill /mnt
	dd if=/dev/zero of=/mnt/fill bs=64k count=$((free / 64 + 400)) 2>/dev/null
	cat /mnt/fill >/dev/null
	rm /mnt/fill
	umount /mnt
	swapoff "$swap"
	grew pswpout "$before"
}

# Split the huge page of a process that waits for its reader.
split_huge()
{
	local before thp=/sys/kernel/mm/transparent_hugepage
	[ -e $thp/enabled ] || return 0
	before=$(vmstat thp_split_page)
	echo always >$thp/enabled
	mkfifo /tmp/huge
	dd if=/dev/zero of=/tmp/huge bs=16M count=1 2>/dev/null &
	exec 5</tmp/huge
	dd bs=4k count=1 <&5 >/dev/null 2>&1
	echo 1 >/sys/kernel/debug/split_huge_pages
	cat <&5 >/dev/null
	exec 5<&-
	wait $!
	echo madvise >$thp/enabled
	rm /tmp/huge
	grew thp_split_page "$before"
}

compact()
{
	local before i n
	before=$(vmstat pgmigrate_success)
	# Leave holes between the pages of files. A few files may lie where compaction
	# moves pages to; then more files reach the other end of the memory.
	for n in 100 400 1600 4800; do
		mkdir /tmp/holes
		i=0
		while [ $i -lt $n ]; do
			dd if=/dev/zero of=/tmp/holes/$i bs=68k count=1 2>/dev/null
			i=$((i + 1))
		done
		rm /tmp/holes/*[02468]
		echo 1 >/proc/sys/vm/compact_memory
		rm -r /tmp/holes
		[ "$(vmstat pgmigrate_success)" = "$before" ] || return 0
	done
	grew pgmigrate_success "$before"
}

huge_pool()
{
	# Linux 6.1 has the file also where the machine has no huge pages.
	cat /proc/sys/vm/nr_hugepages >/dev/null 2>&1 || {
		echo "note: no huge pages"
		return
	}
	echo 24 >/proc/sys/vm/nr_hugepages
	[ "$(cat /proc/sys/vm/nr_hugepages)" -gt 0 ] || fail "no pool of huge pages"
	echo 0 >/proc/sys/vm/nr_hugepages
}

hotplug()
{
	local cpu1=/sys/devices/system/cpu/cpu1/online i=0
	while [ $i -lt 2 ]; do
		echo 0 >$cpu1 || fail "cannot switch CPU 1 off"
		work_files /tmp 3
		echo 1 >$cpu1 || fail "cannot switch CPU 1 on"
		work_processes 5
		i=$((i + 1))
	done
}

modules()
{
	insmod /modules/kmt_gap.ko || fail "the gap module could not be loaded"
	storm 0 200
	storm 1 200
	# kfree_rcu() may delay a free for up to five seconds.
	sleep 7
	# The symbols of the other module are needed until the end.
	rmmod kmt_storm || fail "a module cannot be unloaded"
}

[ "$(cat $kmt/enabled)" = 1 ] || fail "tracing is not on"
daemon_start /out/capture
for part in "work 1" modules split_huge huge_pool compact hotplug \
	reclaim "work_processes 20"; do
	say "$part"
	$part
done
echo 3 >/proc/sys/vm/drop_caches
say stop
daemon_stop
[ "$(total_overruns)" = 0 ] || fail "events were lost"
