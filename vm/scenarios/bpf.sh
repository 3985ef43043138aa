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
filtered comm -F 'comm=dd,task*'

# in_cgroup CGROUP NAME: run a command in the cgroup, and append its pid to /out/NAME.pids.
in_cgroup()
{
	(
		echo 0 >"/sys/fs/cgroup/$1/cgroup.procs"
		# shellcheck disable=SC2016 # the inner shell expands these
		exec sh -c 'echo $$ >>"/out/$1.pids"; exec find /proc/self' sh "$2" \
			>/dev/null
	)
}
# A command in a cgroup that exists before the recording, in one that is made during the
# recording, and in one that the filter does not match.
mkdir -p /sys/fs/cgroup
mount -t cgroup2 none /sys/fs/cgroup
mkdir -p /sys/fs/cgroup/selected/early /sys/fs/cgroup/other
bpf_start /out/cgroup --cgroup '/sel*ed'
in_cgroup selected/early early
in_cgroup other other
mkdir /sys/fs/cgroup/selected/late
in_cgroup selected/late late
rmdir /sys/fs/cgroup/selected/late
bpf_stop
bpf_start /out/no-cgroup --cgroup '/nothing/*'
bpf_stop
umount /sys/fs/cgroup
! kmemtraced -s bpf -D /out/refused --cgroup '/sel*ed' 2>/out/unmounted.log ||
	fail "cgroups are selected although cgroup v2 is not mounted"
filtered counted --no-recover
filtered stacks --stacks

# Each mistake in a filter has a message.
for filter in size= size=9-1 size=x cache=a,,b pid=x pid=4194304 comm= comm=a,,b 'comm=a*b' \
	comm=0123456789abcdef cgroup= cgroup=a sample=0 other=1 word; do
	! kmemtraced -D /out/refused -F "$filter" 2>>/out/refused.log ||
		fail "the filter $filter is accepted"
done
