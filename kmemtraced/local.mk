# SPDX-License-Identifier: GPL-2.0-or-later
sbin_PROGRAMS += kmemtraced/kmemtraced
kmemtraced_kmemtraced_SOURCES = \
	kmemtraced/command.c kmemtraced/command.h \
	kmemtraced/control.c kmemtraced/control.h \
	kmemtraced/error.c kmemtraced/error.h \
	kmemtraced/directory.c kmemtraced/directory.h \
	kmemtraced/ftrace.c \
	kmemtraced/guard.c kmemtraced/guard.h \
	kmemtraced/info.c kmemtraced/info.h \
	kmemtraced/instance.c kmemtraced/instance.h \
	kmemtraced/interference.c kmemtraced/interference.h \
	kmemtraced/live.c kmemtraced/live.h \
	kmemtraced/main.c \
	kmemtraced/mapping.c kmemtraced/mapping.h \
	kmemtraced/meta.c kmemtraced/meta.h \
	kmemtraced/output.c kmemtraced/output.h \
	kmemtraced/owner.c kmemtraced/owner.h \
	kmemtraced/ownset.c kmemtraced/ownset.h \
	kmemtraced/reader.c kmemtraced/reader.h \
	kmemtraced/relay.c \
	kmemtraced/replace.c kmemtraced/replace.h \
	kmemtraced/ringformat.c kmemtraced/ringformat.h \
	kmemtraced/ringpage.c kmemtraced/ringpage.h \
	kmemtraced/session.c kmemtraced/session.h \
	kmemtraced/signals.c kmemtraced/signals.h \
	kmemtraced/sink.c kmemtraced/sink.h \
	kmemtraced/snapshot.c kmemtraced/snapshot.h \
	kmemtraced/source.c kmemtraced/source.h \
	kmemtraced/summary.c kmemtraced/summary.h \
	kmemtraced/tables.c kmemtraced/tables.h \
	kmemtraced/tasknames.c kmemtraced/tasknames.h
kmemtraced_kmemtraced_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS) -pthread
kmemtraced_kmemtraced_LDFLAGS = $(AM_LDFLAGS) -pthread
kmemtraced_kmemtraced_LDADD = tracepoints/libtracepoints.a \
	cli/libcli.a lib/capture/libcapture.a $(TRACEEVENT_LIBS) $(GLIB_LIBS)
