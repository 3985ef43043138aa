#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Events, filters and reset, also while a reader runs and CPUs come and go, and
# what the files of control say to what they do not understand. tests/vm/control.py
# judges the captures. Boot without kmemtrace.enable.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

online=/sys/devices/system/cpu/cpu1/online
storm 0 1

# said KEY: what info says of it.
said()
{
	sed -n "s/^# $1: //p" $kmt/info
}

# refused FILE TEXT [WHY]: an error, nothing changed, a line in the log.
refused()
{
	local file=$kmt/$1 before after answer
	before=$(cat "$file" 2>/dev/null)
	dmesg -c >/dev/null
	# One write(), whatever is in it.
	printf '%b' "$2" >/tmp/text
	if answer=$(dd if=/tmp/text of="$file" bs=8192 conv=notrunc 2>&1); then
		fail "$1 took '$2'"
	fi
	case $answer in
	*"Invalid argument"* | *"Argument list too long"*) ;;
	*) fail "$1 refused '$2' by: $answer" ;;
	esac
	after=$(cat "$file" 2>/dev/null)
	[ "$before" = "$after" ] || fail "'$2' changed $1 to $after"
	dmesg -c >/tmp/log
	grep -q "kmemtrace: ${3:-$1 }" /tmp/log || fail "no word of $1 and '$2'"
}

# --- Bad input ----------------------------------------------------------------------

long=$(head -c 5000 /dev/zero | tr '\0' a)
# Few enough that the kernel does not leave out a line.
for file in enabled reset events/kmalloc/enabled; do
	refused $file 2
	refused $file '\n'
	refused $file "$long"
done
refused reset 0
for text in 'size=x' 'size=' 'size=-' 'size=9-8' 'size=1 size=2' 'bytes=3' \
	'size=99999999999999999999' 'cache=' 'cache=a,,b' 'cache=a cache=b' \
	"cache=$(echo "$long" | head -c 64)" 'pid=x' 'pid=-1' 'pid=4194304' \
	'pid=1,' 'pid=1 pid=2' children 'sample=0' 'sample=1000001' 'sample=x' \
	'sample=2 sample=3' 'size=1-\001' 'size=1-\0000x' and "$long"; do
	refused filter "$text"
	echo 'size=8-  sample=3' >$kmt/filter
	refused filter "$text"
	[ "$(cat $kmt/filter)" = 'size=8- sample=3' ] || fail "another filter"
	echo none >$kmt/filter
done
for file in info reset events/kmalloc/enabled filter; do
	stat -c %A "$kmt/$file"
done >/out/modes
echo "what is wrong is refused"

# --- Events -------------------------------------------------------------------------

cp $kmt/info /out/info-before
echo 0 >$kmt/events/kfree/enabled
daemon_start /out/off
cp $kmt/info /out/info-off
storm 0 1000
daemon_stop
echo 1 >$kmt/events/kfree/enabled
[ "$(cat $kmt/events/kfree/enabled)" = 1 ] || fail "kfree is not on"

# --- Filters ------------------------------------------------------------------------

# recorded NAME FILTER...: the storm and other work, with this filter.
recorded()
{
	local name=$1
	shift
	daemon_start "/out/$name" "$@"
	storm 0 2000
	work_pipes 50
	work_files /tmp 4
	work_processes 4
	daemon_stop
	[ "$(cat $kmt/filter)" = none ] || fail "the filter was not taken back"
}

# What the storm allocates takes more with a debugging allocator.
bytes=$(awk '$6 == "kmalloc-64" { print $3 }' $kmt/caches)
echo "$bytes" >/out/bytes
recorded size -F "size=$bytes"
recorded range -F 'size=8193-'
recorded cache -F "cache=dent??,kmalloc-64,fil* size=$bytes-2000"

# A task of which all but the last allocation is its own, and others.
sh -c 'while :; do echo $$ >/tmp/pid; done' &
busy=$!
recorded pid -p $busy
kill $busy
wait $busy 2>/dev/null
echo $busy >/out/pid.pid

sh -c 'echo $$ >/out/children.pid; while :; do true; ls / >/dev/null; done' &
busy=$!
wait_until 5 test -s /out/children.pid
recorded children -p $busy -c
kill $busy
wait $busy 2>/dev/null

recorded sample -F sample=10

# --- reset --------------------------------------------------------------------------

echo 1 >$kmt/enabled
storm 0 3000
session=$(said session)
echo 1 >$kmt/reset
[ "$(said session)" = $((session + 1)) ] || fail "no new session"
[ "$(cat $kmt/enabled)" = 1 ] || fail "reset switched off"
storm 0 100
echo 0 >$kmt/enabled
bytes=$(taskset 1 cat $kmt/cpu0 | wc -c)
[ "$bytes" -ge 12800 ] || fail "only $bytes bytes after reset"
[ "$bytes" -lt 192000 ] || fail "$bytes bytes: reset kept the storm"
storm 0 100
echo 1 >$kmt/enabled
storm 0 100
echo 0 >$kmt/enabled
echo 1 >$kmt/reset
[ "$(taskset 1 cat $kmt/cpu0 | wc -c)" = 0 ] || fail "reset kept records"
[ "$(cat $kmt/enabled)" = 0 ] || fail "reset switched on"

daemon_start /out/reset
storm 0 1000
echo 1 >$kmt/reset
storm 0 1000
kill -INT "$daemon"
wait "$daemon" && fail "kmemtraced did not see the reset"
cat /out/reset.log
grep -q 'began a new session' /out/reset.log || fail "the reset is not told"

# --- All at once, while a reader runs -----------------------------------------------

toggle_events()
{
	local i=0
	while [ $i -lt "$1" ]; do
		for event in kmalloc kfree cache_alloc page_free; do
			echo 0 >$kmt/events/$event/enabled
			usleep 20000
			echo 1 >$kmt/events/$event/enabled
		done
		i=$((i + 1))
	done
}

change_filters()
{
	local i=0
	while [ $i -lt "$1" ]; do
		for filter in 'size=-100' 'cache=kmalloc-*,dentry' none 'sample=7' \
			'pid=1 children' 'pid=1,2 sample=3 size=8-' none; do
			echo "$filter" >$kmt/filter
			usleep 10000
		done
		i=$((i + 1))
	done
}

daemon_start /out/changes
work 1 &
worker=$!
toggle_events 5 &
toggler=$!
change_filters 5 &
changer=$!
i=0
while [ $i -lt 3 ]; do
	echo 0 >$online
	storm 0 500
	echo 1 >$online
	storm 1 500
	i=$((i + 1))
done
wait $toggler $changer
wait $worker
[ "$(cat $kmt/filter)" = none ] || fail "the filter stayed"
storm 0 1000
daemon_stop
cp $kmt/info /out/info-changes

# Nothing of it is left: a session with all.
daemon_start /out/all
storm 0 1000
daemon_stop
cp $kmt/info /out/info-after
