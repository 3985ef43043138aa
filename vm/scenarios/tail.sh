#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Events that kmemtraced itself causes make up less than 2 % of a capture. The
# workload is a known number of events; the other events of the capture are those
# of the idle guest, measured without kmemtraced, and those of kmemtraced.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# The number of events is large enough that start and end of kmemtraced hardly
# matter.
pairs=800000

# Generate slowly enough to lose nothing, because a loss would hide events of
# kmemtraced.
generate()
{
	local i=0
	while [ $i -lt 20 ]; do
		storm 1 $((pairs / 20))
		usleep 50000
		i=$((i + 1))
	done
}

# all_bytes FOLDER: print the total size of the records.
all_bytes()
{
	cat "$1"/cpu*.out | wc -c
}

# control: generate the same load without a reader. The buffers are large enough
# (see the kernel's command line in the test).
control()
{
	echo 1 >$kmt/enabled
	generate
	echo 0 >$kmt/enabled
	[ "$(total_overruns)" = 0 ] || fail "the control run lost events"
	mkdir -p /tmp/control
	taskset 1 cat $kmt/cpu0 >/tmp/control/cpu0.out
	taskset 2 cat $kmt/cpu1 >/tmp/control/cpu1.out
	control_bytes=$(all_bytes /tmp/control)
	rm -r /tmp/control
}

# measure NAME FOLDER: print the share of kmemtraced's own events.
measure()
{
	local bytes own

	daemon_start "$2/capture"
	generate
	daemon_stop
	[ "$(total_overruns)" = 0 ] || fail "$1: events were lost"
	bytes=$(all_bytes "$2/capture")
	own=$((bytes - control_bytes))
	[ $own -ge 0 ] || own=0
	echo "$1: $bytes bytes written, $control_bytes without kmemtraced," \
		"own share $((own * 10000 / bytes)) of 10000"
	[ $((own * 100)) -lt $((bytes * 2)) ] ||
		fail "$1: kmemtraced chases its own tail"
	rm -r "$2/capture"
}

echo 0 >$kmt/enabled
insmod /modules/kmt_storm.ko || fail "no storm module"
control
echo "control: $control_bytes bytes, the work itself $((pairs * 2 * 64))"
measure ext4 /out
measure tmpfs /tmp
