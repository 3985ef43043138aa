# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	vm/build \
	vm/lib.sh \
	vm/run \
	vm/config/base.config \
	vm/config/debug.config \
	vm/config/kmemtrace.config \
	vm/config/slab.config \
	vm/config/slob.config \
	vm/config/slub.config \
	vm/guest/init \
	vm/guest/lib.sh \
	vm/scenarios/boot-capture.sh \
	vm/scenarios/ctrl-c.sh \
	vm/scenarios/disk-full.sh \
	vm/scenarios/hello.sh \
	vm/scenarios/hotplug.sh \
	vm/scenarios/kill-restart.sh \
	vm/scenarios/tail.sh \
	vm/storm/Kbuild \
	vm/storm/kmt_storm.c
