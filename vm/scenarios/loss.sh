#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Buffers far too small for the load. An independent probe writes down every
# event; tests/vm/loss.py says from that how many the capture lacks. Boot with
# kmemtrace.subbufs=2 kmemtrace.subbuf_size=28672.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

insmod /modules/kmt_witness.ko || fail "no witness"
daemon_start /out/capture
# The first and the last storm are small: what is lost is lost between them.
for pairs in 10 100000 10; do
	storm 0 $pairs &
	storm0=$!
	storm 1 $pairs
	wait $storm0
	sleep 1
done
daemon_stop
cat $kmt/total_overruns >/out/total_overruns
cat $kmt/overruns >/out/overruns
[ "$(cat /sys/kernel/debug/kmt_witness/stop)" = 0 ] ||
	fail "the witness had too little room"
mkdir /out/witness
cp /sys/kernel/debug/kmt_witness/cpu* /out/witness
cat /out/overruns
