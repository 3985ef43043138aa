# SPDX-License-Identifier: GPL-2.0-or-later

# lib/input, lib/match and check/
check_PROGRAMS += tests/trace-dump tests/trace-dump-small tests/trace-unit
check_PROGRAMS += tests/tables-unit
tests_tables_unit_SOURCES = tests/tables-unit.c
tests_tables_unit_LDADD = $(KMT_MATCH_LIBS)
tests_trace_dump_SOURCES = tests/trace-dump.c
tests_trace_dump_LDADD = $(KMT_MATCH_LIBS)
# The same with a table that is full, and forgets, all the time.
tests_trace_dump_small_SOURCES = tests/trace-dump.c \
	$(lib_match_libmatch_a_SOURCES) $(lib_input_libinput_a_SOURCES)
tests_trace_dump_small_CPPFLAGS = $(AM_CPPFLAGS) -DKMT_MATCH_FIRST_GROUPS=2 \
	-DKMT_MATCH_CHUNK_BITS=1 -DKMT_MATCH_ENTRY_BLOCK_BITS=2 -DKMT_MATCH_MIN_ENTRIES=1 \
	-DKMT_MATCH_MAX_THREADS=256
tests_trace_dump_small_CFLAGS = $(AM_CFLAGS) $(LIBARCHIVE_CFLAGS) $(GMODULE_CFLAGS)
tests_trace_dump_small_LDADD = $(KMT_INPUT_LIBS)
# The report with blocks and tables so small that each boundary is met.
check_PROGRAMS += tests/report-small
tests_report_small_SOURCES = $(report_kmemtrace_report_SOURCES) \
	$(lib_match_libmatch_a_SOURCES) $(lib_input_libinput_a_SOURCES)
tests_report_small_CPPFLAGS = $(AM_CPPFLAGS) -DKMT_MATCH_BLOCK_RECORDS=3 \
	-DKMT_MATCH_FIRST_GROUPS=2 -DKMT_MATCH_CHUNK_BITS=1 -DKMT_MATCH_ENTRY_BLOCK_BITS=2 \
	-DKMT_MATCH_MIN_ENTRIES=1 -DKMT_MATCH_ENTRY_CACHE_BITS=2 -DKMT_MATCH_PREFETCH_BATCH=1 \
	-DKMT_MATCH_MAX_THREADS=256
tests_report_small_CFLAGS = $(AM_CFLAGS) $(LIBARCHIVE_CFLAGS) $(GMODULE_CFLAGS)
tests_report_small_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_OUTPUT_LIBS) $(KMT_CLI_LIBS)
tests_trace_unit_SOURCES = tests/trace-unit.c
tests_trace_unit_LDADD = $(KMT_MATCH_LIBS)
KMT_CHECK_TESTS = \
	tests/trace-match.py \
	tests/trace-random.py \
	tests/check-cli.sh \
	tests/check-golden.py \
	tests/check-robust.py \
	tests/hostile.py \
	tests/inputs.py
