# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/input/libinput.a
lib_input_libinput_a_SOURCES = \
	lib/input/archive.c lib/input/archive.h \
	lib/input/byte-stream.c lib/input/byte-stream.h \
	lib/input/capture.c lib/input/capture.h \
	lib/input/capture-meta.c \
	lib/input/capture-private.h \
	lib/input/cpu-file.c \
	lib/input/frame-index.c lib/input/frame-index.h \
	lib/input/frame-pool.c lib/input/frame-pool.h \
	lib/input/frame-queue.c lib/input/frame-queue.h \
	lib/input/frames.c lib/input/frames.h \
	lib/input/input-error.c \
	lib/input/layout.c lib/input/layout.h \
	lib/input/libarchive.c lib/input/libarchive.h \
	lib/input/mark-text.c \
	lib/input/mark-reader.c lib/input/mark-reader.h \
	lib/input/name-tables.c lib/input/name-tables.h \
	lib/input/name-tables-private.h lib/input/name-table-lines.c \
	lib/input/namespace.h \
	lib/input/open.c \
	lib/input/open-file.c \
	lib/input/operands.c \
	lib/input/record.c \
	lib/input/record-format.c \
	lib/input/record-head.h \
	lib/input/record-reader.c lib/input/record-reader.h \
	lib/input/record-stream.c lib/input/record-stream.h \
	lib/input/shared-buffer.c lib/input/shared-buffer.h \
	lib/input/slab-table.c lib/input/slab-table.h \
	lib/input/spool.c lib/input/spool.h \
	lib/input/tag-table.c lib/input/tag-table.h \
	lib/input/tar.c
lib_input_libinput_a_CFLAGS = $(AM_CFLAGS) $(LIBARCHIVE_CFLAGS) $(LIBZSTD_CFLAGS) \
	$(GMODULE_CFLAGS)
EXTRA_DIST += lib/input/README.md
