#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# Calls of the slab allocator, whose instructions bench/profile.c counts for
# bench/allocators. Boot with kmemtrace.enable=no.
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

rounds=$(sed -n 's/^.*kmt_rounds=\([0-9]*\).*$/\1/p' /proc/cmdline)
# Initialize the random pool now, so that the initialization does not disturb a
# measurement.
dd if=/dev/random of=/dev/null bs=32 count=1 2>/dev/null
insmod /modules/kmt_mixture.ko || fail "no module"
echo "cost $rounds" >/proc/kmt_mixture || fail "the module cannot measure"
cp /proc/kmt_mixture_cost /out/runs
