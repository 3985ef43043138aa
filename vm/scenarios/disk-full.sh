#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The disk that kmemtraced -f writes to fills up; the old capture stays. Root records for
# the caller of sudo. Boot with a small second disk.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

mount -t ext4 "$(findfs LABEL=second)" /mnt || fail "no second disk"
capture=/mnt/capture
new=$capture/kmemtrace.new-1
# The records since boot would not fit on that disk; save them elsewhere.
kmemtraced -q -w 0.1 -D /out/boot || fail "the trace of the boot is not saved"
rm -r /out/boot

export SUDO_UID=1000 SUDO_GID=100
kmemtraced -q -w 0.2 -D $capture || fail "kmemtraced by sudo"
for file in "$capture" "$capture"/*; do
	[ "$(stat -c %u:%g "$file")" = 1000:100 ] ||
		fail "$file is not given to the caller of sudo"
done
cp -r $capture /out/old
if SUDO_UID='' kmemtraced -q -f -w 0.1 -D $capture 2>/out/refused; then
	fail "root recorded into the directory of another user"
fi
grep -q 'belongs to another user (uid 1000)' /out/refused ||
	fail "no reason: $(cat /out/refused)"

# Write the messages to another disk, because this one is full.
kmemtraced -f -D $capture >/out/messages 2>&1 &
daemon=$!
wait_until 20 test -s $new/cpu0.out || fail "kmemtraced did not start"
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
grep -q "was not replaced; the new one is in $new" /out/messages ||
	fail "the message does not say where the capture is"
wait
cp -r $new /out/capture
for file in /out/old/*; do
	cmp "$file" "$capture/${file##*/}" || fail "the old capture has changed"
done
umount /mnt
