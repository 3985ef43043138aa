#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Work recorded on an unmodified kernel by the source bpf. tests/vm/bpf.py judges the
# capture.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

kmemtraced -s bpf -D /out/capture >/out/capture.log 2>&1 &
daemon=$!
capture=/out/capture
wait_until 60 test -s /out/capture/cpu1.out || {
	cat /out/capture.log
	fail "kmemtraced -s bpf records nothing"
}
work 1
# CPU 1 goes offline and online during the recording.
echo 0 >/sys/devices/system/cpu/cpu1/online
work_files /tmp 5
echo 1 >/sys/devices/system/cpu/cpu1/online
work_processes 5
daemon_stop

# A kill leaves whole records.
kmemtraced -s bpf -D /out/killed >/out/killed.log 2>&1 &
daemon=$!
wait_until 60 test -s /out/killed/cpu1.out || fail "the second kmemtraced records nothing"
work_processes 2
daemon_kill
