#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# For bench/loss: an unmodified kernel makes a known number of events, at 100,000 events
# per second and as fast as it can, while a recorder with buffers of 4 MB records them.
# The recordings are in /out/TRACER-RATE, and the events that were made in /out/made.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

buffer_kb=4096
seconds=10

insmod /modules/kmt_storm.ko || fail "no storm"
mount -t tracefs none /sys/kernel/tracing || fail "no tracefs"

# Make 100,000 events per second on CPU 0, until the time is over.
paced()
{
	local n=0 end=$(($(uptime_ms) + seconds * 1000)) began now
	began=$(uptime_ms)
	while now=$(uptime_ms); [ "$now" -lt "$end" ]; do
		if [ $((n * 1000)) -le $(((now - began) * 50000)) ]; then
			taskset 1 sh -c "echo 1000 >/proc/kmt_storm"
			n=$((n + 1000))
		else
			usleep 5000
		fi
	done
	made=$((2 * n))
	elapsed_ms=$(($(uptime_ms) - began))
}

# Make events on both CPUs as fast as they can.
fastest()
{
	local pairs=250000 began first
	began=$(uptime_ms)
	storm 0 $pairs &
	first=$!
	storm 1 $pairs
	wait $first
	made=$((4 * pairs))
	elapsed_ms=$(($(uptime_ms) - began))
}

# record TRACER RATE: run a recorder while the events are made.
record()
{
	local out=/out/$1-$2 recorder
	case $1 in
	bpf) kmemtraced -s bpf -b $buffer_kb -D "$out" & ;;
	bpf_counted) kmemtraced -s bpf --no-recover -b $buffer_kb -D "$out" & ;;
	ftrace) kmemtraced -s ftrace -b $buffer_kb -D "$out" & ;;
	perf)
		mkdir "$out"
		perf record -q -a -m ${buffer_kb}K -e 'kmem:*' -o "$out/perf.data" & ;;
	esac >"$out.log" 2>&1
	recorder=$!
	sleep 8
	"$2"
	echo "$1-$2 $made $elapsed_ms" | tee -a /out/made
	sleep 2
	kill -INT $recorder
	wait $recorder
	cat "$out.log"
}

for tracer in bpf bpf_counted ftrace perf; do
	for rate in paced fastest; do
		record $tracer $rate
	done
done
