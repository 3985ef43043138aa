#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Snapshots by each trigger, by calls in kernel code, and by root.
# tests/vm/snapshot.py checks the captures.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

snap=$kmt/snapshot
insmod /modules/kmt_snapshot.ko || fail "no module"

# says KEY VALUE: check a property of the snapshot state.
says()
{
	grep -qx "$1: $2" $snap/take || {
		cat $snap/take
		fail "the state of snapshots has no '$1: $2'"
	}
}

# refused FILE TEXT: check that writing TEXT fails and changes nothing.
refused()
{
	if printf '%s' "$2" >"$1" 2>/dev/null; then
		fail "$1 took '$2'"
	fi
}

# trigger TEXT...: set each of the triggers.
trigger()
{
	while [ $# -gt 0 ]; do
		printf '%s\n' "$1" >$kmt/trigger || fail "trigger $1"
		shift
	done
}

# has_trigger LINE: check that a line of the file trigger matches the pattern LINE.
has_trigger()
{
	grep -qx "$1" $kmt/trigger || {
		cat $kmt/trigger
		fail "there is no trigger '$1'"
	}
}

try()
{
	echo "$*" >/proc/kmt_snapshot
}

# save NAME: save the snapshot as a capture.
save()
{
	kmemtraced -S -D "/out/$1" -q || fail "kmemtraced -S did not save $1"
}

# --- No snapshot yet, and bad input ---------------------------------------------

says state none
refused $snap/take 1			# tracing is off
kmemtraced -S -D /out/none 2>/out/none.log && fail "saved a snapshot of nothing"
grep -q "no snapshot was taken.*echo 1 >" /out/none.log || fail "no advice"
[ ! -e /out/none ] || fail "/out/none was created"
for text in 2 -1 x ' ' '1 1'; do
	refused $snap/take "$text"
done
for text in ' ' oom2 OOM 'oom>1' cache: cache:kmt_snapshot 'cache:>1' \
	'cache:kmt_snapshot>' 'cache:kmt_snapshot>0' 'cache:kmt_snapshot>1x' \
	'cache:none>1' 'site:none>1' 'site:snapshot_keep+0x100000>1' \
	'site:snapshot_keep+x>1' 'site:snapshot_keep>-1' mark: '!oom' '!x' \
	"$(printf 'oom\nalloc-failure')"; do
	refused $kmt/trigger "$text"
done
[ -z "$(cat $kmt/trigger)" ] || fail "a trigger is set"
says state none

# --- Taken by root ----------------------------------------------------------------

echo overwrite >$kmt/mode
# number FILE OFFSET: print an eight-byte number of a record.
number()
{
	od -An -t d8 -j "$2" -N 8 "$1" | tr -d ' '
}

# The live buffer begins with a loss record. It counts the snapshot's events, which
# were not read, and an event that was refused directly afterwards.
echo 1 >$kmt/enabled
work_pipes 10
echo 1 >$snap/take || fail "no snapshot"
work_pipes 10
try take-refused
for cpu in 0 1; do
	cat $snap/cpu$cpu >/out/refused-taken$cpu
done
echo 0 >$kmt/enabled
gaps=0
for cpu in 0 1; do
	cat $kmt/cpu$cpu >/out/refused-live$cpu
	# The record is a loss record; the second record of the snapshot is an event.
	[ "$(od -An -t u1 -N 1 /out/refused-live$cpu | tr -d ' ')" = 3 ] || continue
	gaps=$((gaps + 1))
	since=$(number /out/refused-live$cpu 32)
	event=$(number /out/refused-taken$cpu $((64 + 48)))
	echo "cpu$cpu: a gap since $since, an event of it at $event"
	[ "$since" -le "$event" ] ||
		fail "cpu$cpu: the gap begins after the first event in it"
done
[ $gaps -gt 0 ] || fail "no CPU has a record of losses"
echo 1 >$kmt/enabled
work_pipes 100
try keep 1000
echo 1 >$snap/take || fail "no snapshot"
says state taken
says why snapshot/take
# Tracing continues, and the snapshot keeps the records from before.
try keep 2000
save root
says state taken
kmemtraced -S -D /out/again 2>/out/again.log ||
	fail "a snapshot that was read is an error"
grep -q "was read before" /out/again.log || fail "no warning that the snapshot was read before"

# A reader in the middle of an old snapshot receives an error.
echo 1 >$snap/take
exec 3<$snap/cpu0 4<$snap/cpu1
dd bs=64 count=1 <&3 >/dev/null 2>&1 || fail "cannot read"
echo 1 >$snap/take
for fd in 3 4; do
	if dd bs=64 count=1 <&$fd >/dev/null 2>/out/stale.log; then
		fail "a reader of the old snapshot read the new one"
	fi
	grep -q "Stale file handle" /out/stale.log || fail "wrong error"
done
exec 3<&- 4<&-
says taken 3
echo 0 >$snap/take
says state none
[ -z "$(cat $snap/cpu0 $snap/overruns)" ] || fail "something is left"

# --- Taken by kernel code ------------------------------------------------------

try take-alloc
says why kmemtrace_snapshot_alloc
try take
says why kmemtrace_snapshot
says taken 5
try take-nmi
says in_nmi 1
says taken 5
# A CPU refuses events only while it takes a snapshot with interrupts off.
try take-timer 1000
says coincided 0
# Take snapshots on all CPUs under load while a live reader and a snapshot reader
# run.
daemon_start /out/live
(while :; do cat $snap/cpu0 $snap/cpu1; done >/dev/null 2>&1) &
reader=$!
work_pipes 200 &
try take-both 300
wait $!
kill $reader
wait $reader 2>/dev/null
try keep 1
try take
save both
daemon_stop
cat $snap/take
echo 1 >$kmt/enabled
says state empty
says taken 0

# --- Triggers --------------------------------------------------------------------

try drop
# The size of an object depends on the kernel.
trigger 'site:snapshot_keep>1G'
try keep 1
size=$(sed -n 's/^armed held=\([0-9]*\) objects=1 .*/\1/p' $kmt/trigger)
[ "$size" -ge 1000 ] || fail "an object of $size bytes"
trigger '!site:snapshot_keep>1G'
try drop
site="site:snapshot_keep>$((100 * size))"
echo "$site" >/out/site.trigger
trigger 'cache:kmt_snapshot>40000' "$site" alloc-failure
try fill 100
try keep 50
has_trigger 'armed held=[0-9]* cache:kmt_snapshot>40000'
has_trigger "armed held=$((50 * size)) objects=50 unfollowed=0 $site"
says taken 0
try fill 150
has_trigger 'fired held=[0-9]* cache:kmt_snapshot>40000'
says why 'cache:kmt_snapshot>40000'
save cache
try fill 100
says taken 1
try keep 51
has_trigger "fired held=$((101 * size)) objects=101 unfollowed=0 $site"
says why "$site"
save site
# Frees are subtracted, and a trigger can be set again after it has fired.
try drop
has_trigger "fired held=0 objects=0 unfollowed=0 $site"
trigger "$site"
try keep 100
says taken 2
try keep 1
says taken 3
try drop
try fail-quiet
says taken 3
has_trigger 'armed alloc-failure'
try fail
says why alloc-failure
has_trigger 'fired alloc-failure'
says taken 4
trigger '!alloc-failure' "!$site"
# Only the named mark fires the trigger; some kernels have no marks.
if [ -e $kmt/marker ]; then
	trigger mark:marker mark:other
	echo "a line" >$kmt/marker
	says why mark:marker
	says taken 5
	has_trigger 'fired mark:marker'
	has_trigger 'armed mark:other'
	trigger '!mark:marker' '!mark:other'
fi
[ "$(wc -l <$kmt/trigger)" = 1 ] || fail "triggers are left"
# Destroying a cache removes the counter of its trigger.
rmmod kmt_snapshot || fail "rmmod"
has_trigger 'fired gone cache:kmt_snapshot>40000'
insmod /modules/kmt_snapshot.ko
has_trigger 'fired gone cache:kmt_snapshot>40000'
trigger '!cache:kmt_snapshot>40000'

# --- Out of memory ---------------------------------------------------------------

# Other work before and during the out-of-memory, which the report must not blame.
trigger oom
work_pipes 100
echo -1000 >/proc/self/oom_score_adj
(echo 1000 >/proc/self/oom_score_adj; exec sh -c 'echo hoard >/proc/kmt_snapshot')
has_trigger 'fired oom'
says state taken
says why oom
try drop
save oom
dmesg | grep 'kmemtrace: ' | tail -n 5

# --- Without spare buffers -------------------------------------------------------

echo 0 >$snap/take
try keep 10
try take
says state stopped
wait_until 5 grep -q 0 $kmt/enabled || fail "tracing goes on"
kmemtraced -S -D /out/stopped 2>/out/stopped.log && fail "there is no snapshot"
grep -q "without -S" /out/stopped.log || fail "no advice for a stop"
try keep 20
kmemtraced -D /out/stopped -q || fail "what was kept cannot be saved"
echo 1 >$kmt/enabled
says state none
echo 0 >$kmt/enabled
try drop
