# SPDX-License-Identifier: GPL-2.0-or-later
KMT_IMPORT_TESTS = \
	tests/import/compress.py \
	tests/import/ctf.py \
	tests/import/force.py \
	tests/import/kmalloc-pairs.py \
	tests/import/perf-damage.py \
	tests/import/perf-kinds.py \
	tests/import/perf.py \
	tests/import/trace-dat-damage.py \
	tests/import/trace-dat-stacks.py \
	tests/import/trace-dat.py
TESTS += $(KMT_IMPORT_TESTS)
EXTRA_DIST += $(KMT_IMPORT_TESTS)

# On the kernel of this machine; not in make check.
EXTRA_DIST += tests/import/tools-live.py

check_PROGRAMS += tests/import/watch-unit
tests_import_watch_unit_SOURCES = import/watch.c tests/import/watch-unit.c
tests_import_watch_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_import_watch_unit_LDADD = $(GLIB_LIBS)
TESTS += tests/import/watch-unit
