#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Takes each way through the allocators under tracing; tests/vm/gap.py compares
# the capture with what the module printed. Then sessions with events in NMI context,
# which must be counted as lost and nothing else. With 5 GB of memory and
# hugetlb_cma=1G there are gigantic pages and a CMA area.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# huge KB COUNT: allocate huge pages of this size for hugetlb, and free them.
huge()
{
	local pool=/sys/kernel/mm/hugepages/hugepages-$1kB/nr_hugepages n
	[ -e "$pool" ] || return 0
	echo "$2" >"$pool"
	n=$(cat "$pool")
	echo 0 >"$pool"
	[ "$n" != 0 ] || {
		echo "kmt_gap: no huge page of $1 kB was free"
		return 0
	}
	echo "kmt_gap: huge $(($1 * 1024)) $n"
}

# counted STATEMENT NAME: print the statement with a counter of the page allocator. A
# kernel without the feature has no such counter.
counted()
{
	awk -v statement="$1" -v name="$2" '
		$1 == name { print "kmt_gap: " statement " " $2; found = 1 }
		END { if (!found) print "kmt_gap: no counter " name }' /proc/vmstat
}

# Split huge folios of tmpfs by truncating files in their middle.
split_folios()
{
	local i=0
	mount -t tmpfs -o huge=always none /mnt || return 0
	while [ $i -lt 5 ]; do
		dd if=/dev/zero of=/mnt/$i bs=2M count=1 2>/dev/null
		truncate -s 1028K /mnt/$i
		i=$((i + 1))
	done
	rm /mnt/*
	umount /mnt
}

# Migrate the folios of the page cache by compaction, after every other file is gone.
migrate_folios()
{
	local i=0
	mount -t tmpfs none /mnt || return 0
	while [ $i -lt 400 ]; do
		echo $i >/mnt/$i
		i=$((i + 1))
	done
	rm /mnt/*[02468]
	echo 1 >/proc/sys/vm/compact_memory
	rm /mnt/*
	umount /mnt
}

# With the word kmt_bpf on the command line, the source bpf records the work.
bpf=
! grep -qw kmt_bpf /proc/cmdline || bpf=yes

if [ -n "$bpf" ]; then
	bpf_start /out/capture --keep-own -b 65536
else
	daemon_start /out/capture
fi
gap_load
{
	huge 2048 4
	huge 1048576 1
	split_folios
	migrate_folios
} >/tmp/statements
gap_finish
counted split thp_split_page >>/tmp/statements
counted migrated pgmigrate_success >>/tmp/statements
if [ -n "$bpf" ]; then
	bpf_stop
	grep -q ', 0 events lost' "$bpf_capture.log" || fail "events were lost"
else
	daemon_stop
	[ "$(total_overruns)" = 0 ] || fail "events were lost"
fi
dmesg >/out/gap.log
cat /tmp/statements >>/out/gap.log
stacks_are_right
rmmod kmt_gap

[ "$(uname -m)" = x86_64 ] && [ -z "$bpf" ] || exit 0
# nmi NAME OPTION...: record events in NMI context, which the module counts.
nmi()
{
	local name=$1 least most lost
	shift
	dmesg -c >/dev/null
	daemon_start "/out/$name"
	insmod /modules/kmt_gap.ko "$@" || fail "no NMI could be sent"
	rmmod kmt_gap
	daemon_stop
	dmesg | sed -n 's/.*kmt_gap: lost //p' >/tmp/counts
	read -r least most </tmp/counts
	# With KASAN the allocators also need pages for slabs and stacks in an NMI.
	! grep -q ' kasan_report$' /proc/kallsyms || most=$((most + most / 10))
	lost=$(total_overruns)
	echo "$name: events in NMI context: $least to $most, overruns: $lost"
	if [ "$least" = 0 ] || [ "$lost" -lt "$least" ] || [ "$lost" -gt "$most" ]; then
		fail "events in NMI context are miscounted"
	fi
}

nmi nmi nmi_events=50
nmi nmi-storm nmi_events=500 nmi_storm=1
