#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Annotations: those of the kernel's sample module, which comes and goes under
# tracing, and lines of user space; also where there is no room for them. Boot
# without kmemtrace.enable.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

sample=/sys/module/kmemtrace_sample/parameters
step=$kmt/events/mark:sample_step
# Stacks make each event much slower.
many=20000
! grep -q kmemtrace.stacks=yes /proc/cmdline || many=1000

# refuses WHAT TEXT: check that the file marker rejects the text.
refuses()
{
	if printf %b "$2" 2>/dev/null >$kmt/marker; then
		fail "the file marker takes $1"
	fi
}

# state NAME: save the annotations of info and of the table.
state()
{
	cp $kmt/info "/out/info.$1"
	cp $kmt/marks "/out/marks.$1"
}

evaluated()
{
	cat $sample/evaluated
}

state before
refuses "a line while tracing is off" 'too early\n'

daemon_start /out/capture
[ -s "$step/enabled" ] && fail "there is a switch for what is not there"
echo "first phase" >$kmt/marker || fail "cannot mark"
insmod /modules/kmemtrace-sample.ko || fail "cannot load the sample"
state during
[ "$(cat $step/enabled)" = 1 ] || fail "an annotation that comes is off"

# While the event is disabled, its arguments are not evaluated.
echo 100 >$sample/work
[ "$(evaluated)" = 100 ] || fail "on: evaluated $(evaluated) times, not 100"
echo 0 >$step/enabled
echo 100 >$sample/work
[ "$(evaluated)" = 100 ] || fail "off: evaluated all the same"
if echo 2 >$step/enabled 2>/dev/null; then
	fail "a wrong value was taken"
fi
echo 1 >$step/enabled
echo 50 >$sample/work
[ "$(evaluated)" = 150 ] || fail "on again: evaluated $(evaluated) times"

# Toggle the event while both CPUs reach it.
taskset 1 sh -c "echo $many >$sample/work" &
worker=$!
i=0
while [ $i -lt 10 ]; do
	echo 0 >$step/enabled
	echo 1 >$step/enabled
	taskset 2 sh -c "echo 20 >$sample/work"
	i=$((i + 1))
done
wait $worker
evaluated >/out/evaluated

# Lines: several in one write, the longest possible one, a longer one, and binary
# data.
printf 'one\ntwo\t2\nthree, without an end' >$kmt/marker || fail "three lines"
line=$(printf '%0256d' 0)
printf '%s\n' "$line" >$kmt/marker || fail "a line of 256 bytes"
refuses "a line of 257 bytes" "0$line\n"
refuses "a line that is too long after one that is not" "good\n0$line\n"
refuses "an empty line" '\n'
refuses "control characters" 'a \033 b\n'
refuses "binary data" 'a\0000b\n'
i=0
while [ $i -lt 1000 ]; do
	echo "line $i of many"
	i=$((i + 1))
done >/tmp/lines
dd if=/tmp/lines of=$kmt/marker bs=64k 2>/dev/null || fail "many lines"
echo "last phase" >$kmt/marker

rmmod kmemtrace-sample
state after
[ -e "$step" ] && fail "the switch of what went is still there"
# The module's second load uses other numbers. 256 is the longest string that is not
# truncated.
insmod /modules/kmemtrace-sample.ko length=256 || fail "cannot load it again"
rmmod kmemtrace-sample
i=0
while [ $i -lt 5 ]; do
	insmod /modules/kmemtrace-sample.ko length=0 &
	other=$!
	echo "while a module comes" >$kmt/marker
	wait $other
	cat $kmt/marks $kmt/info >/dev/null
	rmmod kmemtrace-sample
	i=$((i + 1))
done
total_overruns >/out/total_overruns
daemon_stop
cmp $kmt/marks /out/capture/marks || fail "the table is not saved as it is"

# The next session does not list the marks of an unloaded module.
echo 1 >$kmt/enabled
grep kmemtrace_sample $kmt/marks && fail "annotations of the session before"
if insmod /modules/kmemtrace-sample.ko length=4294967295 2>/dev/null; then
	fail "the sample takes any length"
fi
[ ! -e "$step" ] || fail "the switch of what failed to load is there"
echo 0 >$kmt/enabled
dmesg | grep -c 'kmemtrace: marker' >/out/complaints

# --- Small buffers: only lines, on CPU 0 ------------------------------------------

for event in "$kmt"/events/*; do
	case $event in
	*/mark:*) ;;
	*) echo 0 >"$event/enabled" ;;
	esac
done
echo 4 >$kmt/subbufs
echo 8192 >$kmt/subbuf_size
cat >/tmp/write-lines <<EOF
i=\$1
while [ \$i -lt \$2 ]; do
	# Alternate between lines of one record and lines of the maximum number of records.
	text=\$i
	[ \$((i % 2)) = 0 ] || text="\$i $(printf '%0250d' 0)"
	echo "\$text" >$kmt/marker && echo \$i
	i=\$((i + 1))
done 2>/dev/null
EOF

# lines FIRST END: print the numbers of the accepted lines.
lines()
{
	taskset 1 sh /tmp/write-lines "$1" "$2"
}

# read_lines NAME: save the lines and the records of CPU 0.
read_lines()
{
	taskset 1 cat $kmt/cpu0 >>"/out/$1.cpu0"
	total_overruns >"/out/$1.overruns"
}

echo 1 >$kmt/enabled
lines 0 300 >/out/full.taken
read_lines full
lines 300 310 >>/out/full.taken
echo 0 >$kmt/enabled
read_lines full

echo overwrite >$kmt/mode
echo 1 >$kmt/enabled
lines 0 300 >/out/overwrite.taken
echo 0 >$kmt/enabled
read_lines overwrite
echo discard >$kmt/mode

# Full buffers that become a snapshot are reused without being read.
echo 1 >$kmt/enabled
echo 1 >$kmt/snapshot/take || fail "no snapshot"
lines 0 200 >/tmp/before
echo 1 >$kmt/snapshot/take
echo 1 >$kmt/snapshot/take
lines 200 300 >/out/snapshot.taken
echo 0 >$kmt/enabled
read_lines snapshot
cp $kmt/record_size /out/record_size

# The last test, because lockdown cannot be undone.
if [ -e /files/lockdown.sh ]; then
	. /files/lockdown.sh
fi
