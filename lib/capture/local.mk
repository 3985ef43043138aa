# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/capture/libcapture.a
lib_capture_libcapture_a_SOURCES = \
	lib/capture/capture-writer.c lib/capture/capture-writer.h \
	lib/capture/cpu-file-writer.c lib/capture/cpu-file-writer.h \
	lib/capture/directory.c lib/capture/directory.h \
	lib/capture/error.c lib/capture/error.h \
	lib/capture/meta.c lib/capture/meta.h \
	lib/capture/names.c lib/capture/names.h \
	lib/capture/owner.c lib/capture/owner.h \
	lib/capture/replace.c lib/capture/replace.h \
	lib/capture/stream-format.h \
	lib/capture/stream-writer.c lib/capture/stream-writer.h \
	lib/capture/subbufs.c lib/capture/subbufs.h \
	lib/capture/sync.c lib/capture/sync.h
lib_capture_libcapture_a_CFLAGS = $(AM_CFLAGS)
EXTRA_DIST += lib/capture/README.md
