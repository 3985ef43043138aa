#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The cost of an event on an unmodified kernel, for bench/stock: each workload of
# kmt_count with nothing traced, recorded by the source bpf with skipped events
# recovered, only counted, and with stacks, by the source ftrace, by perf, and by memleak
# of BCC. Boot by vm/run --icount --disk DIR/tools.img of vm/stock --tools, with
# kmt_frames= as in the scenario cost.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

dd if=/dev/random of=/dev/null bs=32 count=1 2>/dev/null
frames=$(sed -n 's/^.*kmt_frames=\([0-9]*\).*$/\1/p' /proc/cmdline)
insmod /modules/kmt_count.ko frames="${frames:-0}" ||
	fail "no module to count with"

# measure TRACER: print the cost of each workload. Run each workload twice, because
# the source bpf learns the callers of pages in the first run.
measure()
{
	local workload
	for workload in kmalloc mixed cache pages order3 large; do
		echo "$workload 200" >/proc/kmt_count || fail "$workload"
		sleep 1
		echo "$workload 200" >/proc/kmt_count || fail "$workload"
		echo "cost: $1 $(cat /proc/kmt_count)"
		sleep 1
	done
}

# recorded TRACER OPTION...: measure while kmemtraced records.
recorded()
{
	local tracer=$1
	shift
	bpf_start "/tmp/$tracer" "$@"
	measure "$tracer"
	bpf_stop
	grep -q ', 0 events lost' "/tmp/$tracer.log" || fail "$tracer: events were lost"
	rm -rf "/tmp/$tracer"
}

measure off
recorded bpf -s bpf
recorded bpf_counted -s bpf --no-recover
recorded bpf_stacks -s bpf --stacks=16
recorded ftrace -s ftrace

tools_mount
mkdir /out/perf
chroot /mnt perf record -q -a -m 16M -e "$(perf_kmem_events)" -o /out/perf/perf.data &
recorder=$!
# Nothing shows when perf has begun.
wait_until 600 test -s /out/perf/perf.data || fail "perf does not start"
sleep 20
measure perf
kill -INT $recorder
wait $recorder
chroot /mnt perf report -i /out/perf/perf.data --stats >/out/perf/stats 2>&1
! grep 'LOST events' /out/perf/stats || fail "perf lost events"
events=$(sed -n 's/^ *SAMPLE events: *\([0-9]*\).*/\1/p' /out/perf/stats |
	head -n 1)
[ "${events:-0}" -ge 10000 ] || fail "perf recorded ${events:-no} events"

chroot /mnt python3 -u /usr/sbin/memleak-bpfcc 86400 >/out/memleak 2>&1 &
recorder=$!
wait_until 1200 grep -q 'Attaching to kernel' /out/memleak || {
	cat /out/memleak
	fail "memleak does not start"
}
sleep 20
measure memleak
[ -e "/proc/$recorder/exe" ] || {
	cat /out/memleak
	fail "memleak has ended"
}
kill -KILL $recorder
