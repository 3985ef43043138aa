#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A short boot for kmemtrace-gate: start user space and the module of vm/regress, write
# the marker line "booted", and stop. Boot with kmemtrace.enable=yes; a word
# kmt_regress.NAME=VALUE of the command line sets a parameter of the module.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

parameters=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^kmt_regress\.//p')
daemon_start /out/capture
# shellcheck disable=SC2086 # several words
insmod /modules/kmt_regress.ko $parameters || fail "cannot load the module"
work 1
echo booted >$kmt/marker || fail "cannot write the marker line"
daemon_stop
total_overruns >/out/total_overruns
