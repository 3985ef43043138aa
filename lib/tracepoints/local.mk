# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/tracepoints/libtracepoints.a
lib_tracepoints_libtracepoints_a_SOURCES = \
	lib/tracepoints/inner-functions.c lib/tracepoints/inner-functions.h \
	lib/tracepoints/kmalloc-pairs.c lib/tracepoints/kmalloc-pairs.h \
	lib/tracepoints/kmem-events.c lib/tracepoints/kmem-events.h \
	lib/tracepoints/learned-names.c lib/tracepoints/learned-names.h \
	lib/tracepoints/ring-event.h \
	lib/tracepoints/task-events.c lib/tracepoints/task-events.h \
	lib/tracepoints/tracepoint-format.c lib/tracepoints/tracepoint-format.h
lib_tracepoints_libtracepoints_a_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS)
EXTRA_DIST += lib/tracepoints/README.md
