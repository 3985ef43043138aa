# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz/run builds these in a folder of its own, of configure --enable-fuzzing.
FUZZ_CONTAINER_SOURCES = \
	fuzz/container.c fuzz/container.h \
	fuzz/mutate.c
FUZZ_EXERCISE_SOURCES = \
	fuzz/exercise.c fuzz/exercise.h \
	fuzz/scratch.c fuzz/scratch.h \
	fuzz/target.h
FUZZ_COMPILE = $(AM_CFLAGS) $(JSON_CFLAGS)
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer

EXTRA_PROGRAMS = fuzz/input fuzz/kallsyms fuzz/match fuzz/perfdata fuzz/report \
	fuzz/trace
CLEANFILES += $(EXTRA_PROGRAMS)
fuzz_input_SOURCES = fuzz/input.c $(FUZZ_CONTAINER_SOURCES) \
	$(FUZZ_EXERCISE_SOURCES)
fuzz_input_CFLAGS = $(FUZZ_COMPILE)
fuzz_input_LDFLAGS = $(FUZZ_LINK)
fuzz_input_LDADD = trace/libtrace.a $(JSON_LIBS) $(KMT_TRACE_LIBS)
fuzz_kallsyms_SOURCES = fuzz/kallsyms.c $(FUZZ_EXERCISE_SOURCES)
fuzz_kallsyms_CFLAGS = $(FUZZ_COMPILE)
fuzz_kallsyms_LDFLAGS = $(FUZZ_LINK)
fuzz_kallsyms_LDADD = symbols/libsymbols.a trace/libtrace.a \
	$(LIBDW_LIBS) $(KMT_TRACE_LIBS)
fuzz_match_SOURCES = fuzz/match.c $(FUZZ_EXERCISE_SOURCES)
fuzz_match_CFLAGS = $(FUZZ_COMPILE)
fuzz_match_LDFLAGS = $(FUZZ_LINK)
fuzz_match_LDADD = trace/libtrace.a $(KMT_TRACE_LIBS)
fuzz_perfdata_SOURCES = fuzz/perfdata.c fuzz/scratch.c fuzz/scratch.h \
	fuzz/target.h \
	import/perfdata.c import/perfdata.h \
	import/perflayout.c import/perflayout.h
fuzz_perfdata_CFLAGS = $(FUZZ_COMPILE)
fuzz_perfdata_LDFLAGS = $(FUZZ_LINK)
fuzz_perfdata_LDADD = $(GLIB_LIBS)
fuzz_report_SOURCES = fuzz/report.c $(FUZZ_CONTAINER_SOURCES) \
	$(FUZZ_EXERCISE_SOURCES) $(REPORT_SOURCES)
fuzz_report_CFLAGS = $(FUZZ_COMPILE) \
	-DFUZZ_WRAPPERS='"$(abs_top_srcdir)/symbols/wrappers.list"'
fuzz_report_LDFLAGS = $(FUZZ_LINK)
fuzz_report_LDADD = symbols/libsymbols.a cli/libcli.a trace/libtrace.a \
	$(JSON_LIBS) $(LIBDW_LIBS) $(KMT_TRACE_LIBS)
fuzz_trace_SOURCES = fuzz/trace.c $(FUZZ_CONTAINER_SOURCES) \
	$(FUZZ_EXERCISE_SOURCES) $(CHECK_SOURCES)
fuzz_trace_CFLAGS = $(FUZZ_COMPILE)
fuzz_trace_LDFLAGS = $(FUZZ_LINK)
fuzz_trace_LDADD = cli/libcli.a trace/libtrace.a $(JSON_LIBS) $(KMT_TRACE_LIBS)

EXTRA_DIST += \
	fuzz/corpus.py \
	fuzz/corpus/input.list \
	fuzz/corpus/kallsyms.list \
	fuzz/corpus/match.list \
	fuzz/corpus/perfdata.list \
	fuzz/corpus/report.list \
	fuzz/corpus/trace.list \
	fuzz/run
