#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Records of version 1: what there is of control, and of annotations, which it
# does not know. tests/vm/version1.py judges the captures. Boot with
# kmemtrace.abi=1 and without kmemtrace.enable.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

sample=/sys/module/kmemtrace_sample/parameters

for file in caches marker marks stacks tasks events/mark:marker \
	events/percpu_alloc events/vfree; do
	[ ! -e $kmt/$file ] || fail "version 1 has $file"
done

# refused FILTER WHY
refused()
{
	dmesg -c >/dev/null
	if echo "$1" 2>/dev/null >$kmt/filter; then
		fail "the filter $1 was taken"
	fi
	dmesg -c | grep -q "kmemtrace: filter was not taken: $2" ||
		fail "no word of the filter $1"
	[ "$(cat $kmt/filter)" = none ] || fail "the filter $1 is there"
}

refused cache=kmalloc-64 'version 1 of the records does not know caches'
refused 'size=64 children' 'children is there without pid'

# recorded NAME [OPTION]...
recorded()
{
	local name=$1
	shift
	daemon_start "/out/$name" "$@"
	cp $kmt/info "/out/info.$name"
	storm 0 2000
	work_processes 4
	daemon_stop
}

storm 0 1
recorded size -F size=64
recorded pid -p 1
recorded sample -F sample=10
echo 0 >$kmt/events/kfree/enabled
recorded off
echo 1 >$kmt/events/kfree/enabled

# Annotations come and go, and nothing is worked out for them.
daemon_start /out/all
insmod /modules/kmemtrace-sample.ko || fail "cannot load the sample"
cp $kmt/info /out/info.all
echo 100 >$sample/work
[ "$(cat $sample/evaluated)" = 0 ] || fail "annotations are evaluated"
ls $kmt/events >/out/events
storm 0 2000
rmmod kmemtrace-sample
echo 1 >$kmt/reset
[ "$(cat $kmt/enabled)" = 1 ] || fail "reset switched off"
kill -INT "$daemon"
wait "$daemon" && fail "kmemtraced did not see the reset"
daemon_start /out/again
insmod /modules/kmemtrace-sample.ko length=0 || fail "cannot load it again"
storm 0 2000
rmmod kmemtrace-sample
daemon_stop
