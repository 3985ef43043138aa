# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += import/kmemtrace-import
import_kmemtrace_import_SOURCES = \
	import/byte-span.h \
	import/ctf-reader.c \
	import/functions.c import/functions.h \
	import/import.c import/import.h import/import-private.h \
	import/import-finish.c \
	import/import-records.c \
	import/input-file.c import/input-file.h \
	import/import-options.c import/import-options.h \
	import/main.c \
	import/import-stacks.c import/import-stacks.h \
	import/import-symbols.c import/import-symbols.h \
	import/watch.c import/watch.h
# Sources that are compiled only if configure found a library.
KMT_IMPORT_PERF = \
	import/callers.c import/callers.h \
	import/dat-clock.c import/dat-clock.h \
	import/dat-file.c import/dat-file.h \
	import/dat-names.c import/dat-names.h \
	import/dat-options.c import/dat-options.h \
	import/dat-page-order.c import/dat-page-order.h \
	import/dat-pages.c import/dat-pages.h \
	import/dat-cpu-ranges.c import/dat-cpu-ranges.h \
	import/decoder.c import/decoder.h \
	import/format-section.c import/format-section.h \
	import/perf-reader.c \
	import/perf-command.c import/perf-command.h \
	import/perf-data.c import/perf-data.h \
	import/perf-incomplete.c import/perf-incomplete.h \
	import/perf-file.c import/perf-file.h \
	import/perf-layout.c import/perf-layout.h \
	import/perf-parts.c import/perf-parts.h \
	import/stack-queue.c import/stack-queue.h \
	import/perf-stream.c import/perf-stream.h \
	import/perf-zstd.c import/perf-zstd.h \
	import/dat-reader.c import/dat-reader.h \
	import/dat-describe.c \
	import/unpack.c import/unpack.h
KMT_IMPORT_NO_PERF = import/no-libtraceevent.c
KMT_IMPORT_CTF = import/ctf-field.c import/ctf-field.h \
	import/ctf-graph.c import/ctf-graph.h \
	import/ctf-metadata.c import/ctf-metadata.h
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
import_kmemtrace_import_CFLAGS = $(AM_CFLAGS) $(LIBZSTD_CFLAGS) $(TRACEEVENT_CFLAGS) \
	$(LIBARCHIVE_CFLAGS) $(BABELTRACE2_CFLAGS)
import_kmemtrace_import_LDADD = $(KMT_TRACEPOINTS_LIBS) $(KMT_INPUT_LIBS) \
	$(KMT_CLI_LIBS) $(BABELTRACE2_LIBS)
EXTRA_DIST += import/README.md
