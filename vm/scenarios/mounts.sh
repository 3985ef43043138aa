#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A machine where nobody has mounted debugfs: kmemtraced has a mount of its own, which
# ends with kmemtraced, however that ends.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# Print the value of enabled, which the guest does not see without a mount.
enabled()
{
	mount -t debugfs debug /sys/kernel/debug
	cat $kmt/enabled
	umount /sys/kernel/debug
}

started()
{
	grep -q '^kmemtraced: recording ' /out/capture.log
}

nothing_mounted()
{
	! grep debugfs /proc/mounts || fail "debugfs is mounted"
}

mkdir /run
umount /sys/kernel/debug || fail "cannot unmount debugfs"
kmemtraced -D /out/capture -w 1 || fail "kmemtraced ended with $?"
nothing_mounted
[ "$(enabled)" = 0 ] || fail "tracing is still on"

# Kill kmemtraced and its cleanup process together: the next program restores the
# kernel's state.
kmemtraced -f -D /out/killed >/out/capture.log 2>&1 &
daemon=$!
wait_until 20 started || fail "kmemtraced does not record"
nothing_mounted
child=$(awk -v parent=$daemon '$4 == parent { print $1 }' /proc/[0-9]*/stat)
kill -STOP "$daemon" "$child"
kill -KILL "$daemon" "$child"
wait "$daemon"
[ "$(enabled)" = 1 ] || fail "a killed kmemtraced has switched tracing off"
kmemtrace-check /nonexistent 2>&1 | tee /tmp/messages
grep -q "enabled back to '0'" /tmp/messages || fail "the state was not restored"
nothing_mounted
[ "$(enabled)" = 0 ] || fail "tracing is still on"
