#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The same work recorded at once by relay and by ftrace. On each CPU a call of
# the storm module marks where both have begun, and one where both still run;
# tests/vm/ftrace.py holds what is between against each other.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

mount -t tracefs tracefs /sys/kernel/tracing || fail "there is no tracefs"

mark()
{
	storm 0 1
	storm 1 1
}

daemon_start /out/relay -s relay
relay=$daemon
kmemtraced -s ftrace --keep-own -D /out/ftrace >/out/ftrace.log 2>&1 &
ftrace=$!
wait_until 20 grep -q recording /out/ftrace.log || {
	cat /out/ftrace.log
	fail "kmemtraced -s ftrace did not start"
}
[ -d /sys/kernel/tracing/instances/kmemtrace ] || fail "there is no instance"
sleep 1
mark
work 1 >/dev/null
storm 0 3000
storm 1 3000
# CPU 1 goes offline and online during the recording.
echo 0 >/sys/devices/system/cpu/cpu1/online
work_files /tmp 5
echo 1 >/sys/devices/system/cpu/cpu1/online
work_processes 5
mark
sleep 1
kill -INT "$ftrace"
wait "$ftrace" || fail "kmemtraced -s ftrace failed: $(cat /out/ftrace.log)"
cat /out/ftrace.log
[ -z "$(ls /sys/kernel/tracing/instances)" ] || fail "the instance is left"
daemon=$relay
capture=/out/relay
daemon_stop
[ "$(total_overruns)" = 0 ] || fail "relay lost events"
grep -q '^overruns=0$' /out/ftrace/kmemtrace.meta || fail "ftrace lost events"
