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
	vm/faulty/Kbuild \
	vm/faulty/kmt_faulty.c \
	vm/gap/Kbuild \
	vm/gap/kmt_gap.c \
	vm/guest/init \
	vm/guest/lib.sh \
	vm/scenarios/boot-capture.sh \
	vm/scenarios/ctrl-c.sh \
	vm/scenarios/disk-full.sh \
	vm/scenarios/ftrace.sh \
	vm/scenarios/gap.sh \
	vm/scenarios/hello.sh \
	vm/scenarios/hotplug.sh \
	vm/scenarios/kill-restart.sh \
	vm/scenarios/loss.sh \
	vm/scenarios/parameters.sh \
	vm/scenarios/questions.sh \
	vm/scenarios/reconcile.sh \
	vm/scenarios/tail.sh \
	vm/scenarios/toggle.sh \
	vm/storm/Kbuild \
	vm/storm/kmt_storm.c \
	vm/witness/Kbuild \
	vm/witness/kmt_witness.c
