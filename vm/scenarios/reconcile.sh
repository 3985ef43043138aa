#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A capture from boot, and /proc/slabinfo of the moment at which it ends, for
# tests/vm/reconcile.py; docs/testing.md explains each step.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# slabinfo counts free objects on per-CPU lists as active. SLUB releases them when a
# cache is shrunk; afterwards a CPU may keep only one slab of each cache.
tune_slub()
{
	local partial
	for partial in /sys/kernel/slab/*/cpu_partial; do
		[ ! -e "$partial" ] || echo 0 >"$partial"
	done
}

shrink_slub()
{
	local shrink
	for shrink in /sys/kernel/slab/*/shrink; do
		[ ! -e "$shrink" ] || echo 1 >"$shrink"
	done
}

# Configure SLAB to keep one free object per cache and CPU.
tune_slab()
{
	local name
	[ ! -d /sys/kernel/slab ] || return
	sed '1,2d' /proc/slabinfo >/tmp/caches
	while read -r name _; do
		echo "$name 1 1 0" >/proc/slabinfo
	done </tmp/caches
}

# Time passes, for what RCU frees (kfree_rcu() may take 5 s), and nothing is
# allocated for it.
mkfifo /tmp/pause
exec 4<>/tmp/pause
pause()
{
	# shellcheck disable=SC3045 # busybox' shell has -t
	read -r -t 7 _ <&4
}

daemon_start /out/capture
work 2
tune_slab
tune_slub
# Shrink once now, so that the sysfs files are in the dentry cache later.
shrink_slub
sync
pause

# From here on, allocate as little as possible: the file is open, kmemtraced is
# stopped, and the shell uses only builtins.
table=
exec 3</proc/slabinfo
kill -STOP "$daemon"
echo 0 >$kmt/enabled
shrink_slub
pause
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
