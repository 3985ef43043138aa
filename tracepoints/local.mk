# SPDX-License-Identifier: GPL-2.0-or-later
# What kmemtraced and kmemtrace-import know of the kernel's tracepoints.
noinst_LIBRARIES += tracepoints/libtracepoints.a
tracepoints_libtracepoints_a_SOURCES = \
	tracepoints/format.c tracepoints/format.h \
	tracepoints/kmem.c tracepoints/kmem.h \
	tracepoints/names.c tracepoints/names.h \
	tracepoints/ringevent.h \
	tracepoints/task.c tracepoints/task.h
tracepoints_libtracepoints_a_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS)
