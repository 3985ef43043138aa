#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# An unmodified kernel that is too old for the source bpf: kmemtraced records from the
# tracepoints, and names the reason.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

reason='the tracepoints of this kernel have other arguments than those since Linux 6.1'

mount -t tracefs none /sys/kernel/tracing || fail "no tracefs"
kmemtraced -w 2 -D /out/capture >/out/capture.log 2>&1 || fail "$(cat /out/capture.log)"
cat /out/capture.log
grep -q "(source ftrace, .*) instead of BPF programs, because $reason" /out/capture.log ||
	fail "another source, or no reason"
! kmemtraced -s bpf -w 2 -D /out/refused >/out/refused.log 2>&1 ||
	fail "the source bpf records"
cat /out/refused.log
grep -q "$reason; record the tracepoints of this kernel with -s ftrace" /out/refused.log ||
	fail "no reason"
