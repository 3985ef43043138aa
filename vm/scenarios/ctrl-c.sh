#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Ctrl+C while all CPUs allocate as fast as they can, on ext4 and on tmpfs:
# kmemtraced ends within 2 s and the time it takes to write what is buffered.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

meminfo()
{
	sed -n "s/^$1: *\([0-9]*\) kB/\1/p" /proc/meminfo
}

# write_ms FOLDER KB: print the time in ms to write and fsync KB to this file
# system.
write_ms()
{
	local started
	started=$(uptime_ms)
	dd if=/dev/zero of="$1/filler" bs=64k count=$(($2 / 64 + 1)) \
		conv=fsync 2>/dev/null
	echo $(($(uptime_ms) - started))
	rm "$1/filler"
}

buffers_kb()
{
	echo $(($(cat $kmt/subbufs) * $(cat $kmt/subbuf_size) * $(nproc) / 1024))
}

# try NAME FOLDER: stop kmemtraced with SIGINT while it writes to FOLDER.
try()
{
	local dirty_kb limit_ms

	daemon_start "$2/capture"
	storm 0 100000000 &
	storm0=$!
	storm 1 100000000 &
	storm1=$!
	sleep 4
	dirty_kb=$(($(meminfo Dirty) + $(meminfo Writeback)))
	daemon_stop
	kill $storm0 $storm1
	wait $storm0 $storm1
	limit_ms=$((2000 + $(write_ms "$2" $((dirty_kb + $(buffers_kb))))))
	echo "$1: ended after $stop_ms ms, limit $limit_ms ms ($dirty_kb kB dirty)"
	[ $stop_ms -le $limit_ms ] || fail "$1: Ctrl+C took too long"
	rm -r "$2/capture"
}

insmod /modules/kmt_storm.ko || fail "no storm module"
try ext4 /out
try tmpfs /tmp
