# SPDX-License-Identifier: GPL-2.0-or-later
KMT_CHECK_TESTS = \
	tests/check/command-line.sh \
	tests/check/golden.py \
	tests/check/random-damage.py
TESTS += $(KMT_CHECK_TESTS)
EXTRA_DIST += $(KMT_CHECK_TESTS)

EXTRA_DIST += tests/check/fixtures

check_PROGRAMS += tests/check/record-filter-unit
tests_check_record_filter_unit_SOURCES = tests/check/record-filter-unit.c \
	check/number-set.c check/record-filter.c check/rules.c \
	$(KMT_INPUT_FIXTURE)
tests_check_record_filter_unit_LDADD = $(KMT_INPUT_LIBS)
TESTS += tests/check/record-filter-unit

# kmemtrace-check with threads for small captures.
check_PROGRAMS += tests/check/check-threads
tests_check_check_threads_SOURCES = $(CHECK_SOURCES) check/main.c
tests_check_check_threads_CPPFLAGS = $(AM_CPPFLAGS) -DKMT_CHECK_MIN_RECORDS=1
tests_check_check_threads_LDADD = $(check_kmemtrace_check_LDADD)
