#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# dbench, tbench, and a part of a kernel build while a tracer records the events of
# kmem, for bench/workloads, which makes /files/workloads.tar. Boot by vm/run --icount
# with kmt_tracer=TRACER and kmt_workloads=NAME,... Prints for how many nanoseconds the
# processor is busy in each workload; a nanosecond is one instruction. The files are in an
# ext4 in memory, because the response time of a real disk varies, or in a tmpfs if the
# kernel has no ext4.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

ft=/sys/kernel/debug/tracing
events="kmalloc kfree kmem_cache_alloc kmem_cache_free mm_page_alloc mm_page_free"
tracer=$(sed -n 's/^.*kmt_tracer=\([a-z-]*\).*$/\1/p' /proc/cmdline)
workloads=$(sed -n 's/^.*kmt_workloads=\([a-z,]*\).*$/\1/p' /proc/cmdline)
# The buffer of the processor is as large for each tracer: 16 sub-buffers of 512 KiB.
subbufs=16
subbuf_kb=512
buffer_kb=$((subbufs * subbuf_kb))
export PATH=/bin:/usr/bin:/usr/sbin:/sbin HOME=/tmp

# --- Tracers --------------------------------------------------------------------

# in_background COMMAND...: start a recorder; it is $recorder.
in_background()
{
	"$@" >/tmp/recorder.log 2>&1 &
	recorder=$!
	sleep 5
	kill -0 $recorder 2>/dev/null || {
		cat /tmp/recorder.log
		fail "$1 has ended"
	}
}

stop_recorder()
{
	kill -INT "$recorder"
	wait "$recorder"
	tail -n 3 /tmp/recorder.log
}

# list FORMAT: print all events, each by the format of printf(1).
list()
{
	local event

	for event in $events; do
		# shellcheck disable=SC2059 # the format is an argument
		printf "$1" "$event"
	done
}

# kmemtrace has events that are not among those of kmem.
kmemtrace_begin()
{
	local file name

	echo $((subbuf_kb * 1024)) >$kmt/subbuf_size
	echo $subbufs >$kmt/subbufs
	for file in "$kmt"/events/*/enabled; do
		name=${file%/enabled}
		case ${name##*/} in
		kmalloc|kfree|cache_alloc|cache_free|page_alloc|page_free) ;;
		*) echo 0 >"$file" ;;
		esac
	done || fail "cannot set up kmemtrace"
}

# lttng_begin OPTION...: start a session that lttng create makes with OPTION.
lttng_begin()
{
	local names

	# LTTng's names: kmem_kmalloc, kmem_cache_alloc, kmem_mm_page_alloc.
	names=$(list 'kmem_%s,' | sed 's/kmem_kmem_/kmem_/g; s/,$//')
	[ -e /proc/lttng ] || {
		mkdir -p /var/run /dev/shm
		lttng-sessiond --daemonize --kmod-probes=kmem
	} || fail "lttng-sessiond does not start"
	{
		lttng --quiet create kmem --output=/data/lttng "$@" &&
			lttng --quiet enable-channel --kernel --num-subbuf=$subbufs \
				--subbuf-size=${subbuf_kb}k channel &&
			lttng --quiet enable-event --kernel --channel=channel "$names" &&
			lttng --quiet start
	} || fail "lttng does not record"
}

# begin, end: enclose a workload. The tracers whose name ends in -ring keep the newest
# events in the memory of the kernel; the others write all events to a file.
begin()
{
	case $tracer in
	none) ;;
	kmemtrace-ring)
		kmemtrace_begin
		echo overwrite >$kmt/mode
		echo 1 >$kmt/enabled ;;
	kmemtrace)
		kmemtrace_begin
		daemon_start /data/capture ;;
	ftrace-ring)
		echo $buffer_kb >$ft/buffer_size_kb
		echo >$ft/trace
		for event in $events; do
			echo 1 >$ft/events/kmem/"$event"/enable
		done ;;
	ftrace)
		# shellcheck disable=SC2046 # several words
		in_background trace-cmd record -b $buffer_kb -o /data/trace.dat \
			$(list ' -e kmem:%s') ;;
	perf)
		# By default perf writes whatever is in the buffer, and records the events of
		# these writes, so that it never comes to rest.
		# shellcheck disable=SC2046
		in_background perf record -a -m ${buffer_kb}K --mmap-flush=${subbuf_kb}K \
			-o /data/perf.data $(list ' -e kmem:%s') ;;
	perf-ring)
		# shellcheck disable=SC2046
		in_background perf record --overwrite -a -m ${buffer_kb}K \
			-o /data/perf.data $(list ' -e kmem:%s') ;;
	lttng)
		lttng_begin ;;
	lttng-ring)
		lttng_begin --snapshot ;;
	*)
		fail "no such tracer: $tracer" ;;
	esac
}

