# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	vm/README.md \
	vm/apt.sh \
	vm/build \
	vm/bufread/bufread.c \
	vm/lib.sh \
	vm/run \
	vm/source \
	vm/config \
	vm/count/Kbuild \
	vm/count/kmt_count.c \
	vm/failnth/failnth.c \
	vm/faulty/Kbuild \
	vm/faulty/kmt_faulty.c \
	vm/include \
	vm/gap/Kbuild \
	vm/gap/kmt_gap.h \
	vm/gap/kmt_gap_contexts.c \
	vm/gap/kmt_gap_main.c \
	vm/gap/kmt_gap_pages.c \
	vm/gap/kmt_gap_percpu.c \
	vm/gap/kmt_gap_slab.c \
	vm/gap/kmt_gap_vmalloc.c \
	vm/nested/Kbuild \
	vm/nested/kmt_nested.c \
	vm/snapshot/Kbuild \
	vm/snapshot/kmt_snapshot.c \
	vm/relay/Kbuild \
	vm/relay/kmt_relay.c \
	vm/guest \
	vm/scenarios \
	vm/storm/Kbuild \
	vm/storm/kmt_storm.c \
	vm/texec/texec.c \
	vm/witness/Kbuild \
	vm/witness/kmt_witness.c
