#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# On an unmodified kernel, takes each way through the allocators four times: recorded by
# kmemtraced from the tracepoints, by perf, and by memleak of BCC, whose option --percpu
# replaces its other events. Boot with vm/run --disk DIR/tools.img of vm/stock --tools.
# tests/vm/sources.py counts what each recording has.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

tracefs=/sys/kernel/tracing
tools_mount

# take_paths FOLDER: let the module take all paths, and keep its log and its symbols.
take_paths()
{
	dmesg -c >/dev/null
	gap_load
	# perf loses the events of a CPU that goes offline, so kfree_rcu() ends first.
	sleep 7
	gap_finish
	dmesg >"$1/gap.log"
	cp /proc/kallsyms "$1/kallsyms"
	uname -r >"$1/release"
}

# recorder_ends SIGNAL FOLDER: end the recorder with a signal, and unload the module.
recorder_ends()
{
	kill "-$1" "$recorder"
	shift
	wait "$recorder"
	rmmod kmt_gap
	echo "${1##*/}: $(du -sh "$1" | cut -f1)"
}

record_ftrace()
{
	mkdir /out/ftrace
	kmemtraced -s ftrace --keep-own -b 65536 -D /out/ftrace/capture \
		>/out/ftrace/output 2>&1 &
	recorder=$!
	wait_until 100 grep -q recording /out/ftrace/output || {
		cat /out/ftrace/output
		fail "kmemtraced -s ftrace records nothing"
	}
	take_paths /out/ftrace
	recorder_ends INT /out/ftrace
	cat /out/ftrace/output
}

# The events of perf kmem --slab --page. All events kmem would be ten times as many.
# Nothing shows when perf has begun. If it has not, the marks of the first paths are
# missing, and tests/vm/sources.py fails.
record_perf()
{
	mkdir /out/perf
	chroot /mnt perf record -q -a -m 16M -e "$(perf_kmem_events)" -o /out/perf/perf.data \
		>/out/perf/output 2>&1 &
	recorder=$!
	sleep 20
	take_paths /out/perf
	recorder_ends INT /out/perf
	cat /out/perf/output
	chroot /mnt perf script -i /out/perf/perf.data --show-lost-events \
		-F tid,cpu,time,event,trace >/out/perf/script 2>/out/perf/script.err ||
		fail "perf script failed: $(cat /out/perf/script.err)"
	rm /out/perf/perf.data
}

# memleak_started FOLDER: return whether memleak has attached, or has failed. The kernel
# knows no program of a process that has ended.
memleak_started()
{
	[ ! -e "/proc/$recorder/exe" ] || grep -q 'Attaching to kernel' "$1/output"
}

# record_memleak FOLDER [OPTION]...: let memleak print each allocation and free that it
# counts. The program itself is stopped, so that the lines stay in the ring buffer, with
# the stack of each. If it fails, FOLDER/failed has its message.
record_memleak()
{
	local out=$1
	shift
	mkdir "$out"
	echo "memleak-bpfcc -t $*" >"$out/command"
	chroot /mnt python3 -u /usr/sbin/memleak-bpfcc -t "$@" >"$out/output" 2>&1 &
	recorder=$!
	wait_until 600 memleak_started "$out" || fail "memleak does not start"
	if [ ! -e "/proc/$recorder/exe" ]; then
		cat "$out/output"
		echo "$(cat "$out/command"): $(tail -n 1 "$out/output")" >"$out/failed"
		return
	fi
	kill -STOP "$recorder"
	echo 65536 >$tracefs/buffer_size_kb
	echo 1 >$tracefs/options/stacktrace
	echo >$tracefs/trace
	take_paths "$out"
	echo 0 >$tracefs/tracing_on
	cat $tracefs/trace >"$out/trace"
	cat $tracefs/per_cpu/cpu*/stats >"$out/stats"
	recorder_ends KILL "$out"
	echo 0 >$tracefs/options/stacktrace
	echo >$tracefs/trace
	echo 1 >$tracefs/tracing_on
}

record_ftrace
record_perf
record_memleak /out/memleak
record_memleak /out/memleak-percpu --percpu
umount /mnt/out
