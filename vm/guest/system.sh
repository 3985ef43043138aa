# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# In a system that vm/run --system has booted: run the scenario, write its exit status
# to /out, and power off.
# The console is a terminal, but programs read its log.
export NO_COLOR=1 KMEMTRACE_PAGER=
status=1
if mount -L out /out; then
	dir=/run/kmemtrace-vm
	# vm/run --initrd; no program can run from /run of a usual system.
	if [ -d /out/.kmemtrace-vm ]; then
		dir=/root/kmemtrace-vm
		rm -rf $dir
		cp -r /out/.kmemtrace-vm $dir
		rm -r /out/.kmemtrace-vm
	fi
	cd $dir/files || exit 1
	$dir/scenario </dev/null
	status=$?
	cd /
	echo "$status" >/out/.status
	sync
	umount /out || mount -o remount,ro /out
fi
echo "kmemtrace-vm: status $status"
reboot -f
