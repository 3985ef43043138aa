#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# CPUs that come and go while tracing, while snapshots are taken, and while the
# oldest is overwritten. Boot with maxcpus=1, with vm/bufread as /files/bufread.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

online=/sys/devices/system/cpu/cpu1/online
snap=$kmt/snapshot

[ -e $kmt/cpu0 ] || fail "no cpu0"
[ ! -e $kmt/cpu1 ] || fail "cpu1 was never online and yet has a file"
daemon_start /out/capture
work_processes 10

echo 1 >$online || fail "cannot switch CPU 1 on"
[ -e $kmt/cpu1 ] || fail "cpu1 is online and has no file"
storm 1 10000
work 1

# Switch the CPU off directly after work on it: its last records must be saved, too.
storm 1 10000
echo 0 >$online || fail "cannot switch CPU 1 off"
[ -e $kmt/cpu1 ] || fail "the file of a CPU that went away has gone"
taskset 1 sh -c 'for i in 1 2 3 4 5 6 7 8; do true; ls / >/dev/null; done'

echo 1 >$online || fail "cannot switch CPU 1 on again"
storm 1 10000
work 1
echo 0 >$online
storm 0 10000
sleep 1
daemon_stop
total_overruns | tee /out/total_overruns
[ "$(cat /out/total_overruns)" = 0 ] || fail "events were lost"

# on_node CPU: check that all pages mapped from the CPU's file are on the CPU's
# node.
on_node()
{
	local node
	[ -e /sys/devices/system/node/node1 ] || return 0
	node=$(basename /sys/devices/system/cpu/cpu"$1"/node*)
	[ "$node" = "node$1" ] || fail "CPU $1 is on $node"
	/files/bufread node "$kmt/cpu$1" "$1" || fail "the buffer of CPU $1"
}

echo "--- other buffers while the CPU is away"
on_node 0
on_node 1
# A relay channel of another module has no buffer for an offline CPU.
insmod /modules/kmt_relay.ko || fail "no relay module"
[ "$(cat /proc/kmt_relay)" = 1 ] || fail "another channel begins otherwise"
# New buffer sizes must not count the first session's records as lost.
echo 4 >$kmt/subbufs
echo 65536 >$kmt/subbuf_size
[ "$(total_overruns)" = 0 ] || fail "other buffers count as a loss: $(cat $kmt/overruns)"
[ "$(cat /proc/kmt_relay)" = 1 ] ||
	fail "new buffers of kmemtrace made $(cat /proc/kmt_relay) of another channel"
# The file of an offline CPU exists and its records are readable.
/files/bufread dump $kmt/cpu1 /tmp/cpu1 || fail "the file of a CPU that is away"

echo "--- a snapshot while it is away, with a reader that maps"
echo 1 >$online
[ "$(cat /proc/kmt_relay)" = 2 ] || fail "another channel has no buffer"
rmmod kmt_relay || fail "rmmod kmt_relay"
on_node 0
on_node 1
daemon_start /out/away --reader mmap
storm 1 100
echo 0 >$online
echo 1 >$snap/take || fail "no snapshot"
grep -q '^cpu1 ' $kmt/overruns || fail "overruns has no cpu1"
storm 0 100
daemon_stop
kmemtraced -S -D /out/away-snapshot -q || fail "the snapshot cannot be saved"

echo "--- all of it at once"
insmod /modules/kmt_snapshot.ko || fail "no module"
daemon_start /out/all --reader mmap
echo overwrite >$kmt/mode
(while :; do cat $snap/cpu0 $snap/cpu1; done >/dev/null 2>&1) &
reader=$!
(while :; do echo 1 >$snap/take; done 2>/dev/null) &
taker=$!
storm 0 20000 &
storm0=$!
for _ in 1 2 3; do
	echo 1 >$online || fail "cannot switch CPU 1 on"
	echo take-both 20 >/proc/kmt_snapshot
	storm 1 3000
	echo 0 >$online || fail "cannot switch CPU 1 off"
done
wait $storm0
kill $reader $taker
wait $reader $taker 2>/dev/null
daemon_stop
kmemtraced -S -D /out/all-snapshot -q 2>/dev/null ||
	fail "the snapshot cannot be saved"
cat $snap/take $kmt/overruns

echo "--- one snapshot after the other, while the other CPU records"
echo 1 >$online
echo 1 >$kmt/enabled
storm 1 20000 &
storm1=$!
taskset 1 sh -c 'echo take 5000 >/proc/kmt_snapshot'
wait $storm1
grep '^taken:' $snap/take
# After the snapshots CPU 1 must record into the live buffers.
cat $kmt/cpu1 >/dev/null
storm 1 100
[ "$(cat $kmt/cpu1 | wc -c)" -ge $((200 * 64)) ] ||
	fail "CPU 1 does not record into the live buffers"
echo 0 >$kmt/enabled

echo "--- buffers of snapshots that come and go while they are read"
echo 1 >$kmt/enabled
(while :; do cat $snap/cpu0 $snap/take $snap/overruns; done >/dev/null 2>&1) &
reader=$!
(i=0; while [ $i -lt 100 ]; do echo 0 >$snap/take; i=$((i + 1)); done) &
i=0
while [ $i -lt 100 ]; do
	echo 1 >$snap/take || fail "no snapshot"
	i=$((i + 1))
done
wait $!
kill $reader
wait $reader 2>/dev/null
grep -q "^state: stopped" $snap/take && fail "it was stopped by that"
echo 0 >$kmt/enabled

echo "--- marks of several records in buffers that were used before"
echo 0 >$online
echo discard >$kmt/mode
lines=$(yes "$(printf '%0250d' 0)" | head -n 16)
echo 1 >$kmt/enabled
storm 0 3000
echo 1 >$snap/take
echo 1 >$snap/take
i=0
while [ $i -lt 24 ]; do
	echo "$lines" >$kmt/marker || fail "a mark has no room in an empty buffer"
	i=$((i + 1))
done
echo 0 >$kmt/enabled
