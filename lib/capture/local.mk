# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/capture/libcapture.a
lib_capture_libcapture_a_SOURCES = \
	lib/capture/capture-writer.c lib/capture/capture-writer.h \
	lib/capture/cpu-file-writer.c lib/capture/cpu-file-writer.h \
	lib/capture/cpu-sink.h \
	lib/capture/direct-file.c lib/capture/direct-file.h \
	lib/capture/directory.c lib/capture/directory.h \
	lib/capture/error.c lib/capture/error.h \
	lib/capture/locked-buffer.c lib/capture/locked-buffer.h \
	lib/capture/meta.c lib/capture/meta.h \
	lib/capture/names.c lib/capture/names.h \
	lib/capture/owner.c lib/capture/owner.h \
	lib/capture/replace.c lib/capture/replace.h \
	lib/capture/stream-format.h \
	lib/capture/stream-writer.c lib/capture/stream-writer.h \
	lib/capture/subbufs.c lib/capture/subbufs.h \
	lib/capture/sync.c lib/capture/sync.h \
	lib/capture/zstd-cpu-file.c lib/capture/zstd-cpu-file.h \
	lib/capture/zstd-encoder.c lib/capture/zstd-encoder.h \
	lib/capture/zstd-file.c lib/capture/zstd-file.h \
	lib/capture/zstd-sink.c lib/capture/zstd-sink.h
lib_capture_libcapture_a_CFLAGS = $(AM_CFLAGS) $(LIBZSTD_CFLAGS)
EXTRA_DIST += lib/capture/README.md
