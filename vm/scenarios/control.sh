#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Events, filters and reset, also while a reader runs and CPUs come and go, and
# how the files of control reject invalid input. tests/vm/control.py
# judges the captures. Boot without kmemtrace.enable.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

online=/sys/devices/system/cpu/cpu1/online
storm 0 1

# info_value KEY: print the value of KEY in info.
info_value()
{
	sed -n "s/^# $1: //p" $kmt/info
}

# refused FILE TEXT [WHY]: check that writing TEXT fails, changes nothing, and logs
# a line.
refused()
{
	local file=$kmt/$1 before after answer
	before=$(cat "$file" 2>/dev/null)
	dmesg -c >/dev/null
	# Write the text with a single write().
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
# Few writes, so that the kernel's rate limit does not drop a log line.
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
	'sample=2 sample=3' 'cgroup=x' 'cgroup=/missing' 'size=1-\001' \
	'size=1-\0000x' and "$long"; do
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

# --- Numbers that overflow ----------------------------------------------------------

# overflows FILE TEXT...: check that each text fails with EINVAL and changes
# nothing, even if the number would be valid after wrapping around.
overflows()
{
	local file=$kmt/$1 before after answer
	shift
	for text; do
		before=$(cat "$file")
		if answer=$({ echo "$text" >"$file"; } 2>&1); then
			fail "${file#"$kmt/"} took '$text': $(cat "$file")"
		fi
		case $answer in
		*"Invalid argument"*) ;;
		*) fail "${file#"$kmt/"} refused '$text' by: $answer" ;;
		esac
		after=$(cat "$file")
		[ "$before" = "$after" ] || fail "'$text' changed $file"
	done
}

# 2^32 + 8, 2^64 + 8, and numbers that become 1024 or 8 when high bits are lost.
overflows subbufs 4294967304 18446744073709551624 0x10000000000000008 \
	02000000000000000000010
overflows subbuf_size 18014398509481985K 18014398509481985k 17592186044417M \
	17179869185G 16777217T 16385P 17E 18446744073709552640 \
	0x10000000000000400 0x40000000000001K 4294968320
overflows filter size=18446744073709551624 size=8-18446744073709551624 \
	pid=4294967297 pid=18446744073709551617 sample=4294967298 \
	sample=18446744073709551618
overflows enabled 4294967297 10 01 18446744073709551617
overflows events/kmalloc/enabled 4294967296 10 00
overflows snapshot/take 4294967297 18446744073709551617 4294967296
# 0 would free the snapshot, 1 would take a snapshot.
grep -qx 'state: none' $kmt/snapshot/take || fail "there is a snapshot"
sleep 5 # The log leaves out lines of triggers if there are many.
for limit in 18014398509481985K 17179869185G 16385P 18446744073709551617 8E \
	9223372036854775808; do
	overflows trigger "cache:inode_cache>$limit" "site:vfs_open>$limit"
done
overflows trigger 'site:18446744073709551617>1' 'site:0x1000000000000000f>1' \
	'site:vfs_open+0x10000000000000001>1' \
	'site:vfs_open+18446744073709551617>1'
[ -z "$(cat $kmt/trigger)" ] || fail "a trigger is set"
# The largest values are accepted, and hexadecimal values that end in E.
echo 0xFE >$kmt/subbuf_size || fail "0xFE"
[ "$(cat $kmt/subbuf_size)" = 192 ] || fail "0xFE is $(cat $kmt/subbuf_size)"
echo 512K >$kmt/subbuf_size || fail "512K"
[ "$(cat $kmt/subbuf_size)" = 524288 ] || fail "512K is $(cat $kmt/subbuf_size)"
echo 'cache:inode_cache>9223372036854775807' >$kmt/trigger || fail "S64_MAX"
echo '!cache:inode_cache>9223372036854775807' >$kmt/trigger || fail "S64_MAX again"
echo 0 >$kmt/snapshot/take
echo "numbers that overflow are refused"

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

# recorded NAME FILTER...: record the storm and other work with this filter.
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

# With a debugging allocator the storm's objects are larger.
bytes=$(awk '$6 == "kmalloc-64" { print $3 }' $kmt/caches)
echo "$bytes" >/out/bytes
recorded size -F "size=$bytes"
recorded range -F 'size=8193-'
recorded cache -F "cache=dent??,kmalloc-64,fil* size=$bytes-2000"

# kfree_rcu() makes a record of the hand-over, which is switched by its own event and
# filtered like a free.
daemon_start /out/rcu
storm_rcu 0 500
daemon_stop
daemon_start /out/rcu-size -F "size=$bytes"
storm_rcu 0 500
daemon_stop
daemon_start /out/rcu-other -F 'size=8193-'
storm_rcu 0 500
daemon_stop
daemon_start /out/rcu-pid -p 1
storm_rcu 0 500
daemon_stop
echo 0 >$kmt/events/kfree_rcu/enabled
daemon_start /out/rcu-off
storm_rcu 0 500
daemon_stop
echo 1 >$kmt/events/kfree_rcu/enabled

# A busy task, selected by its pid while other tasks allocate, too. All but its last
# allocation run in that task.
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

# --- Killed -------------------------------------------------------------------------

as_before()
{
	[ "$(cat $kmt/enabled)" = 0 ] && [ "$(cat $kmt/filter)" = none ]
}

for number in KILL SEGV USR1 ALRM; do
	daemon_start "/out/killed-$number" -F size=8-
	[ "$(cat $kmt/filter)" = size=8- ] || fail "there is no filter"
	kill "-$number" "$daemon"
	wait "$daemon"
	wait_until 5 as_before || fail "SIG$number left tracing on, or a filter"
	# Drop the records that the killed kmemtraced left in the buffers.
	echo 1 >$kmt/reset
done
echo "the kernel is as before a kmemtraced that was killed"

# --- reset --------------------------------------------------------------------------

echo 1 >$kmt/enabled
storm 0 3000
session=$(info_value session)
echo 1 >$kmt/reset
[ "$(info_value session)" = $((session + 1)) ] || fail "no new session"
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

# The toggling leaves no setting behind: record a session with all events.
daemon_start /out/all
storm 0 1000
daemon_stop
cp $kmt/info /out/info-after
