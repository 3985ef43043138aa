#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Instructions of the operations of the slab allocator, for scripts/allocators. Boot by
# vm/run --icount --cpus 2 with kmemtrace.enable=no.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# Initialize the random pool now, so that the initialization does not disturb a
# measurement.
dd if=/dev/random of=/dev/null bs=32 count=1 2>/dev/null
insmod /modules/kmt_mixture.ko || fail "no module"
echo "cost 21" >/proc/kmt_mixture || fail "the module cannot measure"
sed 's/^/allocators-cost: /' /proc/kmt_mixture_cost
