#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A short boot for kmemtrace-report --diff, in which vm/faulty causes one fault. Boot with
# kmemtrace.enable=yes; the word kmt_fault=NAME of the command line is leak, waste,
# spike, or none. A kernel without modules causes none.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# fault COMMAND: let the module cause a fault.
fault()
{
	echo "$1" >/proc/kmt_faulty || fail "vm/faulty refuses: $1"
}

name=$(sed -n 's/.*kmt_fault=\([a-z]*\).*/\1/p' /proc/cmdline)
daemon_start /out/capture
[ ! -e /modules/kmt_faulty.ko ] || insmod /modules/kmt_faulty.ko ||
	fail "cannot load the module"
echo fault >$kmt/marker || fail "cannot write the marker line"
case $name in
leak) fault "leak 2000" ;;
# Small parts, so that the frames do not raise the peak.
waste)
	i=0
	while [ $i -lt 20 ]; do
		fault "waste 100"
		i=$((i + 1))
	done ;;
spike) fault "spike 8" ;;
none) ;;
*) fail "kmt_fault is '$name', not leak, waste, spike, or none" ;;
esac
work 1
echo booted >$kmt/marker || fail "cannot write the marker line"
daemon_stop
total_overruns >/out/total_overruns
