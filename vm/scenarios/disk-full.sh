#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The disk that kmemtraced writes to fills up. Boot with a small second disk.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

mount -t ext4 /dev/vdb /mnt || fail "no second disk"
capture=/mnt/capture
# Its messages elsewhere: there is no room for them.
kmemtraced -D $capture >/out/messages 2>&1 &
daemon=$!
wait_until 20 test -s $capture/cpu0.out || fail "kmemtraced did not start"
storm 0 2000000 &
storm 1 2000000 &
gone()
{
	! kill -0 "$daemon" 2>/dev/null
}
wait_until 120 gone || fail "kmemtraced does not notice that the disk is full"
wait "$daemon"
status=$?
df -k /mnt
cat /out/messages
[ "$status" = 1 ] || fail "exit status $status, not 1"
grep -qi 'no space left' /out/messages || fail "the message does not say why"
wait
cp -r $capture /out/capture
umount /mnt
