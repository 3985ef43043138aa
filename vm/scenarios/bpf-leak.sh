#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A module that leaks, beside two processes that make the kernel allocate and free as
# fast as they can, recorded for a minute by the source bpf. The capture is written to
# memory at first: a growing file needs memory for its metadata.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

seconds=60

insmod /modules/kmt_faulty.ko || fail "cannot load the module"
mkdir /tmp/load
load 2 1000000000 /tmp/load &
load=$!
sleep 5
bpf_start /tmp/capture -b 65536
end=$(($(uptime_ms) + seconds * 1000))
while [ "$(uptime_ms)" -lt "$end" ]; do
	echo "leak 20" >/proc/kmt_faulty
	usleep 500000
done
bpf_stop
kill $load
cp -r /tmp/capture /out
