# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += \
	kernel-patches/apply \
	kernel-patches/6.1/0001-mm-add-the-kernel-memory-tracer.patch \
	kernel-patches/6.1/0002-mm-page_alloc-trace-pages-for-the-caller.patch \
	kernel-patches/6.1/0003-mm-mempolicy-trace-pages-for-the-caller.patch \
	kernel-patches/6.1/0004-mm-huge_memory-trace-the-split-of-a-huge-page.patch \
	kernel-patches/6.1/0005-mm-slab_common-trace-krealloc-in-place.patch \
	kernel-patches/6.1/0006-mm-slub-trace-bulk-operations.patch \
	kernel-patches/6.1/0007-mm-slab-trace-bulk-operations.patch \
	kernel-patches/6.1/0008-mm-slob-trace-the-caller-of-bulk-operations.patch \
	kernel-patches/6.1/0009-mm-slab_common-tell-of-caches.patch \
	kernel-patches/6.1/0010-exit-tell-of-the-end-of-a-task.patch \
	kernel-patches/6.1/0011-mm-percpu-trace-per-CPU-memory.patch \
	kernel-patches/6.1/0012-mm-vmalloc-trace-vmalloc.patch \
	kernel-patches/6.1/0014-mm-oom_kill-tell-kmemtrace-before-a-kill.patch \
	kernel-patches/6.1/0015-mm-page_alloc-tell-kmemtrace-of-a-failure.patch \
	kernel-patches/core/Documentation/ABI/testing/debugfs-kmemtrace \
	kernel-patches/core/Documentation/mm/kmemtrace.rst \
	kernel-patches/core/include/linux/kmemtrace.h \
	kernel-patches/core/include/trace/events/kmemtrace.h \
	kernel-patches/core/mm/kmemtrace.c \
	kernel-patches/core/mm/kmemtrace_compat.h \
	kernel-patches/core/mm/kmemtrace_debugfs.c \
	kernel-patches/core/mm/kmemtrace_held.c \
	kernel-patches/core/mm/kmemtrace_held.h \
	kernel-patches/core/mm/kmemtrace_hooks.c \
	kernel-patches/core/mm/kmemtrace_internal.h \
	kernel-patches/core/mm/kmemtrace_params.c \
	kernel-patches/core/mm/kmemtrace_snapshot.c \
	kernel-patches/core/mm/kmemtrace_tables.c \
	kernel-patches/core/mm/kmemtrace_trigger.c \
	kernel-patches/core/mm/kmemtrace_writer.c
