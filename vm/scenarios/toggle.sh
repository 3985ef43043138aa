#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Switching on and off at run time, many times, under load; names of tasks and
# caches that come and go. Boot without kmemtrace.enable, with vm/texec as
# /files/texec.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

enabled()
{
	cat $kmt/enabled
}

# unread CPU: bytes that wait in the buffer of that CPU
unread()
{
	taskset "$(printf %x $((1 << $1)))" cat "$kmt/cpu$1" | wc -c
}

[ "$(enabled)" = 0 ] || fail "tracing is on by itself"
[ ! -e $kmt/cpu0 ] || fail "there are buffers although tracing was never on"
[ "$(cat $kmt/abi_version)" = 2 ] || fail "abi_version"

work 1 &
worker=$!
for value in 1 y; do
	i=0
	while [ $i -lt 10 ]; do
		echo $value >$kmt/enabled || fail "cannot switch on"
		[ "$(enabled)" = 1 ] || fail "did not switch on"
		storm 0 200
		echo 0 >$kmt/enabled || fail "cannot switch off"
		[ "$(enabled)" = 0 ] || fail "did not switch off"
		i=$((i + 1))
	done
done
wait $worker

# What was recorded before it went off can be read, and no more comes after.
[ "$(unread 0)" -ge $((400 * 64)) ] || fail "the last records cannot be read"
storm 0 200
[ "$(unread 0)" = 0 ] || fail "recorded while off"

# Twice on is once on; a new session has nothing of the one before.
echo 1 >$kmt/enabled
storm 1 300
echo 1 >$kmt/enabled
echo 0 >$kmt/enabled
[ "$(unread 1)" -ge $((600 * 64)) ] || fail "switching on twice lost records"
echo 1 >$kmt/enabled
storm 1 5000
echo 0 >$kmt/enabled
echo 1 >$kmt/enabled
echo 0 >$kmt/enabled
bytes=$(unread 1)
[ "$bytes" -lt $((10000 * 64)) ] ||
	fail "a new session has old records: $bytes bytes"

if echo maybe >$kmt/enabled 2>/dev/null; then
	fail "a wrong value was taken"
fi

# kmemtraced switches on by itself, unless there is something left to be saved.
unread 0 >/tmp/nothing
daemon_start /out/capture
[ "$(enabled)" = 1 ] || fail "kmemtraced did not switch tracing on"
work 1
/files/texec || fail "a thread cannot exec"
# A cache that goes and is made again is another one.
for _ in 1 2; do
	insmod /modules/kmt_count.ko || fail "cannot load the module"
	echo "cache 10" >/proc/kmt_count
	rmmod kmt_count
done
daemon_stop
[ "$(enabled)" = 0 ] || fail "kmemtraced did not switch tracing off"
total_overruns

# The tables stay as they were when tracing went off, and are the session's own.
true
cp $kmt/caches $kmt/tasks /tmp
cmp /tmp/caches /out/capture/caches || fail "the caches are not saved as they are"
cmp /tmp/tasks /out/capture/tasks || fail "the tasks are not saved as they are"
[ "$(grep -c ' kmt_count$' /tmp/caches)" = 2 ] || fail "the caches of the module"
echo 1 >$kmt/enabled
grep ' kmt_count$' $kmt/caches && fail "caches of the session before are kept"
echo 0 >$kmt/enabled
