#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A short boot for kmemtrace-gate: start user space and the module of vm/regress, write
# the marker line "booted", and stop. Boot with kmemtrace.enable=yes; the word
# kmt_regress.size=N of the command line is the size of an entry of the module's table.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

size=$(sed -n 's/.*kmt_regress\.size=\([0-9]*\).*/\1/p' /proc/cmdline)
[ -n "$size" ] || fail "kmt_regress.size is missing on the command line"
daemon_start /out/capture
insmod /modules/kmt_regress.ko size="$size" || fail "cannot load the module"
work 1
echo booted >$kmt/marker || fail "cannot write the marker line"
daemon_stop
total_overruns >/out/total_overruns
