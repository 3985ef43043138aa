#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Records load on all CPUs by the source bpf, for as many seconds as the word seconds=
# on the kernel's command line says, by default ten minutes.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

end=$(($(uptime_ms) + ${seconds:-600} * 1000))

# load NUMBER: work in a folder of its own until the time is over.
load()
{
	mkdir "/tmp/load$1"
	while [ "$(uptime_ms)" -lt "$end" ]; do
		work_processes 10
		work_files "/tmp/load$1" 10
	done
}

bpf_start /out/capture -b 65536
load 1 &
first=$!
load 2 &
second=$!
while [ "$(uptime_ms)" -lt "$end" ]; do
	work_sockets 50
done
wait $first $second
bpf_stop
