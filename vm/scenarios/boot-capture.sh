#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The main job. The kernel was booted with kmemtrace.enable=yes: take what it
# traced so far, trace some work, Ctrl+C.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

[ "$(cat $kmt/enabled)" = 1 ] || fail "tracing is not on"
# Write to ext4, where the workload's files are.
daemon_start /out/capture
echo "$ workload"
work 2
sleep 1
echo "$ kill -INT kmemtraced"
daemon_stop
echo "$ cat total_overruns"
total_overruns | tee /out/total_overruns
cat $kmt/overruns >/out/overruns
stacks_are_right
