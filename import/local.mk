# SPDX-License-Identifier: GPL-2.0-or-later
bin_PROGRAMS += import/kmemtrace-import
import_kmemtrace_import_SOURCES = \
	import/byte-span.h \
	import/ctf.c \
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
# What needs a library.
KMT_IMPORT_PERF = \
	import/callers.c import/callers.h \
	import/datclock.c import/datclock.h \
	import/datfile.c import/datfile.h \
	import/datnames.c import/datnames.h \
	import/datoption.c import/datoption.h \
	import/datorder.c import/datorder.h \
	import/datpages.c import/datpages.h \
	import/datranges.c import/datranges.h \
	import/decode.c import/decode.h \
	import/perf.c \
	import/perfcommand.c import/perfcommand.h \
	import/perfdata.c import/perfdata.h \
	import/perfdesign.c import/perfdesign.h \
	import/perffile.c import/perffile.h \
	import/perflayout.c import/perflayout.h \
	import/stackqueue.c import/stackqueue.h \
	import/perfstream.c import/perfstream.h \
	import/perfzstd.c import/perfzstd.h \
	import/tracedat.c import/tracedat-private.h \
	import/tracedat-describe.c \
	import/unpack.c import/unpack.h
KMT_IMPORT_NO_PERF = import/noperf.c
KMT_IMPORT_CTF = import/ctffield.c import/ctffield.h \
	import/ctfmeta.c import/ctfmeta.h
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
import_kmemtrace_import_CFLAGS = $(AM_CFLAGS) $(GMODULE_CFLAGS) $(TRACEEVENT_CFLAGS) \
	$(LIBARCHIVE_CFLAGS) $(BABELTRACE2_CFLAGS)
import_kmemtrace_import_LDADD = $(KMT_TRACEPOINTS_LIBS) $(KMT_INPUT_LIBS) \
	$(KMT_CLI_LIBS) $(BABELTRACE2_LIBS)
EXTRA_DIST += import/README.md
