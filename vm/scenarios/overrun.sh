#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A buffer that is too small: the events lost are counted exactly. Boot with
# kmemtrace.enable=no and small buffers. The module kmt_count counts by probes of
# its own between two marks on each CPU, and the hole lies between these.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# mark CPU BYTES
mark()
{
	taskset "$(printf %x $((1 << $1)))" sh -c "echo $2 >/proc/kmt_count"
}

symbol()
{
	sed -n "s/^\([0-9a-f]*\) . $1\$/0x\1/p" /proc/kallsyms
}

insmod /modules/kmt_storm.ko || fail "no storm module"
insmod /modules/kmt_count.ko wrapper_start="$(symbol __kmemtrace_text_start)" \
	wrapper_end="$(symbol __kmemtrace_text_end)" || fail "no count module"

# Nobody reads yet, so what does not fit is lost: here, nothing.
echo 1 >$kmt/enabled
mark 0 3001
mark 1 3001
[ "$(total_overruns)" = 0 ] || fail "events were lost before the storm"
storm 0 20000
storm 1 30000
lost=$(total_overruns)
[ "$lost" -gt 0 ] || fail "the storm lost nothing: the buffers are too large"

# With a reader there is room, and recording goes on.
daemon_start /out/capture
wait_until 10 grep -q 'cpu1 [1-9]' $kmt/consumed || fail "nothing was read"
usleep 500000
before=$(total_overruns)
mark 0 3002
mark 1 3002
cat /proc/kmt_count >/out/marks
usleep 500000
daemon_stop
cat $kmt/overruns | tee /out/overruns
total_overruns | tee /out/total_overruns
[ "$(cat /out/total_overruns)" = "$before" ] ||
	fail "events were lost although there was room"
