#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A capture from boot, and /proc/slabinfo of the moment at which it ends; see
# docs/reconciliation.md for what each step is for.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# Objects that are free but kept by a CPU count as active in slabinfo.
give_back_free_objects()
{
	local shrink name

	if [ -d /sys/kernel/slab ]; then
		for shrink in /sys/kernel/slab/*/shrink; do
			echo 1 >"$shrink"
		done
	else
		sed '1,2d' /proc/slabinfo >/tmp/caches
		while read -r name _; do
			echo "$name 1 1 0" >/proc/slabinfo
		done </tmp/caches
	fi
}

daemon_start /out/capture
work 2
cat /proc/slabinfo >/dev/null
give_back_free_objects
# What RCU and delayed work free comes in now.
sync
sleep 3

# From here on nothing may allocate: the file is open, kmemtraced stands still,
# and the shell reads by itself.
table=
exec 3</proc/slabinfo
kill -STOP "$daemon"
echo 0 >$kmt/enabled
while IFS= read -r line <&3; do
	table="$table$line
"
done
exec 3<&-
kill -CONT "$daemon"
printf '%s' "$table" >/out/slabinfo
nproc >/out/nproc
daemon_stop
total_overruns | tee /out/total_overruns
