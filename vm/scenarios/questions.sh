#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The captures of docs/walkthrough.md: a boot, a driver with faults at work, and a
# capture that lost events.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

echo booted >$kmt/marker
insmod /modules/kmt_faulty.ko || fail "cannot load the module"
daemon_start /out/capture
for _ in 1 2 3 4 5 6 7 8 9 10; do
	work 1 >/dev/null
	echo "waste 500" >/proc/kmt_faulty
	echo "leak 200" >/proc/kmt_faulty
	echo "pingpong 50" >/proc/kmt_faulty
	usleep 100000
done
echo resize >$kmt/marker
echo "spike 24" >/proc/kmt_faulty
echo resized >$kmt/marker
sleep 1
daemon_stop

# Stop the reader until the small buffers overflow.
daemon_start /out/lossy
work 1 >/dev/null
kill -STOP "$daemon"
storm 0 250000
kill -CONT "$daemon"
work 1 >/dev/null
daemon_stop
