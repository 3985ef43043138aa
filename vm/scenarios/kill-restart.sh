#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# kmemtraced dies by SIGKILL in the middle of its work and is started again.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

daemon_start /out/first
work 1
# Kill kmemtraced under load, so that the kill sometimes falls between a read and a
# write.
storm 0 200000 &
storm 1 200000 &
usleep 300000
daemon_kill
wait
[ "$(cat $kmt/enabled)" = 1 ] || fail "tracing ended with kmemtraced"
daemon_start /out/second
work 1
daemon_stop
total_overruns >/out/total_overruns
