# SPDX-License-Identifier: GPL-2.0-or-later
KMT_SYMBOLS_TESTS = \
	tests/symbols/build-tree.py \
	tests/symbols/module-lines.py \
	tests/symbols/source-lines.py
TESTS += $(KMT_SYMBOLS_TESTS)
EXTRA_DIST += $(KMT_SYMBOLS_TESTS)
EXTRA_DIST += tests/symbols/fixtures/gfp-6.1.list

check_PROGRAMS += tests/symbols/kallsyms-unit
tests_symbols_kallsyms_unit_SOURCES = tests/symbols/kallsyms-unit.c
tests_symbols_kallsyms_unit_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_MATCH_LIBS) \
	$(KMT_CLI_LIBS)
TESTS += tests/symbols/kallsyms-unit

check_PROGRAMS += tests/symbols/gfp-wrappers-unit
tests_symbols_gfp_wrappers_unit_SOURCES = tests/symbols/gfp-wrappers-unit.c
tests_symbols_gfp_wrappers_unit_LDADD = $(KMT_SYMBOLS_LIBS) $(KMT_MATCH_LIBS) \
	$(KMT_CLI_LIBS)
TESTS += tests/symbols/gfp-wrappers-unit
