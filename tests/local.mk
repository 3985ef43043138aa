# SPDX-License-Identifier: GPL-2.0-or-later

# trace/ and check/
check_PROGRAMS += tests/trace-dump
tests_trace_dump_SOURCES = tests/trace-dump.c
tests_trace_dump_LDADD = trace/libtrace.a $(GLIB_LIBS)
EXTRA_DIST += tests/mkcapture.py

# kmemtraced
check_PROGRAMS += tests/kmemtraced-shim.so
tests_kmemtraced_shim_so_SOURCES = tests/kmemtraced-shim.c
tests_kmemtraced_shim_so_CFLAGS = $(KMT_WARN_CFLAGS) -fPIC
tests_kmemtraced_shim_so_LDFLAGS = -shared
tests_kmemtraced_shim_so_LDADD = -ldl
check_PROGRAMS += tests/kmemtraced-summary
tests_kmemtraced_summary_SOURCES = \
	kmemtraced/summary.c tests/kmemtraced-summary.c
tests_kmemtraced_summary_CPPFLAGS = $(AM_CPPFLAGS)
tests_kmemtraced_summary_LDADD = $(GLIB_LIBS)
TESTS += tests/kmemtraced-summary
KMEMTRACED_TESTS = \
	tests/kmemtraced-errors.py tests/kmemtraced-man.py \
	tests/kmemtraced-record.py
TESTS += $(KMEMTRACED_TESTS)
EXTRA_DIST += $(KMEMTRACED_TESTS) tests/kmemtraced_fake.py

# report/
TESTS += tests/report-cli.py tests/report-golden.py tests/report-random.py
EXTRA_DIST += \
	tests/report-cli.py tests/report-golden.py tests/report-random.py \
	tests/report_reference.py \
	tests/fixtures/report-cut.out tests/fixtures/report-cut.txt \
	tests/fixtures/report-empty.out tests/fixtures/report-empty.txt \
	tests/fixtures/report-findings.out tests/fixtures/report-findings.txt \
	tests/fixtures/report-lost.out tests/fixtures/report-lost.txt \
	tests/fixtures/report-lost-most.out \
	tests/fixtures/report-lost-most.txt \
	tests/fixtures/report-race.out tests/fixtures/report-race.txt \
	tests/fixtures/report-summary.out tests/fixtures/report-summary.txt
