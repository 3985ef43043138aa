#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Each allocation of each path that sets something up fails once: the tracer is
# left as it was. Boot with maxcpus=1, without kmemtrace.enable, on a kernel that
# injects faults.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

for faults in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
	echo 0 >$faults/verbose
	echo N >$faults/ignore-gfp-wait
done
echo N >/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem
echo 0 >/sys/kernel/debug/fail_page_alloc/min-order

# faults [-k] FILE TEXT UNDO: fail each allocation of a write in turn; see
# vm/failnth.
faults()
{
	/files/failnth "$@" $kmt/info $kmt/trigger $kmt/snapshot/take ||
		fail "$* under faults"
}

echo 4 >$kmt/subbufs
echo 65536 >$kmt/subbuf_size
# Before the first session: tasks end while enabling fails and while the tables are
# read.
(while :; do cat $kmt/tasks $kmt/cgroups; done >/dev/null) &
reader=$!
faults $kmt/enabled 1 0
kill $reader
wait $reader 2>/dev/null
# The buffer of a CPU that failed to come online is kept.
faults -k /sys/devices/system/cpu/cpu1/online 1 0
echo 1 >/sys/devices/system/cpu/cpu1/online
faults $kmt/subbufs 8 4
faults $kmt/subbuf_size 131072 65536
faults $kmt/mode overwrite discard
faults $kmt/filter 'cache=kmalloc-*,dentry size=8-64 pid=1,2 children sample=3' none
faults $kmt/filter 'cgroup=/ pid=1' none
faults $kmt/trigger oom '!oom'
faults $kmt/trigger 'cache:inode_cache>100000000' '!cache:inode_cache>100000000'
faults $kmt/trigger 'site:vfs_open+0x10>100000000' '!site:vfs_open+0x10>100000000'
faults $kmt/trigger 'mark:never' '!mark:never'

# Inject failures while tracing is enabled, too.
echo 1 >$kmt/enabled
faults $kmt/events/kmalloc/enabled 0 1
faults $kmt/filter 'cache=kmalloc-64 pid=1' none
faults $kmt/trigger alloc-failure '!alloc-failure'
faults $kmt/snapshot/take 1 0
faults $kmt/marker 'a line' ''
for file in info caches tasks cgroups marks cpu0 snapshot/cpu0 overruns; do
	faults $kmt/$file '' ''
done
faults /modules/kmemtrace-sample.ko '' ''
faults $kmt/reset 1 ''
echo 0 >$kmt/enabled
echo 20 >$kmt/subbufs

# Afterwards the tracer must still work.
echo 1 >$kmt/reset
daemon_start /out/capture
work 1
daemon_stop
total_overruns >/out/total_overruns
