# SPDX-License-Identifier: GPL-2.0-or-later
KMT_REPORT_TESTS = \
	tests/report/advice-output.py \
	tests/report/advice.py \
	tests/report/best-sizes.py \
	tests/report/cgroups.py \
	tests/report/command-line.py \
	tests/report/diff-figures.py \
	tests/report/diff-match.py \
	tests/report/diff.py \
	tests/report/diff-noise.py \
	tests/report/diff-page.py \
	tests/report/false-claims.py \
	tests/report/figures.py \
	tests/report/golden.py \
	tests/report/html.py \
	tests/report/html-figures.py \
	tests/report/marks.py \
	tests/report/huge-sizes.py \
	tests/report/tolerance-limit.py \
	tests/report/leaks.py \
	tests/report/names.py \
	tests/report/options.py \
	tests/report/order.py \
	tests/report/output-file.py \
	tests/report/owners.py \
	tests/report/perfetto.py \
	tests/report/pprof.py \
	tests/report/races.py \
	tests/report/random-captures.py \
	tests/report/replay.py \
	tests/report/size-classes.py
TESTS += $(KMT_REPORT_TESTS)
EXTRA_DIST += $(KMT_REPORT_TESTS)

# The steps figures and pprof of scripts/test; not in make check.
EXTRA_DIST += tests/report/figures-large.py tests/report/pprof-go.py

# The report with blocks and tables so small that each boundary is met.
check_PROGRAMS += tests/report/report-small
tests_report_report_small_SOURCES = $(report_libreport_a_SOURCES) \
	$(report_kmemtrace_report_SOURCES) \
	$(lib_match_libmatch_a_SOURCES) $(lib_input_libinput_a_SOURCES)
tests_report_report_small_CPPFLAGS = $(AM_CPPFLAGS) \
	-DKMT_MATCH_BLOCK_RECORDS=3 -DKMT_MATCH_FIRST_HOMES=2 \
	-DKMT_MATCH_MIN_ENTRIES=1 \
	-DKMT_MATCH_PREFETCH_DISTANCE=1 -DKMT_MATCH_MAX_THREADS=256 \
	-DKMT_CLASS_MAX_RECORDS=7
tests_report_report_small_CFLAGS = $(AM_CFLAGS) $(LIBARCHIVE_CFLAGS) \
	$(GMODULE_CFLAGS)
tests_report_report_small_LDADD = $(KMT_SLAB_LIBS) $(KMT_OUTPUT_LIBS) \
	$(KMT_SYMBOLS_LIBS) $(KMT_CLI_LIBS) $(KMT_PPROF_LIBS)

check_PROGRAMS += tests/report/totals-unit
tests_report_totals_unit_SOURCES = \
	report/counters.c report/totals.c tests/report/totals-unit.c
tests_report_totals_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_report_totals_unit_LDADD = $(GLIB_LIBS)
TESTS += tests/report/totals-unit

check_PROGRAMS += tests/report/replay-dump
tests_report_replay_dump_SOURCES = tests/report/replay-dump.c
tests_report_replay_dump_CPPFLAGS = $(AM_CPPFLAGS)
tests_report_replay_dump_LDADD = $(KMT_REPORT_LIBS)

check_PROGRAMS += tests/report/noise-dump
tests_report_noise_dump_SOURCES = \
	report/diff-noise.c report/diff-splits.c tests/report/noise-dump.c
tests_report_noise_dump_CPPFLAGS = $(AM_CPPFLAGS)
tests_report_noise_dump_LDADD = $(GLIB_LIBS)

check_PROGRAMS += tests/report/accounting-unit
tests_report_accounting_unit_SOURCES = tests/report/accounting-unit.c
tests_report_accounting_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_report_accounting_unit_LDADD = $(KMT_REPORT_LIBS)
TESTS += tests/report/accounting-unit

check_PROGRAMS += tests/report/diff-unit
tests_report_diff_unit_SOURCES = tests/report/diff-unit.c
tests_report_diff_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_report_diff_unit_LDADD = $(KMT_REPORT_LIBS)
TESTS += tests/report/diff-unit

check_PROGRAMS += tests/report/history-unit
tests_report_history_unit_SOURCES = \
	report/history.c report/history-series.c tests/report/history-unit.c
tests_report_history_unit_CPPFLAGS = $(AM_CPPFLAGS) \
	-DKMT_HISTORY_MAX_ENTRIES=2000 -DKMT_HISTORY_MAX_PAIRS=300
tests_report_history_unit_LDADD = $(KMT_INPUT_LIBS) $(GLIB_LIBS)
TESTS += tests/report/history-unit

# Prints the best sets of sizes, for best-sizes.py.
check_PROGRAMS += tests/report/best-sizes-dump
tests_report_best_sizes_dump_SOURCES = \
	report/best-sizes.c tests/report/best-sizes-dump.c
tests_report_best_sizes_dump_CPPFLAGS = $(AM_CPPFLAGS)
tests_report_best_sizes_dump_LDADD = $(GLIB_LIBS)

EXTRA_DIST += tests/report/fixtures
