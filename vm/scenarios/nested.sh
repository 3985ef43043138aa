#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Events in the middle of the writing of a record, at each place of the writer;
# tests/vm/nested.py judges the captures. Boot a kernel of the fragment test, with
# kmemtrace.stacks=yes and sub-buffers of 16 records.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

insmod /modules/kmt_nested.ko || fail "no module"

# nest PLACE PAIRS: a capture of that many, and what the kernel says of it.
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
# No probe comes to the path that writes.
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
# One that the writer calls and that may have probes.
nest irq_work_queue 3000