TESTS += tests/tables-unit tests/trace-unit $(KMT_CHECK_TESTS)
EXTRA_DIST += $(KMT_CHECK_TESTS) \
	tests/mkcapture.py \
	tests/object-graph.py \
	tests/seeds.py \
	tests/reference_match.py \
	tests/fixtures/check-incomplete.expected \
	tests/fixtures/check-incomplete.txt \
	tests/fixtures/check-lost-nothing.expected \
	tests/fixtures/check-lost-nothing.txt \
	tests/fixtures/check-lost-time.expected \
	tests/fixtures/check-lost-time.txt \
	tests/fixtures/check-lost-too-much.expected \
	tests/fixtures/check-lost-too-much.txt \
	tests/fixtures/check-mark-short.expected \
	tests/fixtures/check-mark-short.txt \
	tests/fixtures/check-mark-size.expected \
	tests/fixtures/check-mark-size.txt \
	tests/fixtures/check-mark-stray.expected \
	tests/fixtures/check-mark-stray.txt \
	tests/fixtures/check-mark-values.expected \
	tests/fixtures/check-mark-values.txt \
	tests/fixtures/check-unknown-mark.expected \
	tests/fixtures/check-unknown-mark.txt \
	tests/fixtures/clean-marks-big.expected \
	tests/fixtures/clean-marks-big.txt \
	tests/fixtures/clean-marks.expected \
	tests/fixtures/clean-marks.txt \
	tests/fixtures/check-tables-damaged.expected \
	tests/fixtures/check-tables-damaged.txt \
	tests/fixtures/check-tasks-dropped.expected \
	tests/fixtures/check-tasks-dropped.txt \
	tests/fixtures/check-unknown-cache.expected \
	tests/fixtures/check-unknown-cache.txt \
	tests/fixtures/check-unknown-flag.expected \
	tests/fixtures/check-unknown-flag.txt \
	tests/fixtures/check-unknown-stack.expected \
	tests/fixtures/check-unknown-stack.txt \
	tests/fixtures/check-unknown-task.expected \
	tests/fixtures/check-unknown-task.txt \
	tests/fixtures/check-wrong-cache.expected \
	tests/fixtures/check-wrong-cache.txt \
	tests/fixtures/clean-snapshot.expected \
	tests/fixtures/clean-snapshot.txt \
	tests/fixtures/clean-stopped-big.expected \
	tests/fixtures/clean-stopped-big.txt \
	tests/fixtures/clean-stopped.expected \
	tests/fixtures/clean-stopped.txt \
	tests/fixtures/clean-version2-big.expected \
	tests/fixtures/clean-version2-big.txt \
	tests/fixtures/clean-version2.expected \
	tests/fixtures/clean-version2.txt \
	tests/fixtures/check-continues-race.expected \
	tests/fixtures/check-continues-race.txt \
	tests/fixtures/check-continues.expected \
	tests/fixtures/check-continues.txt \
	tests/fixtures/check-cut-off.expected \
	tests/fixtures/check-cut-off.txt \
	tests/fixtures/check-double-allocation.expected \
	tests/fixtures/check-double-allocation.txt \
	tests/fixtures/check-filtered-exact.expected \
	tests/fixtures/check-filtered-exact.txt \
	tests/fixtures/check-filtered.expected \
	tests/fixtures/check-filtered.txt \
	tests/fixtures/check-loss-overruns.expected \
	tests/fixtures/check-loss-overruns.json \
	tests/fixtures/check-loss-overruns.txt \
	tests/fixtures/check-many.expected \
	tests/fixtures/check-many.txt \
	tests/fixtures/check-mismatched-free.expected \
	tests/fixtures/check-mismatched-free.json \
	tests/fixtures/check-mismatched-free.txt \
	tests/fixtures/check-missing-file.expected \
	tests/fixtures/check-missing-file.txt \
	tests/fixtures/check-no-capture.expected \
	tests/fixtures/check-no-capture.json \
	tests/fixtures/check-no-capture.txt \
	tests/fixtures/check-no-meta.expected \
	tests/fixtures/check-no-meta.txt \
	tests/fixtures/check-nothing-requested.expected \
	tests/fixtures/check-nothing-requested.txt \
	tests/fixtures/check-null-event.expected \
	tests/fixtures/check-null-event.txt \
	tests/fixtures/check-null-pointer.expected \
	tests/fixtures/check-null-pointer.txt \
	tests/fixtures/check-race-early-free.expected \
	tests/fixtures/check-race-early-free.txt \
	tests/fixtures/check-race-late-free.expected \
	tests/fixtures/check-race-late-free.txt \
	tests/fixtures/check-race-same-cpu.expected \
	tests/fixtures/check-race-same-cpu.txt \
	tests/fixtures/check-race-too-late.expected \
	tests/fixtures/check-race-too-late.txt \
	tests/fixtures/check-size-differs.expected \
	tests/fixtures/check-size-differs.txt \
	tests/fixtures/check-size-too-small.expected \
	tests/fixtures/check-size-too-small.txt \
	tests/fixtures/check-tie.expected \
	tests/fixtures/check-tie.txt \
	tests/fixtures/check-time-backwards.expected \
	tests/fixtures/check-time-backwards.txt \
	tests/fixtures/check-too-little-given.expected \
	tests/fixtures/check-too-little-given.txt \
	tests/fixtures/check-truncated-record.expected \
	tests/fixtures/check-truncated-record.json \
	tests/fixtures/check-truncated-record.txt \
	tests/fixtures/check-unknown-event.expected \
	tests/fixtures/check-unknown-event.txt \
	tests/fixtures/check-unknown-type.expected \
	tests/fixtures/check-unknown-type.txt \
	tests/fixtures/check-unreadable.expected \
	tests/fixtures/check-unreadable.txt \
	tests/fixtures/check-unmatched-free.expected \
	tests/fixtures/check-unmatched-free.txt \
	tests/fixtures/check-wrong-file-size.expected \
	tests/fixtures/check-wrong-file-size.txt \
	tests/fixtures/check-zeros.expected \
	tests/fixtures/check-zeros.txt \
	tests/fixtures/clean-64.expected \
	tests/fixtures/clean-64.txt \
	tests/fixtures/clean-big.expected \
	tests/fixtures/clean-big.txt \
	tests/fixtures/clean-little.expected \
	tests/fixtures/clean-little.txt

