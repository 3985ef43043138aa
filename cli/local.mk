# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += cli/libcli.a
cli_libcli_a_SOURCES = \
	cli/cli.c cli/cli.h \
	cli/json.c cli/json.h \
	cli/subbufs.c cli/subbufs.h \
	cli/text.c cli/text.h
cli_libcli_a_CFLAGS = $(AM_CFLAGS) $(JSON_CFLAGS)
