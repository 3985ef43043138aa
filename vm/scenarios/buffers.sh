#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Buffers: both readers, both modes, other sizes, and invalid requests. Boot with kmemtrace.subbufs=8 kmemtrace.subbuf_size=65536, with
# vm/bufread as /files/bufread. tests/vm/buffers.py checks the captures.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

bufread()
{
	/files/bufread "$@" || fail "bufread $*"
}

# refuses FILE TEXT WHY: check that writing TEXT fails with the error WHY and
# changes nothing.
refuses()
{
	local before message
	before=$(cat "$kmt/$1")
	message=$({ echo "$2" >"$kmt/$1"; } 2>&1) &&
		fail "$1 takes '$2'"
	case $message in
	*"$3"*) ;;
	*) fail "$1 says of '$2': $message" ;;
	esac
	[ "$(cat "$kmt/$1")" = "$before" ] || fail "'$2' changed $1"
}

same()
{
	cmp "$1" "$2" || fail "$1 and $2 differ"
}

# record: record some events on each CPU and leave them unread.
record()
{
	echo 1 >$kmt/enabled
	storm 0 1000
	storm 1 1000
	echo 0 >$kmt/enabled
	[ "$(total_overruns)" = 0 ] || fail "events were lost"
}

# save READER: save all unread records with kmemtraced.
save()
{
	local cpu
	mkdir "/out/wanted-$1"
	for cpu in 0 1; do
		bufread dump $kmt/cpu$cpu "/out/wanted-$1/cpu$cpu.out"
	done
	kmemtraced --reader "$1" -D "/out/$1" || fail "kmemtraced by $1"
	for cpu in 0 1; do
		same "/out/$1/cpu$cpu.out" "/out/wanted-$1/cpu$cpu.out"
	done
}

insmod /modules/kmt_storm.ko || fail "no storm module"

echo "--- what cannot be had"
refuses mode flight "Invalid argument"
refuses mode "" "Invalid argument" 2>/dev/null
refuses mode "discard overwrite" "Invalid argument"
refuses mode aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa \
	"Invalid argument"
for n in 0 1 65537 -3 x 8x 4294967304 18446744073709551624; do
	refuses subbufs $n "Invalid argument"
done
for n in 0 63 -1 12x x 257M 1T 99999999999999999999; do
	refuses subbuf_size $n "Invalid argument"
done
refuses subbuf_size 200M "Invalid argument"

echo "--- two readers"
record
bufread dump $kmt/cpu0 /tmp/cpu0
bufread both $kmt/cpu0 /tmp/mapped /tmp/copied
same /tmp/mapped /tmp/copied
same /tmp/mapped /tmp/cpu0

echo "--- readers that die or lie"
bufread dump $kmt/cpu1 /tmp/cpu1
/files/bufread die $kmt/cpu1
[ $? = 137 ] || fail "bufread die"
bufread dump $kmt/cpu1 /tmp/cpu1.again
same /tmp/cpu1 /tmp/cpu1.again
bufread bad $kmt/cpu1
bufread dump $kmt/cpu1 /tmp/cpu1.again
tail -c +65 /tmp/cpu1 >/tmp/cpu1.rest
same /tmp/cpu1.rest /tmp/cpu1.again

echo "--- kmemtraced's two readers"
record
save mmap
record
save read

echo "--- other sizes"
echo 1 >$kmt/enabled
refuses subbufs 6 "Device or resource busy"
refuses subbuf_size 65536 "Device or resource busy"
echo 0 >$kmt/enabled
bufread keep $kmt/cpu0 "echo 6 >$kmt/subbufs"
bufread keep $kmt/cpu0 "echo 100000 >$kmt/subbuf_size"
[ "$(cat $kmt/subbufs) $(cat $kmt/subbuf_size)" = "6 99968" ] ||
	fail "sizes are $(cat $kmt/subbufs) $(cat $kmt/subbuf_size)"
