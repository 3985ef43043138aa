# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += lib/cli/libcli.a
lib_cli_libcli_a_SOURCES = \
	lib/cli/cli.c lib/cli/cli.h \
	lib/cli/color.c lib/cli/color.h \
	lib/cli/fatal-exit.c lib/cli/fatal-exit.h \
	lib/cli/json-writer.c lib/cli/json-writer.h \
	lib/cli/out-of-memory.c lib/cli/out-of-memory.h \
	lib/cli/pager.c lib/cli/pager.h \
	lib/cli/progress.c lib/cli/progress.h \
	lib/cli/set-up.c lib/cli/set-up.h \
	lib/cli/signals.c lib/cli/signals.h
lib_cli_libcli_a_CFLAGS = $(AM_CFLAGS)
EXTRA_DIST += lib/cli/README.md
