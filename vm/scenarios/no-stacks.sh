#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Stacks are requested, but the kernel has no stack depot: the kernel reports the
# reason at boot and in info, traces without stacks, and kmemtraced warns. Boot with
# kmemtrace.enable=yes kmemtrace.stacks=yes stack_depot_disable=on.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

reason='the stack depot is off (stack_depot_disable=on) or full'

dmesg | grep -F "kmemtrace: kmemtrace.stacks=yes has no effect: $reason; tracing without stacks" ||
	fail "no message about the stacks at boot"
[ "$(cat $kmt/enabled)" = 1 ] || fail "tracing is not on"
[ "$(cat $kmt/record_size)" = 64 ] || fail "record_size is $(cat $kmt/record_size)"
[ ! -e $kmt/stacks ] || fail "there is a table of stacks"
grep -Fx "# stacks: off, $reason" $kmt/info || fail "info does not say why"
daemon_start /out/capture
work 1
daemon_stop
grep -F "kmemtraced: warning: the records have no stacks, although the kernel was booted with kmemtrace.stacks=yes: $reason" \
	/out/capture.log || fail "kmemtraced does not warn"
kmemtrace-check -q /out/capture || fail "kmemtrace-check: $?"
