#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=dash
# The tests that the kernel patches bring along: the KUnit tests, which have run at
# boot, and the selftest. Boot a kernel with the fragments kunit and cgroups, without
# kmemtrace.enable, and with the program of vm/selftest:
# vm/run --file DIR/kmemtrace_test
# shellcheck source-path=SCRIPTDIR source=../guest/lib.sh
. /lib.sh

# --- KUnit ----------------------------------------------------------------------------

dmesg >/out/dmesg
# Keep the lines of the suites of kmemtrace, without the time of the log. Linux 6.1
# prints "ok 1 - NAME", later kernels "ok 1 NAME".
sed -n 's/^\[[^]]*\] //; s/\(ok [0-9]*\) - /\1 /
	/# Subtest: kmemtrace/,/^ *\(not \)\?ok [0-9]* kmemtrace_[a-z]*\( .*\)\?$/p' \
	/out/dmesg >/out/kunit
grep -E 'ok [0-9]+ kmemtrace_' /out/kunit
# Each suite has passed, and as many of its tests as it has announced.
for suite in parse write count cgroups; do
	grep -qE "^ok [0-9]+ kmemtrace_$suite\$" /out/kunit ||
		fail "KUnit: kmemtrace_$suite"
done
announced=$(sed -n 's/^ *1\.\.\([0-9]*\)$/\1/p' /out/kunit |
	awk '{ n += $1 } END { print n + 0 }')
passed=$(grep -cE '^ +ok [0-9]+ kmemtrace_test_[a-z_]+$' /out/kunit)
if [ "$passed" = 0 ] || [ "$passed" != "$announced" ]; then
	fail "KUnit: $passed of $announced tests passed"
fi
echo "KUnit: $passed of $announced tests passed"

# --- Selftest -------------------------------------------------------------------------

settings()
{
	(cd $kmt && grep -H . enabled mode subbufs subbuf_size filter \
		events/kmalloc/enabled snapshot/take)
}

settings >/tmp/before
status=0
/files/kmemtrace_test >/out/selftest || status=$?
cat /out/selftest
[ "$status" = 0 ] || fail "the selftest ended with $status"
settings >/tmp/after
cmp -s /tmp/before /tmp/after || fail "the selftest has changed a setting"

# Tracing is on: the test must not disturb it.
echo 1 >$kmt/enabled
status=0
/files/kmemtrace_test || status=$?
[ "$status" = 4 ] || fail "the selftest ended with $status, not 4"
[ "$(cat $kmt/enabled)" = 1 ] || fail "the selftest switched tracing off"
echo 0 >$kmt/enabled

# A kernel without kmemtrace.
mount -t tmpfs none /sys/kernel || fail "cannot hide /sys/kernel"
status=0
/files/kmemtrace_test || status=$?
umount /sys/kernel
[ "$status" = 4 ] || fail "without kmemtrace it ended with $status, not 4"
