#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# A capture from boot of work that leaves partly empty slabs, for
# tests/vm/slab-simulator.py: two processes make files, each removes a part of those
# of the other, and the directory entries and inodes of the rest stay.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

files=4000

make_files()
{
	local i=0
	mkdir -p "/tmp/$1"
	while [ $i -lt $files ]; do
		: >"/tmp/$1/$i"
		i=$((i + 1))
	done
}

# Keep every third file.
remove_files()
{
	local i=0
	while [ $i -lt $files ]; do
		[ $((i % 3)) = 0 ] || rm "/tmp/$1/$i"
		i=$((i + 1))
	done
}

[ "$(cat $kmt/enabled)" = 1 ] || fail "tracing is not on"
daemon_start /out/capture
make_files a &
make_files b
wait $!
remove_files b &
remove_files a
wait $!
work 1
daemon_stop
total_overruns | tee /out/total_overruns
