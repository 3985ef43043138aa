#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# CPUs that come and go while tracing. Boot with maxcpus=1.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

online=/sys/devices/system/cpu/cpu1/online

[ -e $kmt/cpu0 ] || fail "no cpu0"
[ ! -e $kmt/cpu1 ] || fail "cpu1 was never online and yet has a file"
daemon_start /out/capture
work_processes 10

echo 1 >$online || fail "cannot switch CPU 1 on"
[ -e $kmt/cpu1 ] || fail "cpu1 is online and has no file"
storm 1 10000
work 1

# Away at once after work on it: what it recorded last must come out too.
storm 1 10000
echo 0 >$online || fail "cannot switch CPU 1 off"
[ -e $kmt/cpu1 ] || fail "the file of a CPU that went away has gone"
taskset 1 sh -c 'for i in 1 2 3 4 5 6 7 8; do true; ls / >/dev/null; done'

echo 1 >$online || fail "cannot switch CPU 1 on again"
storm 1 10000
work 1
echo 0 >$online
storm 0 10000
sleep 1
daemon_stop
total_overruns | tee /out/total_overruns
[ "$(cat /out/total_overruns)" = 0 ] || fail "events were lost"