# lib/symbols
check_PROGRAMS += tests/symbols-unit
tests_symbols_unit_SOURCES = tests/symbols-unit.c
tests_symbols_unit_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_MATCH_LIBS) \
	$(KMT_CLI_LIBS)
TESTS += tests/symbols-unit tests/symbols-source.py
EXTRA_DIST += tests/symbols-source.py tests/fixtures/gfp-6.1.list

# kmemtraced
check_PROGRAMS += tests/kmemtraced-shim.so
tests_kmemtraced_shim_so_SOURCES = tests/kmemtraced-shim.c
tests_kmemtraced_shim_so_CFLAGS = $(KMT_WARN_CFLAGS) -fPIC
tests_kmemtraced_shim_so_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_shim_so_LDFLAGS = -shared
tests_kmemtraced_shim_so_LDADD = -ldl
check_PROGRAMS += tests/kmemtraced-summary
tests_kmemtraced_summary_SOURCES = \
	kmemtraced/summary.c tests/kmemtraced-summary.c
tests_kmemtraced_summary_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_summary_LDADD = $(KMT_CAPTURE_LIBS) $(KMT_CLI_LIBS)
TESTS += tests/kmemtraced-summary
check_PROGRAMS += tests/kmemtraced-ring
tests_kmemtraced_ring_SOURCES = \
	lib/capture/error.c kmemtraced/self-filter.c kmemtraced/ring-format.c \
	kmemtraced/ring-page.c kmemtraced/task-names.c tests/kmemtraced-ring.c
tests_kmemtraced_ring_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_ring_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS)
tests_kmemtraced_ring_LDADD = $(KMT_TRACEPOINTS_LIBS) $(GLIB_LIBS)
TESTS += tests/kmemtraced-ring
check_PROGRAMS += tests/kmemtraced-formats
tests_kmemtraced_formats_SOURCES = \
	lib/capture/error.c kmemtraced/self-filter.c kmemtraced/ring-format.c \
	kmemtraced/ring-page.c kmemtraced/task-names.c tests/kmemtraced-formats.c
tests_kmemtraced_formats_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_formats_CFLAGS = $(AM_CFLAGS) $(TRACEEVENT_CFLAGS)
tests_kmemtraced_formats_LDADD = $(KMT_TRACEPOINTS_LIBS) $(GLIB_LIBS)
TESTS += tests/kmemtraced-formats
KMEMTRACED_TESTS = \
	tests/kmemtraced-command.py \
	tests/kmemtraced-directory.py tests/kmemtraced-obstacles.py \
	tests/kmemtraced-errors.py tests/kmemtraced-filter.py \
	tests/kmemtraced-ftrace.py tests/kmemtraced-man.py \
	tests/kmemtraced-snapshot.py \
	tests/kmemtraced-buffers.py \
	tests/kmemtraced-record.py tests/kmemtraced-signals.py
TESTS += $(KMEMTRACED_TESTS)
EXTRA_DIST += $(KMEMTRACED_TESTS) tests/kmemtraced_fake.py \
	tests/kmemtraced_tracefs.py

# kmemtrace-import
check_PROGRAMS += tests/import-watch
tests_import_watch_SOURCES = import/watch.c tests/import-watch.c
tests_import_watch_CPPFLAGS = $(AM_CPPFLAGS)
tests_import_watch_LDADD = $(GLIB_LIBS)
TESTS += tests/import-watch
KMT_IMPORT_TESTS = tests/import-ctf.py tests/import-damage.py tests/import-force.py \
	tests/import-perf.py tests/import-perf-damage.py tests/import-perf-kinds.py \
	tests/import-trace-stacks.py tests/import-tracedat.py
TESTS += $(KMT_IMPORT_TESTS)
EXTRA_DIST += $(KMT_IMPORT_TESTS) tests/import_files.py

