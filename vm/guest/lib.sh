# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash disable=SC2034
# Common functions of the scenarios, for the busybox shell in the guest.

kmt=/sys/kernel/debug/kmemtrace

fail()
{
	echo "FAILED: $*"
	exit 1
}

uptime_ms()
{
	# Values in /proc/uptime have a resolution of 0.01 s.
	local up
	read -r up _ </proc/uptime
	echo "${up%.*}${up#*.}0"
}

# wait_until SECONDS COMMAND...: repeat the command until it succeeds or the time
# has passed.
wait_until()
{
	local n=$(($1 * 10))
	shift
	while ! "$@"; do
		n=$((n - 1))
		[ "$n" -gt 0 ] || return 1
		usleep 100000
	done
}

# kmemtraced prints this message when each CPU has a reader and tracing is on.
daemon_records()
{
	[ -f "$capture.log" ] &&
		grep -q '^kmemtraced: recording ' "$capture.log" &&
		[ "$(cat "$kmt/enabled")" = 1 ]
}

# daemon_start DIR [OPTION]...: start kmemtraced with output directory DIR. Its pid
# is $daemon, its messages go to DIR.log.
daemon_start()
{
	capture=$1
	shift
	kmemtraced -D "$capture" "$@" >"$capture.log" 2>&1 &
	daemon=$!
	wait_until 20 daemon_records || {
		cat "$capture.log"
		fail "kmemtraced did not start in $capture"
	}
}

# daemon_stop: stop kmemtraced with SIGINT; $stop_ms is the duration in ms.
daemon_stop()
{
	local started status=0
	started=$(uptime_ms)
	kill -INT "$daemon"
	wait "$daemon" || status=$?
	stop_ms=$(($(uptime_ms) - started))
	cat "$capture.log"
	[ "$status" = 0 ] || fail "kmemtraced ended with $status"
}

# bpf_start DIR [OPTION]...: start kmemtraced with the source bpf, beside a kmemtraced
# that daemon_start may have started; bpf_stop ends it.
bpf_start()
{
	bpf_capture=$1
	shift
	kmemtraced -s bpf -D "$bpf_capture" "$@" >"$bpf_capture.log" 2>&1 &
	bpf_daemon=$!
	wait_until 150 grep -qs "recording" "$bpf_capture.log" || {
		cat "$bpf_capture.log"
		fail "kmemtraced -s bpf records nothing"
	}
}

bpf_stop()
{
	local status=0
	kill -INT "$bpf_daemon"
	wait "$bpf_daemon" || status=$?
	cat "$bpf_capture.log"
	[ "$status" = 0 ] || fail "kmemtraced -s bpf ended with $status"
}

daemon_kill()
{
	kill -KILL "$daemon"
	wait "$daemon"
	echo "kmemtraced was killed"
}

total_overruns()
{
	cat "$kmt/total_overruns"
}

# stacks_are_right: check the kernel's own comparison of stacks; see config fragment
# test.
stacks_are_right()
{
	local figures=/sys/kernel/debug/kmemtrace-test/stacks

	[ -e $figures ] || return 0
	tr '\n' ' ' <$figures
	grep -qx "wrong 0" $figures || fail "a stack is wrong"
}

# witness: load vm/witness, which records events independently of kmemtrace, and
# disable the events of kmemtrace that it does not record.
witness()
{
	local event
	insmod /modules/kmt_witness.ko || fail "no witness"
	for event in percpu_alloc percpu_free vmalloc vfree kfree_rcu \
		vfree_rcu; do
		echo 0 >"$kmt/events/$event/enabled" || fail "no event $event"
	done
}

# storm CPU PAIRS: make PAIRS allocations and frees on one CPU.
storm()
{
	[ -e /proc/kmt_storm ] || insmod /modules/kmt_storm.ko 2>/dev/null ||
		wait_until 5 test -e /proc/kmt_storm || fail "no storm"
	taskset "$(printf %x $((1 << $1)))" sh -c "echo $2 >/proc/kmt_storm"
}

