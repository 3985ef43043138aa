# SPDX-License-Identifier: GPL-2.0-or-later
KMT_SYMBOLS_TESTS = \
	tests/symbols/build-tree.py \
	tests/symbols/module-lines.py \
	tests/symbols/source-lines.py
TESTS += $(KMT_SYMBOLS_TESTS)
EXTRA_DIST += $(KMT_SYMBOLS_TESTS)
EXTRA_DIST += tests/symbols/fixtures/gfp-6.1.list

check_PROGRAMS += tests/symbols/symbols-unit
tests_symbols_symbols_unit_SOURCES = tests/symbols/symbols-unit.c
tests_symbols_symbols_unit_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_MATCH_LIBS) \
	$(KMT_CLI_LIBS)
TESTS += tests/symbols/symbols-unit
