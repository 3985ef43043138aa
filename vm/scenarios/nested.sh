#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Events in the middle of the writing of a record, at each place of the writer;
# tests/vm/nested.py judges the captures. Boot a kernel of the fragment test, with
# kmemtrace.stacks=yes and sub-buffers of 16 records.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

insmod /modules/kmt_nested.ko || fail "no module"

# nest PLACE PAIRS: record PAIRS pairs of events nested at PLACE, and save the
# kernel's counters.
nest()
{
	daemon_start "/out/$1"
	echo "$1 $2" >/proc/kmt_nested || fail "nothing can be nested at $1"
	daemon_stop
	cat /proc/kmt_nested >"/out/$1.nested"
	total_overruns >"/out/$1.overruns"
	sed -n 's/^# lost: //p' $kmt/stacks >"/out/$1.unnumbered"
}

for place in slot room stack mark; do
	nest $place 3000
done
# Readers hold locks that a snapshot needs, and the counters of triggers have locks.
# All code that reads the files causes events, as does kmemtraced. Each event fires
# a trigger or is counted by one.
read_files()
{
	for i in 1 2 3 4 5 6 7 8 9 10; do
		cat $kmt/overruns $kmt/consumed $kmt/trigger $kmt/snapshot/* \
			>/dev/null
	done
}

triggers="mark:kmt_nested_inside site:nested_allocate>1"
for place in reader view snapshot counter; do
	daemon_start "/out/$place"
	for trigger in $triggers; do
		echo "$trigger" >$kmt/trigger || fail "no trigger $trigger"
	done
	echo "$place 100" >/proc/kmt_nested || fail "nothing can be nested in $place"
	read_files
	echo 'off 0' >/proc/kmt_nested
	cp $kmt/trigger "/out/$place.trigger"
	for trigger in $triggers; do
		echo "!$trigger" >$kmt/trigger
	done
	daemon_stop
	cat /proc/kmt_nested >"/out/$place.nested"
	total_overruns >"/out/$place.overruns"
done
# No probe can be placed on the writer's functions.
writer='record_slow make_room count_lost count_refused write_lost write_stop
	begin_records next_record commit_record end_records record_time room
	has_room has_room_for fill_next next_subbuf enter_buffer leave_buffer
	buffer_begin buffer_is_begun buffer_left stack_of save_stack new_stack
	unwind filter_passes trigger_count held_add held_remove write_mark'
awk '{ print $3 }' /proc/kallsyms |
	grep -xE "kmemtrace_($(echo "$writer" | tr -s ' \t\n' '|' | sed 's/|$//'))|probe_(kmalloc|kfree|cache_alloc|cache_free|page_alloc|page_free)" |
	while read -r function; do
		if echo "$function 1" 2>/dev/null >/proc/kmt_nested; then
			echo "$function" >>/out/probed
		fi
		echo "$function" >>/out/tried
	done
# A function that the writer calls and that may have probes.
nest irq_work_queue 3000
# Each operation on several pages saves one stack.
echo overwrite >$kmt/mode
echo 1 >$kmt/enabled
for what in bulk exact split; do
	echo "$what 512" >/proc/kmt_nested || fail "no operation $what"
	echo "$what $(cat /proc/kmt_nested)" >>/out/operations
done
cat /out/operations
echo 0 >$kmt/enabled
echo discard >$kmt/mode
# The same test while snapshots are taken, by this shell and on the CPUs.
echo 1 >$kmt/snapshot/take 2>/dev/null
echo 1 >$kmt/enabled
for place in reader view snapshot counter; do
	echo "$place 100" >/proc/kmt_nested
	for i in 1 2 3; do
		echo 1 >$kmt/snapshot/take || fail "no snapshot in $place"
		read_files
	done
	echo 'off 0' >/proc/kmt_nested
done
echo 0 >$kmt/enabled
cp $kmt/snapshot/take /out/take
echo 0 >$kmt/snapshot/take
