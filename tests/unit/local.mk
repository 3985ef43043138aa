# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests of lib/cli.
check_PROGRAMS += tests/unit/json-writer-unit
tests_unit_json_writer_unit_SOURCES = tests/unit/json-writer-unit.c
tests_unit_json_writer_unit_LDADD = $(KMT_CLI_LIBS)
TESTS += tests/unit/json-writer-unit

check_PROGRAMS += tests/unit/out-of-memory-unit
tests_unit_out_of_memory_unit_SOURCES = tests/unit/out-of-memory-unit.c
tests_unit_out_of_memory_unit_LDADD = $(KMT_CLI_LIBS)
TESTS += tests/unit/out-of-memory-unit
