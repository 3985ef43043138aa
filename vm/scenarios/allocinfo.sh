#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A capture from boot, and /proc/allocinfo of a moment in it, for
# tests/vm/allocinfo.py. Boot with kmemtrace.enable=yes and early_page_ext.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

[ -e /proc/allocinfo ] || fail "the kernel does not profile allocations"
daemon_start /out/capture
work 2
sync

# Between the marks, little else than the reading of the file allocates memory: cat
# is running already and waits for the other end of the pipe.
mkfifo /tmp/begin
cat /tmp/begin /proc/allocinfo >/tmp/allocinfo &
reader=$!
sleep 1
echo allocinfo_begin >$kmt/marker
echo >/tmp/begin
wait "$reader" || fail "cannot read /proc/allocinfo"
echo allocinfo_end >$kmt/marker

cp /tmp/allocinfo /out/allocinfo
nproc >/out/nproc
daemon_stop
total_overruns | tee /out/total_overruns
