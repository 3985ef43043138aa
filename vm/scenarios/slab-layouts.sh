#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The layout of each cache of the kernel, as tests/slab/layouts-*.txt have it. Boot
# with slab_nomerge, so that each cache has a layout of its own.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# Print a number of a cache in sysfs, or "-" without the file. "48 (0x30)" and
# "30 objects" begin with the number.
number()
{
	local value=
	[ ! -e "$1" ] || read -r value _ <"$1"
	echo "${value:--}"
}

# name, arguments of kmem_cache_create(), and the layout: size, order, objects, limits
print_slub()
{
	local cache has_constructor
	for cache in /sys/kernel/slab/*; do
		[ ! -h "$cache" ] || continue
		has_constructor=0
		[ -z "$(cat "$cache/ctor")" ] || has_constructor=1
		echo "${cache##*/} $(number "$cache/object_size") \
$(number "$cache/align") $(number "$cache/hwcache_align") $has_constructor \
$(number "$cache/destroy_by_rcu") $(number "$cache/reclaim_account") \
$(number "$cache/slab_size") $(number "$cache/order") \
$(number "$cache/objs_per_slab") $(number "$cache/min_partial") \
$(number "$cache/cpu_partial") $(number "$cache/sheaf_capacity")"
	done
}

work 1
cat /proc/slabinfo >/out/slabinfo
cat $kmt/caches >/out/caches
allocator=slab
if [ -d /sys/kernel/slab ]; then
	allocator=slub
	print_slub >/out/layouts.body
fi
echo "# kernel: $(uname -r) $(uname -m) $allocator $(nproc)" >/out/layouts
[ ! -e /out/layouts.body ] || cat /out/layouts.body >>/out/layouts
