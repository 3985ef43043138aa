#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The table cgroups: tasks in cgroups that are moved and removed. Needs the module
# vm/storm, and vm/tcgroup as /files/tcgroup. Boot without kmemtrace.enable, with
# kmemtrace.tasks=1024. tests/vm/cgroups.py compares /out/capture.expected,
# /out/filtered.expected, and /out/globs.expected with the reports.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

cg=/tmp/cgroup
mkdir $cg
mount -t cgroup2 none $cg || fail "no cgroups"
storm 0 1

# enter CGROUP: move this process.
enter()
{
	echo 0 >"$cg$1/cgroup.procs" || fail "cannot enter $1"
}

# allocate CGROUP N: make N allocations in this process, which is in CGROUP.
allocate()
{
	echo "$2" >/proc/kmt_storm || fail "cannot allocate in $1"
	printf '%s %s\n' "$2" "$1" >>"$capture.expected"
}

# task CGROUP N: make N allocations in a new process in CGROUP.
task()
{
	(enter "$1" && allocate "$1" "$2") || exit 1
}

# remove CGROUP: a task may leave its cgroup a moment after its parent knows of its end.
remove()
{
	wait_until 5 rmdir "$cg$1" || fail "cannot remove $1"
}

daemon_start /out/capture
mkdir $cg/plain $cg/a $cg/b $cg/gone $cg/alive
task /plain 100

# One process in several cgroups; a child inherits the cgroup.
(
	enter /a
	allocate /a 110
	enter /b
	allocate /b 120
	(allocate /b 125) || exit 1
	enter /a
	allocate /a 130
) || exit 1

# A removed cgroup, and another one with the same path.
task /gone 140
remove /gone
mkdir $cg/gone
task /gone 150

# Nested cgroups with unusual names, which are removed before the parent.
nested='/system.slice/dev-disk-by\x2did.swap with spaces'
mkdir -p "$cg$nested"
task "$nested" 160
remove "$nested"
task /system.slice 170
remove /system.slice

/files/tcgroup $cg >>/out/capture.expected || fail "tcgroup"

# A task that is alive at the end.
mkfifo /tmp/fifo
(
	enter /alive
	allocate /alive 230
	true >/tmp/ready
	read -r _ </tmp/fifo
) &
living=$!
wait_until 20 test -e /tmp/ready || fail "the task is not ready"
grep -qx "$living - /alive" $kmt/cgroups ||
	fail "the file does not show a living task in its cgroup"
grep -q ' /gone$' $kmt/cgroups || fail "the file does not show a removed cgroup"
daemon_stop
total_overruns

# The table keeps its state from when tracing was disabled.
true
echo >/tmp/fifo
wait $living
remove /alive
cmp $kmt/cgroups /out/capture/cgroups || fail "the table is not saved as it is"

# A filter by cgroup: only allocations in /f and below, also of tasks that move, and in
# a cgroup with a comma and a space in its name.
mkdir -p $cg/f/g/h $cg/other $cg/ff "$cg/x, y"
for wrong in /f/missing f /f/cgroup.procs '/f,'; do
	if echo "cgroup=$wrong" >$kmt/filter 2>/dev/null; then
		fail "the filter by the cgroup $wrong was taken"
	fi
done
daemon_start /out/filtered -F 'cgroup=/f,/x\054\040y'
task /f 410
task /f/g/h 420
task "/x, y" 430
(
	enter /other
	echo 1000 >/proc/kmt_storm
	enter /f/g
	allocate /f/g 440
	enter /ff
	echo 1000 >/proc/kmt_storm
) || exit 1
task /f/g 450
remove /f/g/h
remove /f/g
mkdir $cg/f/g
task /f/g 460
remove "/x, y"
mkdir "$cg/x, y"
# The filter has the removed cgroup.
(enter "/x, y" && echo 1000 >/proc/kmt_storm) || exit 1
daemon_stop
[ "$(cat $kmt/filter)" = none ] || fail "kmemtraced has left its filter"

# kmemtraced finds the paths, and restores the filter.
mkdir -p "$cg/f/i"
daemon_start /out/globs --cgroup /f --cgroup '/x*' --cgroup '/f/*'
grep -qx 'cgroup=/f,/x\\054\\040y' $kmt/filter || fail "the filter is $(cat $kmt/filter)"
task /f/i 480
task "/x, y" 490
(enter /other && echo 1000 >/proc/kmt_storm) || exit 1
daemon_stop
[ "$(cat $kmt/filter)" = none ] || fail "kmemtraced has left its filter"
kmemtraced -s relay -D /out/refused --cgroup '/none*' 2>/out/refused.log &&
	fail "a filter without cgroups was taken"
grep -q -- '--cgroup selects 0 cgroups' /out/refused.log || fail "$(cat /out/refused.log)"

# A new session has none of the old entries. The paths of removed cgroups have 16 KiB,
# which is not enough for all of these.
echo 1 >$kmt/enabled
grep -qE ' /(gone|alive|a|b)$' $kmt/cgroups && fail "the table has old entries"
# The filter has the last reference to a removed cgroup.
for i in 1 2 3 4 5 6 7 8; do
	mkdir $cg/short
	echo "cgroup=/,/short" >$kmt/filter || fail "no filter by cgroup"
	rmdir $cg/short
	storm 0 10
	echo none >$kmt/filter
done
name=many-
for _ in 1 2 3 4 5 6 7 8 9 10; do
	name=${name}0123456789
done
cd $cg || exit 1
i=0
names=
while [ $i -lt 150 ]; do
	names="$names $name-$i"
	i=$((i + 1))
done
# shellcheck disable=SC2086 # several words
mkdir $names
for one in $names; do
	(enter "/$one") || exit 1
done
usleep 500000
# shellcheck disable=SC2086 # several words
rmdir $names || fail "cannot remove many cgroups"
cd /
echo 0 >$kmt/enabled
mkdir /out/many
cp $kmt/cgroups /out/many