# figure TEXT FILE: print the number that follows TEXT in the first line that begins with
# TEXT, or 0.
figure()
{
	sed -n "s/^ *$1:* *\([0-9]*\).*/\1/p" "$2" | awk '{ print; exit } END { if (!NR) print 0 }'
}

# count_events: count the recorded events in $kept, and those that were lost or
# overwritten in $lost.
count_events()
{
	local log=/tmp/count.log

	case $tracer in
	kmemtrace*)
		lost=$(total_overruns)
		kept=$(($(cat /data/capture/cpu*.out | wc -c) / 64)) ;;
	ftrace-ring)
		cat $ft/per_cpu/cpu0/stats >$log
		kept=$(figure entries $log)
		lost=$(($(figure overrun $log) + $(figure 'dropped events' $log))) ;;
	ftrace)
		trace-cmd report --stat -i /data/trace.dat >$log 2>&1
		# trace-cmd reads the rest of the buffer after it has printed the figures.
		kept=$(($(figure 'read events' $log) + $(figure entries $log)))
		lost=$(($(figure overrun $log) + $(figure 'dropped events' $log))) ;;
	perf*)
		perf report --stdio --stats -i /data/perf.data >$log 2>&1
		kept=$(figure 'SAMPLE events' $log)
		lost=$(figure 'LOST.* events' $log) ;;
	lttng*)
		babeltrace2 /data/lttng -c sink.utils.counter -p step=+0 >$log 2>&1
		kept=$(awk '/ Event message/ { print $1 }' $log)
		lost=$(awk '/ Discarded/ { n += $1 } END { print n + 0 }' $log) ;;
	esac
	[ ! -e $log ] || cat $log
}

end()
{
	local kept lost

	case $tracer in
	none) return ;;
	kmemtrace-ring)
		echo 1 >$kmt/snapshot/take
		echo 0 >$kmt/enabled
		kmemtraced --quiet --snapshot -D /data/capture || fail "no snapshot"
		echo 1 >$kmt/snapshot/reset ;;
	kmemtrace)
		daemon_stop ;;
	ftrace-ring)
		echo 0 >$ft/events/kmem/enable ;;
	ftrace|perf|perf-ring)
		stop_recorder ;;
	lttng)
		lttng --quiet stop ;;
	lttng-ring)
		lttng --quiet stop
		lttng --quiet snapshot record ;;
	esac
	count_events
	[ "${tracer%-ring}" != "$tracer" ] || [ "$lost" = 0 ] || fail "$lost events were lost"
	[ "$kept" -gt 0 ] || fail "no events were recorded"
	echo "workloads: events $1 $kept"
	[ "${tracer%%-*}" != lttng ] || lttng --quiet destroy kmem
	rm -rf /data/capture /data/trace.dat* /data/perf.data* /data/lttng
}

# --- Workloads --------------------------------------------------------------------

work_dbench()
{
	mkdir -p /data/dbench
	LD_PRELOAD=/one-pass.so dbench -c /load-dbench -D /data/dbench -t 1000 1 &&
		rm -r /data/dbench
}

work_tbench()
{
	LD_PRELOAD=/one-pass.so tbench -c /load-tbench -t 1000 1 127.0.0.1
}

work_build()
(
	cd /linux/build && . /linux/commands
)

# The scenario calls itself for each workload, so that meter can run the workload.
if [ $# -gt 0 ]; then
	"work_$1"
	exit
fi

measure()
{
	begin
	/meter "$0" "$1" >"/tmp/$1.log" 2>&1 || {
		cat "/tmp/$1.log"
		fail "$1 failed"
	}
	end "$1"
	sed -n "s/^meter: /workloads: time $1 /p" "/tmp/$1.log"
}

# Initialize the random pool now, so that the initialization does not disturb a
# measurement.
dd if=/dev/random of=/dev/null bs=32 count=1 2>/dev/null
tar -xf /files/workloads.tar -C / || fail "no files"
mkdir -p /data
if grep -qw ext4 /proc/filesystems; then
	truncate -s 1G /tmp/disk
	/usr/sbin/mke2fs -q -t ext4 -E lazy_itable_init=0,lazy_journal_init=0 \
		/tmp/disk && mount -t ext4 -o loop /tmp/disk /data
else
	mount -t tmpfs data /data
fi || fail "no folder to work in"
server=
case ,$workloads, in
*,tbench,*)
	ifconfig lo 127.0.0.1 up || fail "no network"
	tbench_srv >/dev/null 2>&1 &
	server=$! ;;
esac
for workload in $(echo "$workloads" | tr , ' '); do
	measure "$workload"
done
[ -z "$server" ] || kill "$server"
umount /data || true
