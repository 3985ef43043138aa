#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The boot that boot-enable.sh enabled: wait until its capture is saved, bring it out with
# the times of systemd, and bring out the initramfs for the next boot.
# shellcheck source-path=SCRIPTDIR source=../guest/boot.sh
. ./boot.sh

kmemtrace-boot status
pgrep -af kmemtrace
wait_saved
journalctl --no-pager -b -u kmemtrace-boot.service
type_in "kmemtrace-boot status" >status
cat status
grep -qx 'This boot: recorded; the capture is in /var/lib/kmemtrace/boot' status ||
	fail "the capture was not saved"
grep -qx 'Next boot: not recorded' status || fail "the next boot will be recorded"
systemctl is-enabled kmemtrace-boot.service && fail "the unit is enabled"
included && fail "kmemtraced is still in the initramfs"
grep -q kmemtrace-boot /proc/mounts && fail "the tmpfs is still mounted"
pgrep -l 'kmemtrace' && fail "a process remains"
systemctl show | grep TimestampMonotonic= >/out/systemd
cp -r /var/lib/kmemtrace/boot /out/capture
type_in "kmemtrace-check /var/lib/kmemtrace/boot"
type_in "kmemtrace-report --by module -s peak --fields peak,peak-time,live,allocated /var/lib/kmemtrace/boot >report"
sed -n '1,60p' report
bring_out