# On the machine's own kernel; not for make check.
EXTRA_DIST += tests/ftrace_live.py tests/import_live.py tests/live.py

# lib/cli
check_PROGRAMS += tests/json-unit
tests_json_unit_SOURCES = tests/json-unit.c
tests_json_unit_LDADD = $(KMT_CLI_LIBS)
TESTS += tests/json-unit
check_PROGRAMS += tests/memory-unit tests/preload-malloc.so
tests_memory_unit_SOURCES = tests/memory-unit.c
tests_memory_unit_LDADD = $(KMT_CLI_LIBS)
TESTS += tests/memory-unit
tests_preload_malloc_so_SOURCES = tests/preload-malloc.c
tests_preload_malloc_so_CFLAGS = $(KMT_WARN_CFLAGS) -fPIC -fno-builtin
tests_preload_malloc_so_CPPFLAGS = $(AM_CPPFLAGS)
tests_preload_malloc_so_LDFLAGS = -shared

# report/
check_PROGRAMS += tests/totals-unit
tests_totals_unit_SOURCES = \
	report/counters.c report/totals.c tests/totals-unit.c
tests_totals_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_totals_unit_LDADD = $(GLIB_LIBS)
TESTS += tests/totals-unit
TESTS += tests/memory.py tests/report-cli.py tests/report-figures.py \
	tests/report-golden.py tests/report-lies.py tests/report-marks.py tests/report-options.py tests/report-owners.py \
	tests/report-races.py tests/report-random.py
EXTRA_DIST += \
	tests/large_captures.py tests/memory.py \
	tests/report-cli.py tests/report-figures.py \
	tests/report-golden.py tests/report-lies.py tests/report-marks.py tests/report-options.py tests/report-owners.py \
	tests/report-races.py tests/report-random.py \
	tests/compare-programs.py tests/compare_captures.py \
	tests/compare_imports.py tests/reworded.list tests/rewordings.py \
	tests/figures-large.py tests/figures_compare.py \
	tests/reference_capture.py tests/reference_figures.py \
	tests/reference_output.py tests/report_reference.py \
	tests/fixtures/report-continued.out \
	tests/fixtures/report-continued.txt \
	tests/fixtures/report-cut.out tests/fixtures/report-cut.txt \
	tests/fixtures/report-empty.out tests/fixtures/report-empty.txt \
	tests/fixtures/report-findings.out tests/fixtures/report-findings.txt \
	tests/fixtures/report-gaps.out tests/fixtures/report-gaps.txt \
	tests/fixtures/report-incomplete.out tests/fixtures/report-incomplete.txt \
	tests/fixtures/report-lost.out tests/fixtures/report-lost.txt \
	tests/fixtures/report-sample.out tests/fixtures/report-sample.txt \
	tests/fixtures/report-lost-most.out \
	tests/fixtures/report-lost-most.txt \
	tests/fixtures/report-race.out tests/fixtures/report-race.txt \
	tests/fixtures/report-shortened.out \
	tests/fixtures/report-shortened.txt \
	tests/fixtures/report-stacks.out tests/fixtures/report-stacks.txt \
	tests/fixtures/report-summary.out tests/fixtures/report-summary.txt

# What holds the guests' captures against what they must be; not for make check.
EXTRA_DIST += \
	tests/vm/buffers.py \
	tests/vm/capture.py \
	tests/vm/control.py \
	tests/vm/ftrace.py \
	tests/vm/gap.py \
	tests/vm/guarded.py \
	tests/vm/kill.py \
	tests/vm/loss.py \
	tests/vm/main_job.py \
	tests/vm/marks.py \
	tests/vm/nested.py \
	tests/vm/reconcile.py \
	tests/vm/snapshot.py \
	tests/vm/stacks.py \
	tests/vm/verdict.py \
	tests/vm/version1.py \
	tests/vm/version2.py

# bench/
TESTS += tests/bench-generate.py tests/bench-scripts.py
EXTRA_DIST += tests/bench-generate.py tests/bench-scripts.py

# tests/mutation/run, which measures the tests themselves; not for make check.
TESTS += tests/mutation-statements.py
EXTRA_DIST += tests/mutation-statements.py \
	tests/mutation/coverage.py \
	tests/mutation/equivalent.list \
	tests/mutation/run \
	tests/mutation/statements.py \
	tests/mutation/workspace.py
