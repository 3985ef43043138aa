#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The table tags: a module that is unloaded and loaded again, a new session, and
# profiling that is switched off and on. Needs the module vm/storm.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

lines="kmt_storm [0-9]* storm_write kmt_storm.c"

# expect WHAT LOADED UNLOADED: compare the numbers of lines of the module.
expect()
{
	local loaded unloaded
	loaded=$(grep -c "^[0-9a-f]* - $lines\$" "$kmt/tags")
	unloaded=$(grep -c "^[0-9a-f]* [0-9][0-9]* $lines\$" "$kmt/tags")
	echo "$1: $loaded loaded, $unloaded unloaded"
	if [ "$loaded" != "$2" ] || [ "$unloaded" != "$3" ]; then
		fail "$1: expected $2 loaded, $3 unloaded"
	fi
}

daemon_start /out/capture
expect "before the module" 0 0
storm 0 100
expect "with the module" 1 0
rmmod kmt_storm
expect "after the module" 0 1
storm 1 100
expect "with the module again" 1 1
rmmod kmt_storm
expect "after the module again" 0 2
daemon_stop
kmemtrace-report -q --csv --by callsite --callsite storm_write --lines 0 \
	--fields allocs /out/capture >/tmp/csv || fail "no report"
tr -d '\r' </tmp/csv >/tmp/sites
# The two loads may have had different addresses, and then have a line each.
awk -F, '/^kmalloc,storm_write(\+0x[0-9a-f]*)? \[kmt_storm\] kmt_storm\.c:[0-9]+,/ { n += $3 }
	END { exit n != 200 }' /tmp/sites || {
	cat /tmp/sites
	fail "the report does not name the unloaded module"
}

echo 0 >/proc/sys/vm/mem_profiling
echo 1 >"$kmt/enabled"
expect "a new session" 0 0
storm 0 100
expect "without profiling" 0 0
echo 1 >/proc/sys/vm/mem_profiling
storm 0 100
expect "with profiling" 1 0
for i in 1 2 3 4 5 6 7 8 9 10; do
	rmmod kmt_storm
	storm 0 10
	expect "loaded $i times more" 1 "$i"
done
grep -qx '# dropped: 0' "$kmt/tags" || fail "the table was full"
