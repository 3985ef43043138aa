# SPDX-License-Identifier: GPL-2.0-or-later
sbin_PROGRAMS += kmemtraced/kmemtraced
kmemtraced_kmemtraced_SOURCES = \
	kmemtraced/control.c kmemtraced/control.h \
	kmemtraced/error.c kmemtraced/error.h \
	kmemtraced/guard.c kmemtraced/guard.h \
	kmemtraced/live.c kmemtraced/live.h \
	kmemtraced/main.c \
	kmemtraced/meta.c kmemtraced/meta.h \
	kmemtraced/output.c kmemtraced/output.h \
	kmemtraced/reader.c kmemtraced/reader.h \
	kmemtraced/session.c kmemtraced/session.h \
	kmemtraced/sink.c kmemtraced/sink.h \
	kmemtraced/summary.c kmemtraced/summary.h
kmemtraced_kmemtraced_CFLAGS = $(AM_CFLAGS) -pthread
kmemtraced_kmemtraced_LDFLAGS = $(AM_LDFLAGS) -pthread
kmemtraced_kmemtraced_LDADD = cli/libcli.a $(GLIB_LIBS)
