#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Buffers far too small for the load. An independent probe writes down every
# event; tests/vm/loss.py computes from that how many the capture lacks. Boot with
# kmemtrace.subbufs=2 kmemtrace.subbuf_size=57344 kmemtrace.tasks=16.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

insmod /modules/kmt_storm.ko || fail "no storm module"
witness

# Small storms mark the interval to compare: before it, every probe is active and
# nothing is lost yet; after it, nothing is lost any more.
echo 1 >$kmt/enabled
storm 0 10
storm 1 10
[ "$(total_overruns)" = 0 ] || fail "events were lost too early"

daemon_start /out/capture
storm 0 100000 &
storm0=$!
storm 1 100000
wait $storm0
# A fast machine may not have lost any event yet.
kill -STOP "$daemon"
storm 0 2000
storm 1 2000
kill -CONT "$daemon"
sleep 1
storm 0 10
storm 1 10
sleep 1
daemon_stop
cat $kmt/total_overruns >/out/total_overruns
cat $kmt/overruns >/out/overruns
[ "$(cat /sys/kernel/debug/kmt_witness/stop)" = 0 ] ||
	fail "the witness had too little room"
mkdir /out/witness
cp /sys/kernel/debug/kmt_witness/cpu* /out/witness
cat /out/overruns
