# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += cli/libcli.a
cli_libcli_a_SOURCES = \
	cli/capture-json.c cli/capture-json.h \
	cli/cli.c cli/cli.h \
	cli/json.c cli/json.h \
	cli/memory.c cli/memory.h \
	cli/recovery.c cli/recovery.h \
	cli/subbufs.c cli/subbufs.h \
	cli/text.c cli/text.h
