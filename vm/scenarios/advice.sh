#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A capture of many objects of a few kinds, and /proc/slabinfo before and after
# each kind, for scripts/advice-trial. The kinds and their numbers come from the
# kernel's command line: hold=KIND:COUNT,KIND:COUNT...
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

kinds=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^hold=//p' | tr ',' ' ')
[ -n "$kinds" ] || fail "the command line has no hold=KIND:COUNT"
mkdir -p /tmp/hold /out/slabinfo
sysctl -w fs.inotify.max_user_instances=100000 >/dev/null

hold()
{
	local kind=$1 count=$2
	: >/tmp/held
	taskset 1 /files/hold "$kind" "$count" >/tmp/held &
	wait_until 120 grep -q '^held$' /tmp/held ||
		fail "$count objects of $kind were not made"
}

daemon_start /out/capture
echo booted >$kmt/marker
for pair in $kinds; do
	kind=${pair%:*}
	cat /proc/slabinfo >"/out/slabinfo/$kind-before"
	hold "$kind" "${pair#*:}"
	cat /proc/slabinfo >"/out/slabinfo/$kind-after"
	echo "$kind" >$kmt/marker
done
daemon_stop
total_overruns | tee /out/total_overruns
