# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# In a system that vm/run --system has booted: run the scenario, write its exit status
# to /out, and power off.
status=1
if mount -L out /out; then
	cd /run/kmemtrace-vm/files || exit 1
	/run/kmemtrace-vm/scenario </dev/null
	status=$?
	cd /
	echo "$status" >/out/.status
	sync
	umount /out || mount -o remount,ro /out
fi
echo "kmemtrace-vm: status $status"
reboot -f
