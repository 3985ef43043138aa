# SPDX-License-Identifier: GPL-2.0-or-later
KMEMTRACED_TESTS = \
	tests/kmemtraced/boot-initramfs.py \
	tests/kmemtraced/boot-kernels.py \
	tests/kmemtraced/boot-package.py \
	tests/kmemtraced/boot-scripts.py \
	tests/kmemtraced/buffers.py \
	tests/kmemtraced/command.py \
	tests/kmemtraced/compress-random.py \
	tests/kmemtraced/compress.py \
	tests/kmemtraced/directory-errors.py \
	tests/kmemtraced/directory-owner.py \
	tests/kmemtraced/directory.py \
	tests/kmemtraced/filter.py \
	tests/kmemtraced/ftrace-names.py \
	tests/kmemtraced/ftrace-pairs.py \
	tests/kmemtraced/ftrace-refused.py \
	tests/kmemtraced/ftrace.py \
	tests/kmemtraced/initramfs.py \
	tests/kmemtraced/manual.py \
	tests/kmemtraced/obstacles.py \
	tests/kmemtraced/record.py \
	tests/kmemtraced/resource-errors.py \
	tests/kmemtraced/signals.py \
	tests/kmemtraced/snapshot.py \
	tests/kmemtraced/start-errors.py \
	tests/kmemtraced/stream.py \
	tests/kmemtraced/writing.py
TESTS += $(KMEMTRACED_TESTS)
EXTRA_DIST += $(KMEMTRACED_TESTS)

# On the kernel of this machine; not in make check.
EXTRA_DIST += tests/kmemtraced/bpf-live.py tests/kmemtraced/ftrace-live.py

check_PROGRAMS += tests/kmemtraced/shim.so
tests_kmemtraced_shim_so_SOURCES = \
	tests/kmemtraced/shim-directories.c \
	tests/kmemtraced/shim-files.c \
	tests/kmemtraced/shim-ring.c \
	tests/kmemtraced/shim.c \
	tests/kmemtraced/shim.h
tests_kmemtraced_shim_so_CFLAGS = $(KMT_WARN_CFLAGS) -fPIC
tests_kmemtraced_shim_so_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_shim_so_LDFLAGS = -shared
tests_kmemtraced_shim_so_LDADD = -ldl

check_PROGRAMS += tests/kmemtraced/zstd-dump
tests_kmemtraced_zstd_dump_SOURCES = tests/kmemtraced/zstd-dump.c
tests_kmemtraced_zstd_dump_CFLAGS = $(AM_CFLAGS) $(LIBZSTD_CFLAGS)
tests_kmemtraced_zstd_dump_LDADD = lib/base/libbase.a $(GMODULE_LIBS) $(GLIB_LIBS)

check_PROGRAMS += tests/kmemtraced/zstd-sink-unit
tests_kmemtraced_zstd_sink_unit_SOURCES = tests/kmemtraced/zstd-sink-unit.c
tests_kmemtraced_zstd_sink_unit_CFLAGS = $(AM_CFLAGS) $(LIBZSTD_CFLAGS)
tests_kmemtraced_zstd_sink_unit_LDADD = $(KMT_CAPTURE_LIBS)
TESTS += tests/kmemtraced/zstd-sink-unit

check_PROGRAMS += tests/kmemtraced/initramfs-unit
tests_kmemtraced_initramfs_unit_SOURCES = \
	kmemtraced/initramfs.c lib/capture/error.c \
	tests/kmemtraced/initramfs-unit.c
tests_kmemtraced_initramfs_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_initramfs_unit_LDADD = $(GLIB_LIBS)
TESTS += tests/kmemtraced/initramfs-unit

check_PROGRAMS += tests/kmemtraced/stream-writer-unit
tests_kmemtraced_stream_writer_unit_SOURCES = \
	tests/kmemtraced/stream-writer-unit.c
tests_kmemtraced_stream_writer_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_stream_writer_unit_LDADD = $(KMT_CAPTURE_LIBS)
TESTS += tests/kmemtraced/stream-writer-unit

check_PROGRAMS += tests/kmemtraced/summary-unit
tests_kmemtraced_summary_unit_SOURCES = \
	kmemtraced/summary.c tests/kmemtraced/summary-unit.c
tests_kmemtraced_summary_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_summary_unit_LDADD = $(KMT_CAPTURE_LIBS) $(KMT_CLI_LIBS)
TESTS += tests/kmemtraced/summary-unit

check_PROGRAMS += tests/kmemtraced/task-cgroups-unit
tests_kmemtraced_task_cgroups_unit_SOURCES = \
	kmemtraced/cgroup-paths.c kmemtraced/proc-tasks.c \
	kmemtraced/task-cgroups.c lib/capture/error.c \
	tests/kmemtraced/task-cgroups-unit.c
tests_kmemtraced_task_cgroups_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_task_cgroups_unit_LDADD = $(KMT_TRACEPOINTS_LIBS) $(GLIB_LIBS)
TESTS += tests/kmemtraced/task-cgroups-unit

check_PROGRAMS += tests/kmemtraced/filter-text-unit
tests_kmemtraced_filter_text_unit_SOURCES = \
	lib/capture/error.c kmemtraced/filter-text.c \
	tests/kmemtraced/filter-text-unit.c
tests_kmemtraced_filter_text_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_filter_text_unit_LDADD = $(GLIB_LIBS)
TESTS += tests/kmemtraced/filter-text-unit

# The reader of ring buffer pages, for its unit tests.
KMT_RING_SOURCES = \
	lib/capture/error.c kmemtraced/self-filter.c kmemtraced/ring-format.c \
	kmemtraced/ring-page.c kmemtraced/proc-tasks.c kmemtraced/task-names.c
KMT_RING_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS)
KMT_RING_LIBS = $(KMT_TRACEPOINTS_LIBS) $(GLIB_LIBS)
KMT_RING_TESTS = tests/kmemtraced/ring-format-unit tests/kmemtraced/ring-page-unit
check_PROGRAMS += $(KMT_RING_TESTS)
TESTS += $(KMT_RING_TESTS)
tests_kmemtraced_ring_page_unit_SOURCES = $(KMT_RING_SOURCES) \
	tests/kmemtraced/ring-page-fixture.c \
	tests/kmemtraced/ring-page-fixture.h \
	tests/kmemtraced/ring-page-unit.c
tests_kmemtraced_ring_page_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_ring_page_unit_CFLAGS = $(KMT_RING_CFLAGS)
tests_kmemtraced_ring_page_unit_LDADD = $(KMT_RING_LIBS)
tests_kmemtraced_ring_format_unit_SOURCES = $(KMT_RING_SOURCES) \
	tests/kmemtraced/ring-format-unit.c
tests_kmemtraced_ring_format_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_ring_format_unit_CFLAGS = $(KMT_RING_CFLAGS)
tests_kmemtraced_ring_format_unit_LDADD = $(KMT_RING_LIBS)
