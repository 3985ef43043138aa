# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/addrset.c trace/addrset.h \
	trace/archive.c trace/archive.h \
	trace/bytes.c trace/bytes.h \
	trace/cells.c trace/cells.h \
	trace/capture.c trace/capture.h trace/capture-private.h \
	trace/format.c \
	trace/hash.c trace/hash.h \
	trace/intern.c trace/intern.h \
	trace/layout.c trace/layout.h \
	trace/libarchive.c trace/libarchive.h \
	trace/marks.c trace/marks.h trace/marktext.c \
	trace/match.c trace/match.h trace/match-private.h \
	trace/meta.c \
	trace/module.c trace/module.h \
	trace/merge.c trace/merge.h \
	trace/objtable.c trace/objtable.h \
	trace/operands.c \
	trace/outlet.h \
	trace/pipeline.c trace/pipeline.h \
	trace/source.c trace/source.h \
	trace/space.h \
	trace/spool.c trace/spool.h \
	trace/stream.c trace/stream.h \
	trace/surplus.c \
	trace/tables.c trace/tables.h \
	trace/tar.c
trace_libtrace_a_CFLAGS = $(AM_CFLAGS) $(LIBARCHIVE_CFLAGS) $(GMODULE_CFLAGS)
# What programs that have trace/ in them are linked with.
KMT_TRACE_LIBS = lib/capture/libcapture.a $(GMODULE_LIBS) $(GLIB_LIBS)
