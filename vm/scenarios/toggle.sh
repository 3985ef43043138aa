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

# unread CPU: print the number of unread bytes in the CPU's buffer.
unread()
{
	taskset "$(printf %x $((1 << $1)))" cat "$kmt/cpu$1" | wc -c
}

[ "$(enabled)" = 0 ] || fail "tracing is on by itself"
[ ! -e $kmt/cpu0 ] || fail "there are buffers although tracing was never on"
[ "$(cat $kmt/abi_version)" = 3 ] || fail "abi_version"
if grep -qw cgroup2 /proc/filesystems; then
	[ -e $kmt/cgroups ] || fail "there is no table of cgroups"
else
	[ ! -e $kmt/cgroups ] || fail "there are no cgroups, but a table of them"
fi

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

# After disabling, recorded events remain readable and no event is added.
[ "$(unread 0)" -ge $((400 * 64)) ] || fail "the last records cannot be read"
storm 0 200
[ "$(unread 0)" = 0 ] || fail "recorded while off"

# Enabling twice has no additional effect. A new session has no record of the
# previous one.
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

# kmemtraced enables tracing itself, unless unread records remain to be saved.
unread 0 >/tmp/nothing
daemon_start /out/capture
[ "$(enabled)" = 1 ] || fail "kmemtraced did not switch tracing on"
work 1
/files/texec || fail "a thread cannot exec"
# A cache that is destroyed and created again gets a new number.
for _ in 1 2; do
	insmod /modules/kmt_count.ko || fail "cannot load the module"
	echo "cache 10" >/proc/kmt_count
	rmmod kmt_count
done
daemon_stop
[ "$(enabled)" = 0 ] || fail "kmemtraced did not switch tracing off"
total_overruns

# The tables keep their state from when tracing was disabled, and belong to that
# session only.
true
cp $kmt/caches $kmt/tasks /tmp
cmp /tmp/caches /out/capture/caches || fail "the caches are not saved as they are"
cmp /tmp/tasks /out/capture/tasks || fail "the tasks are not saved as they are"
[ "$(grep -c ' kmt_count$' /tmp/caches)" = 2 ] || fail "the caches of the module"
echo 1 >$kmt/enabled
grep ' kmt_count$' $kmt/caches && fail "caches of the session before are kept"
echo 0 >$kmt/enabled
