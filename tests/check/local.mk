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
