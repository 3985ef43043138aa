# SPDX-License-Identifier: GPL-2.0-or-later
sbin_PROGRAMS += top/kmemtrace-top
top_kmemtrace_top_SOURCES = \
	top/batch.c top/batch.h \
	top/cost.c top/cost.h \
	top/counts.c top/counts.h \
	top/daemon.c top/daemon.h \
	top/engine.c top/engine.h \
	top/frame-reader.c top/frame-reader.h \
	top/main.c \
	top/name-filter.c top/name-filter.h \
	top/live-names.c top/live-names.h \
	top/print-figures.h \
	top/print-json.c \
	top/print-text.c \
	top/raw-capture.c top/raw-capture.h \
	top/row-details.c \
	top/top-snapshot.c top/top-snapshot.h \
	top/stop-signals.c top/stop-signals.h \
	top/table-directory.c top/table-directory.h \
	top/top-options.c top/top-options.h \
	top/trace.c top/trace.h top/trace-private.h \
	top/trace-capture.c top/trace-snapshot.c \
	top/top-view.c top/top-view.h
top_kmemtrace_top_CPPFLAGS = $(AM_CPPFLAGS) -DSBINDIR=\"$(sbindir)\"
top_kmemtrace_top_CFLAGS = $(AM_CFLAGS)
top_kmemtrace_top_LDADD = $(KMT_OUTPUT_LIBS) $(KMT_SYMBOLS_LIBS) \
	lib/cli/libcli.a $(KMT_CAPTURE_LIBS) $(KMT_CLI_LIBS)
if NCURSES
top_kmemtrace_top_SOURCES += \
	top/details-json.c \
	top/details-text.c top/details-text.h \
	top/figure-text.c top/figure-text.h \
	top/help-text.c \
	top/menu.c top/menu.h \
	top/prompt.c top/prompt.h \
	top/save.c top/save.h \
	top/screen.c top/screen.h top/screen-private.h \
	top/screen-actions.c \
	top/screen-columns.c top/screen-columns.h \
	top/screen-draw.c \
	top/screen-header.c \
	top/screen-keys.c \
	top/screen-state.c \
	top/terminal.c top/terminal.h \
	top/terminal-restore.c top/terminal-restore.h \
	top/text-lines.c top/text-lines.h \
	top/text-width.c top/text-width.h
top_kmemtrace_top_CFLAGS += $(NCURSES_CFLAGS)
top_kmemtrace_top_LDADD += $(NCURSES_LIBS)
endif
EXTRA_DIST += top/README.md
