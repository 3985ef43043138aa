#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Work recorded on an unmodified kernel by the source bpf. tests/vm/bpf.py judges the
# capture.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

bpf_start /out/capture
work 1
# CPU 1 goes offline and online during the recording.
echo 0 >/sys/devices/system/cpu/cpu1/online
work_files /tmp 5
echo 1 >/sys/devices/system/cpu/cpu1/online
work_processes 5
bpf_stop

# A kill leaves whole records.
bpf_start /out/killed
work_processes 2
kill -KILL "$bpf_daemon"
wait "$bpf_daemon" 2>/dev/null

# filtered NAME OPTION...: record the same work with a filter.
filtered()
{
	local name=$1
	shift
	bpf_start "/out/$name" "$@"
	work 1
	bpf_stop
}
filtered size -F size=4096-8192
filtered cache -F cache=dentry,filp,kmalloc-64
filtered sample -F sample=10
filtered pid -p $$ -c
filtered counted --no-recover
filtered stacks --stacks

# Each mistake in a filter has a message.
for filter in size= size=9-1 size=x cache=a,,b pid=x pid=4194304 sample=0 other=1 word; do
	! kmemtraced -D /out/refused -F "$filter" 2>>/out/refused.log ||
		fail "the filter $filter is accepted"
done