# storm_rcu CPU N: pass N objects of kmalloc-64 to kfree_rcu() on one CPU, and wait
# until they are free.
storm_rcu()
{
	storm "$1" 1
	taskset "$(printf %x $((1 << $1)))" sh -c "echo $2 >/proc/kmt_storm_rcu"
}

# gap_load: load vm/gap, which takes each way through the allocators. The module
# uses functions and variables that are not exported.
gap_load()
{
	local symbols
	symbols=$(awk '$3 ~ /^(kmem_cache_(prefill|refill|return)_sheaf|kmem_cache_alloc_from_sheaf_noprof|alloc_contig_pages(_noprof)?|cma_alloc|cma_release|cma_area_count|cma_areas|free_frozen_pages|vrealloc_noprof)$/ {
		printf "%s=%s,", $3, $1 }' /proc/kallsyms)
	insmod /modules/kmt_gap.ko symbols="$symbols" ||
		fail "the gap module could not be loaded"
}

# gap_finish: let vm/gap destroy its caches while the sheaves of CPU 1, which was
# offline meanwhile, have objects, and wait until kfree_rcu() has freed all memory,
# which takes up to five seconds.
gap_finish()
{
	local online=/sys/devices/system/cpu/cpu1/online
	echo 0 >$online || fail "CPU 1 does not go offline"
	echo 1 >$online || fail "CPU 1 does not come back"
	echo 1 >/sys/module/kmt_gap/parameters/finish
	sleep 7
}

# --- Workloads; many objects are freed on another CPU than the allocating one ---

work_pipes()
{
	local count=$1
	taskset 1 dd if=/dev/zero bs=4k count="$count" 2>/dev/null |
		taskset 2 cat >/dev/null &
	taskset 2 dd if=/dev/zero bs=4k count="$count" 2>/dev/null |
		taskset 1 cat >/dev/null
	wait $!
}

work_sockets()
{
	local count=$1 server
	ifconfig lo 127.0.0.1 up
	taskset 1 nc -l -p 5000 >/dev/null </dev/null &
	server=$!
	usleep 300000
	taskset 2 dd if=/dev/zero bs=4k count="$count" 2>/dev/null |
		taskset 2 nc 127.0.0.1 5000
	kill "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}

# work_files FOLDER COUNT: create, read and remove files.
work_files()
{
	local dir=$1/work i=0
	mkdir -p "$dir"
	while [ $i -lt "$2" ]; do
		taskset 1 dd if=/dev/zero of="$dir/$i" bs=16k count=4 2>/dev/null
		i=$((i + 1))
	done
	taskset 1 find "$dir" -type f -exec taskset 2 cat '{}' + >/dev/null
	taskset 2 rm -r "$dir"
}

work_processes()
{
	local i=0
	while [ $i -lt "$1" ]; do
		taskset 1 true &
		taskset 2 true
		wait $!
		i=$((i + 1))
	done
}

# work SCALE: run all workloads; SCALE multiplies their size.
work()
{
	work_pipes $(($1 * 500))
	work_sockets $(($1 * 200))
	work_files /tmp $(($1 * 10))
	work_files /out $(($1 * 10))
	work_processes $(($1 * 20))
}

# tools_mount: mount the disk of vm/stock --tools at /mnt, ready for chroot, and tracefs.
tools_mount()
{
	local dir
	mount -t tracefs none /sys/kernel/tracing || fail "no tracefs"
	mount -o ro "$(findfs LABEL=tools)" /mnt || fail "no disk with tools"
	for dir in dev proc sys out; do
		mount -o rbind /$dir /mnt/$dir || fail "no $dir for the tools"
	done
	mount -t tmpfs none /mnt/tmp
}

# perf_kmem_events: print the events of perf kmem --slab --page that the kernel has, for
# perf record -e.
perf_kmem_events()
{
	local event events=
	for event in kmalloc kmalloc_node kfree kmem_cache_alloc kmem_cache_alloc_node \
		kmem_cache_free mm_page_alloc mm_page_free; do
		[ ! -e /sys/kernel/tracing/events/kmem/$event ] || events=$events,kmem:$event
	done
	echo "${events#,}"
}
