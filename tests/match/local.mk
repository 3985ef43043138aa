# SPDX-License-Identifier: GPL-2.0-or-later
KMT_MATCH_TESTS = \
	tests/match/decisions.py \
	tests/match/random-histories.py
TESTS += $(KMT_MATCH_TESTS)
EXTRA_DIST += $(KMT_MATCH_TESTS)

check_PROGRAMS += tests/match/match-dump tests/match/match-dump-small
tests_match_match_dump_SOURCES = tests/match/match-dump.c
tests_match_match_dump_LDADD = $(KMT_MATCH_LIBS)
# The same with a table that is full, and forgets, all the time.
tests_match_match_dump_small_SOURCES = tests/match/match-dump.c \
	$(lib_match_libmatch_a_SOURCES) $(lib_input_libinput_a_SOURCES)
tests_match_match_dump_small_CPPFLAGS = $(AM_CPPFLAGS) \
	-DKMT_MATCH_FIRST_HOMES=2 -DKMT_MATCH_MIN_ENTRIES=1 \
	-DKMT_MATCH_MAX_THREADS=256
tests_match_match_dump_small_CFLAGS = $(AM_CFLAGS) $(LIBARCHIVE_CFLAGS) \
	$(GMODULE_CFLAGS)
tests_match_match_dump_small_LDADD = $(KMT_INPUT_LIBS)

check_PROGRAMS += tests/match/matcher-unit
tests_match_matcher_unit_SOURCES = tests/match/matcher-unit.c
tests_match_matcher_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/match/matcher-unit

check_PROGRAMS += tests/match/class-table-unit
tests_match_class_table_unit_SOURCES = tests/match/class-table-unit.c
tests_match_class_table_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/match/class-table-unit

check_PROGRAMS += tests/match/object-table-unit
tests_match_object_table_unit_SOURCES = tests/match/object-table-unit.c
tests_match_object_table_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/match/object-table-unit

check_PROGRAMS += tests/match/merge-unit
tests_match_merge_unit_SOURCES = tests/match/merge-unit.c
tests_match_merge_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/match/merge-unit
