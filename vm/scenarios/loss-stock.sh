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

# Make 100,000 events per second on CPU 0, until the time is over. The loop starts no
# process but usleep, because the emulation of a fork takes as long as many events. If the
# recorder slows the events down, more of them follow at once.
cat >/tmp/paced <<'END'
now_ms()
{
	local up
	read -r up _ </proc/uptime
	now=${up%.*}${up#*.}0
}
n=0
now_ms
began=$now
while [ $((now - began)) -lt $(($1 * 1000)) ]; do
	due=$(((now - began) * 50 - n))
	if [ $due -gt 0 ]; then
		echo $due >/proc/kmt_storm
		n=$((n + due))
	else
		usleep 5000
	fi
	now_ms
done
echo $((2 * n)) $((now - began))
END
paced()
{
	taskset 1 sh /tmp/paced $seconds >/tmp/figures
	read -r made elapsed_ms </tmp/figures
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
	if [ "$1" = perf ]; then
		# Nothing shows when perf has begun.
		sleep 20
	else
		wait_until 150 grep -q recording "$out.log" || {
			cat "$out.log"
			fail "$1 records nothing"
		}
	fi
	"$2"
	echo "$1-$2 $made $elapsed_ms" | tee -a /out/made
	sleep 2
	kill -INT $recorder
	wait $recorder
	cat "$out.log"
}

# perf.data has no symbols of modules.
cp /proc/kallsyms /out/kallsyms
for tracer in bpf bpf_counted ftrace perf; do
	for rate in paced fastest; do
		record $tracer $rate
	done
done
