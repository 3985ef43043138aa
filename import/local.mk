# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += import/kmemtrace-import
import_kmemtrace_import_SOURCES = \
	import/bytes.h \
	import/ctf.c \
	import/import.c import/import.h \
	import/main.c \
	import/symbols.c import/symbols.h \
	import/tracedat.c \
	kmemtraced/control.c kmemtraced/control.h \
	kmemtraced/error.c kmemtraced/error.h \
	kmemtraced/meta.c kmemtraced/meta.h \
	kmemtraced/output.c kmemtraced/output.h \
	kmemtraced/sink.c kmemtraced/sink.h
# What needs a library.
KMT_IMPORT_PERF = \
	import/decode.c import/decode.h \
	import/perf.c \
	import/perfdata.c import/perfdata.h \
	import/perflayout.c import/perflayout.h
KMT_IMPORT_NO_PERF = import/noperf.c
KMT_IMPORT_CTF = import/ctffield.c import/ctffield.h
EXTRA_import_kmemtrace_import_SOURCES =
if TRACEEVENT
import_kmemtrace_import_SOURCES += $(KMT_IMPORT_PERF)
EXTRA_import_kmemtrace_import_SOURCES += $(KMT_IMPORT_NO_PERF)
else
import_kmemtrace_import_SOURCES += $(KMT_IMPORT_NO_PERF)
EXTRA_import_kmemtrace_import_SOURCES += $(KMT_IMPORT_PERF)
endif
if BABELTRACE2
import_kmemtrace_import_SOURCES += $(KMT_IMPORT_CTF)
else
EXTRA_import_kmemtrace_import_SOURCES += $(KMT_IMPORT_CTF)
endif
import_kmemtrace_import_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS) \
	$(TRACECMD_CFLAGS) $(BABELTRACE2_CFLAGS)
import_kmemtrace_import_LDADD = tracepoints/libtracepoints.a cli/libcli.a \
	$(TRACECMD_LIBS) $(TRACEEVENT_LIBS) $(BABELTRACE2_LIBS) $(GLIB_LIBS)
