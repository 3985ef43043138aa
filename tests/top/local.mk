# SPDX-License-Identifier: GPL-2.0-or-later
KMT_TOP_TESTS = \
	tests/top/figures.py \
	tests/top/streams.py
TESTS += $(KMT_TOP_TESTS)
EXTRA_DIST += $(KMT_TOP_TESTS)

# The step top-live of scripts/test; not in make check.
EXTRA_DIST += tests/top/top-live.py

# The screen, in a terminal of tmux.
KMT_TOP_SCREEN_TESTS = \
	tests/top/screen.py \
	tests/top/terminal.py
EXTRA_DIST += $(KMT_TOP_SCREEN_TESTS)
EXTRA_DIST += tests/top/screen-text-unit.c
if NCURSES
TESTS += $(KMT_TOP_SCREEN_TESTS)

check_PROGRAMS += tests/top/screen-text-unit
tests_top_screen_text_unit_SOURCES = tests/top/screen-text-unit.c \
	top/figure-text.c top/screen-columns.c top/text-width.c
tests_top_screen_text_unit_CPPFLAGS = $(AM_CPPFLAGS)
tests_top_screen_text_unit_LDADD = lib/base/libbase.a $(GLIB_LIBS)
TESTS += tests/top/screen-text-unit
endif
