# SPDX-License-Identifier: GPL-2.0-or-later
# lib/input: the forms that a capture comes in.
KMT_INPUT_TESTS = \
	tests/input/frames.py \
	tests/input/hostile.py \
	tests/input/layouts.py \
	tests/input/memory.py \
	tests/input/packed.py \
	tests/input/pipes.py \
	tests/input/record-format.py
TESTS += $(KMT_INPUT_TESTS)
EXTRA_DIST += $(KMT_INPUT_TESTS)

KMT_INPUT_FIXTURE = tests/input/capture-fixture.c tests/input/capture-fixture.h
check_PROGRAMS += tests/input/name-tables-unit
tests_input_name_tables_unit_SOURCES = $(KMT_INPUT_FIXTURE) \
	tests/input/name-tables-unit.c
tests_input_name_tables_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/input/name-tables-unit

check_PROGRAMS += tests/input/tag-table-unit
tests_input_tag_table_unit_SOURCES = $(KMT_INPUT_FIXTURE) \
	tests/input/tag-table-unit.c
tests_input_tag_table_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/input/tag-table-unit

check_PROGRAMS += tests/input/slab-table-unit
tests_input_slab_table_unit_SOURCES = $(KMT_INPUT_FIXTURE) \
	tests/input/slab-table-unit.c
tests_input_slab_table_unit_LDADD = $(KMT_SLAB_LIBS)
TESTS += tests/input/slab-table-unit

check_PROGRAMS += tests/input/record-reader-unit
tests_input_record_reader_unit_SOURCES = $(KMT_INPUT_FIXTURE) \
	tests/input/record-reader-unit.c
tests_input_record_reader_unit_LDADD = $(KMT_MATCH_LIBS)
TESTS += tests/input/record-reader-unit
