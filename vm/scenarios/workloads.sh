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

# begin, end: enclose a workload. The tracers whose name ends in -ring keep the newest
# events in the memory of the kernel; the others write all events to a file.
begin()
{
	case $tracer in
	none) ;;
	kmemtrace-ring)
		echo overwrite >$kmt/mode
		echo 1 >$kmt/enabled ;;
	kmemtrace)
		daemon_start /data/capture ;;
	ftrace-ring)
		for event in $events; do
			echo 1 >$ft/events/kmem/"$event"/enable
		done ;;
	ftrace)
		# shellcheck disable=SC2046 # several words
		in_background trace-cmd record -o /data/trace.dat \
			$(list ' -e kmem:%s') ;;
	perf)
		# shellcheck disable=SC2046
		in_background perf record -a -o /data/perf.data \
			$(list ' -e kmem:%s') ;;
	*)
		fail "no such tracer: $tracer" ;;
	esac
}

end()
{
	case $tracer in
	kmemtrace-ring)
		echo 0 >$kmt/enabled ;;
	kmemtrace)
		daemon_stop
		echo "workloads: events $1 $(($(cat /data/capture/cpu*.out | wc -c) / 64))"
		[ "$(total_overruns)" = 0 ] || fail "events were lost" ;;
	ftrace-ring)
		echo 0 >$ft/events/kmem/enable ;;
	ftrace|perf)
		stop_recorder ;;
	esac
	rm -rf /data/capture /data/trace.dat* /data/perf.data*
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
