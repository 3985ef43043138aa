# SPDX-License-Identifier: GPL-2.0-or-later
# fuzz/run builds these programs in a separate folder with --enable-fuzzing.
FUZZ_CONTAINER_SOURCES = \
	fuzz/boundary.c fuzz/boundary.h \
	fuzz/container.c fuzz/container.h \
	fuzz/mutate.c
FUZZ_EXERCISE_SOURCES = \
	fuzz/exercise.c fuzz/exercise.h fuzz/exercise-private.h \
	fuzz/exercise-decisions.c fuzz/exercise-matcher.c \
	fuzz/exercise-merge.c fuzz/exercise-pipeline.c \
	fuzz/scratch.c fuzz/scratch.h \
	fuzz/target.h
# The outputs of reports, and of checks.
FUZZ_OUTPUT_SOURCES = fuzz/memory-output.c fuzz/memory-output.h
FUZZ_REPORT_SOURCES = fuzz/reports.c fuzz/reports.h $(FUZZ_OUTPUT_SOURCES) \
	$(REPORT_SOURCES)
FUZZ_CHECK_SOURCES = fuzz/check-output.c fuzz/check-output.h $(CHECK_SOURCES)
FUZZ_COMPILE = $(AM_CFLAGS) $(JSON_CFLAGS)
FUZZ_REPORT_CFLAGS = \
	-DFUZZ_WRAPPERS='"$(abs_top_srcdir)/lib/symbols/wrappers.list"'
FUZZ_LINK = $(AM_LDFLAGS) -fsanitize=fuzzer

EXTRA_PROGRAMS = fuzz/frames fuzz/input fuzz/kallsyms fuzz/match fuzz/options \
	fuzz/perfdata fuzz/report fuzz/trace fuzz/tracedat
CLEANFILES += $(EXTRA_PROGRAMS)
fuzz_frames_SOURCES = fuzz/fuzz-frames.c $(FUZZ_EXERCISE_SOURCES)
fuzz_frames_CFLAGS = $(FUZZ_COMPILE)
fuzz_frames_LDFLAGS = $(FUZZ_LINK)
fuzz_frames_LDADD = $(KMT_MATCH_LIBS)
fuzz_input_SOURCES = fuzz/fuzz-input.c $(FUZZ_CONTAINER_SOURCES) \
	$(FUZZ_EXERCISE_SOURCES)
fuzz_input_CFLAGS = $(FUZZ_COMPILE)
fuzz_input_LDFLAGS = $(FUZZ_LINK)
fuzz_input_LDADD = $(KMT_MATCH_LIBS) $(JSON_LIBS)
fuzz_kallsyms_SOURCES = fuzz/fuzz-kallsyms.c $(FUZZ_EXERCISE_SOURCES)
fuzz_kallsyms_CFLAGS = $(FUZZ_COMPILE)
fuzz_kallsyms_LDFLAGS = $(FUZZ_LINK)
fuzz_kallsyms_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_MATCH_LIBS)
fuzz_match_SOURCES = fuzz/fuzz-match.c $(FUZZ_EXERCISE_SOURCES)
fuzz_match_CFLAGS = $(FUZZ_COMPILE)
fuzz_match_LDFLAGS = $(FUZZ_LINK)
fuzz_match_LDADD = $(KMT_MATCH_LIBS)
fuzz_options_SOURCES = fuzz/fuzz-options.c fuzz/boundary.c fuzz/boundary.h \
	$(FUZZ_EXERCISE_SOURCES) $(FUZZ_REPORT_SOURCES) $(FUZZ_CHECK_SOURCES)
fuzz_options_CFLAGS = $(FUZZ_COMPILE) $(FUZZ_REPORT_CFLAGS)
fuzz_options_LDFLAGS = $(FUZZ_LINK)
fuzz_options_LDADD = $(KMT_SLAB_LIBS) $(KMT_OUTPUT_LIBS) $(KMT_SYMBOLS_LIBS) \
	$(KMT_CLI_LIBS) $(KMT_PPROF_LIBS) $(JSON_LIBS)
fuzz_perfdata_SOURCES = fuzz/fuzz-perfdata.c fuzz/scratch.c fuzz/scratch.h \
	fuzz/target.h \
	import/callers.c import/callers.h \
	import/format-section.c import/format-section.h \
	import/functions.c import/functions.h \
	import/perf-command.c import/perf-command.h \
	import/perf-data.c import/perf-data.h \
	import/perf-file.c import/perf-file.h \
	import/perf-layout.c import/perf-layout.h \
	import/perf-stream.c import/perf-stream.h \
	import/perf-zstd.c import/perf-zstd.h \
	import/import-stacks.c import/import-stacks.h
fuzz_perfdata_CFLAGS = $(FUZZ_COMPILE) $(LIBZSTD_CFLAGS)
fuzz_perfdata_LDFLAGS = $(FUZZ_LINK)
fuzz_perfdata_LDADD = lib/base/libbase.a $(GMODULE_LIBS) $(GLIB_LIBS)
fuzz_report_SOURCES = fuzz/fuzz-report.c $(FUZZ_CONTAINER_SOURCES) \
	$(FUZZ_EXERCISE_SOURCES) $(FUZZ_REPORT_SOURCES)
fuzz_report_CFLAGS = $(FUZZ_COMPILE) $(FUZZ_REPORT_CFLAGS)
fuzz_report_LDFLAGS = $(FUZZ_LINK)
fuzz_report_LDADD = $(KMT_SLAB_LIBS) $(KMT_OUTPUT_LIBS) $(KMT_SYMBOLS_LIBS) \
	$(KMT_CLI_LIBS) $(KMT_PPROF_LIBS) $(JSON_LIBS)
fuzz_trace_SOURCES = fuzz/fuzz-trace.c $(FUZZ_CONTAINER_SOURCES) \
	$(FUZZ_EXERCISE_SOURCES) $(FUZZ_OUTPUT_SOURCES) $(FUZZ_CHECK_SOURCES)
fuzz_trace_CFLAGS = $(FUZZ_COMPILE)
fuzz_trace_LDFLAGS = $(FUZZ_LINK)
fuzz_trace_LDADD = $(KMT_OUTPUT_LIBS) $(KMT_CLI_LIBS) $(JSON_LIBS)
fuzz_tracedat_SOURCES = fuzz/fuzz-tracedat.c fuzz/scratch.c fuzz/scratch.h \
	fuzz/target.h \
	import/ctf-metadata.c import/ctf-metadata.h \
	import/dat-file.c import/dat-file.h \
	import/dat-options.c import/dat-options.h \
	import/dat-page-order.c import/dat-page-order.h \
	import/dat-pages.c import/dat-pages.h \
	import/dat-cpu-ranges.c import/dat-cpu-ranges.h \
	import/format-section.c import/format-section.h \
	import/unpack.c import/unpack.h
fuzz_tracedat_CFLAGS = $(FUZZ_COMPILE) $(LIBARCHIVE_CFLAGS)
fuzz_tracedat_LDFLAGS = $(FUZZ_LINK)
fuzz_tracedat_LDADD = $(KMT_MATCH_LIBS)

EXTRA_DIST += \
	fuzz/README.md \
	fuzz/corpus.py \
	fuzz/corpus/frames.list \
	fuzz/corpus/input.list \
	fuzz/corpus/kallsyms.list \
	fuzz/corpus/match.list \
	fuzz/corpus/options.list \
	fuzz/corpus/perfdata.list \
	fuzz/corpus/report.list \
	fuzz/corpus/trace.list \
	fuzz/corpus/tracedat.list \
	fuzz/run