record
bufread dump $kmt/cpu0 /tmp/cpu0
cat $kmt/cpu0 >/tmp/read0
same /tmp/cpu0 /tmp/read0
# The buffers may use at most half of the memory. In a small guest, fill the memory
# first, so that the allocation fails.
if [ "$(awk '/MemTotal/ {print $2}' /proc/meminfo)" -lt 300000 ]; then
	mount -t tmpfs -o size=90% none /mnt || fail "no tmpfs"
	dd if=/dev/zero of=/mnt/fill bs=1M \
		count=$(($(awk '/MemAvailable/ {print $2}' /proc/meminfo) / 1024 - 60)) \
		2>/dev/null
	refuses subbufs 500 "Cannot allocate memory"
	rm /mnt/fill
fi
record
bufread keep $kmt/cpu1 "echo 0 >/sys/devices/system/cpu/cpu1/online"
cat $kmt/cpu1 | wc -c
echo 1 >/sys/devices/system/cpu/cpu1/online

echo "--- a snapshot that goes while its readers wait"
echo 1 >$kmt/enabled
storm 0 100
echo 1 >$kmt/snapshot/take
bufread stale $kmt/snapshot/cpu0 "echo 1 >$kmt/snapshot/take"
bufread stale $kmt/snapshot/cpu0 "echo 1 >$kmt/enabled; echo 1 >$kmt/reset"
echo 1 >$kmt/snapshot/take
bufread stale $kmt/snapshot/cpu0 "echo 0 >$kmt/snapshot/take"
echo 0 >$kmt/enabled

echo "--- switched off while a CPU has no event since a snapshot"
for _ in 1 2 3 4 5; do
	echo 1 >$kmt/enabled
	echo 1 >$kmt/snapshot/take
	echo 0 >$kmt/enabled
done
echo 0 >$kmt/snapshot/take

# Record what two readers get while the storms run, and what is overwritten while
# the readers are stopped. The stop is necessary because the readers may keep up on
# a slow kernel.
echo "--- overwrite, with readers that are too slow"
echo 4 >$kmt/subbufs
echo 16384 >$kmt/subbuf_size
echo overwrite >$kmt/mode
[ "$(cat $kmt/mode)" = overwrite ] || fail "the mode is not overwrite"
grep -q '^# mode: overwrite$' $kmt/info || fail "info does not have the mode"
witness
mkdir /out/overwrite
echo 1 >$kmt/enabled
taskset 2 /files/bufread follow read $kmt/cpu0 /tmp/cpu0.out $kmt/enabled &
reader0=$!
taskset 1 /files/bufread follow mmap $kmt/cpu1 /tmp/cpu1.out $kmt/enabled &
reader1=$!
storm 0 10
storm 1 10
sleep 1
storm 0 30000 &
storm0=$!
storm 1 30000
wait $storm0
kill -STOP $reader0 $reader1
storm 0 2000
storm 1 2000
kill -CONT $reader0 $reader1
storm 0 10
storm 1 10
echo 0 >$kmt/enabled
wait
[ "$(cat /sys/kernel/debug/kmt_witness/stop)" = 0 ] ||
	fail "the witness had too little room"
cp /tmp/cpu0.out /tmp/cpu1.out $kmt/overruns /out/overwrite
echo abi_version=2 >/out/overwrite/kmemtrace.meta
mkdir /out/overwrite/witness
cp /sys/kernel/debug/kmt_witness/cpu* /out/overwrite/witness
cp /proc/kallsyms /out/overwrite
cat /out/overwrite/overruns

echo "--- kmemtraced as a flight recorder"
for event in "$kmt"/events/*/enabled; do
	echo 1 >"$event"
done
# Room for the last storm and for what other code allocates until the end.
echo 65536 >$kmt/subbuf_size
daemon_start /out/flight
storm 0 25000
# The processes of the shell run on the other CPU, where their events do not
# overwrite those of the last storm.
taskset -p 2 $$ >/dev/null
storm 0 10
daemon_stop
taskset -p 3 $$ >/dev/null
cat $kmt/overruns >/out/flight.overruns
echo discard >$kmt/mode
