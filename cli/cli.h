/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the programs read a command line, and speak of one that is wrong. */
#ifndef KMEMTRACE_CLI_H
#define KMEMTRACE_CLI_H

#include <glib.h>

/*
 * Parses argv; short options may have their value in the same word, as in -l3,
 * which GLib does not know.  Returns what is left of argv, or NULL.
 */
GStrv kmt_cli_parse(GOptionContext *context, const GOptionEntry *entries,
		    char **argv, GError **error);

/* "PROGRAM: MESSAGE" on stderr.  Returns EXIT_FAILURE. */
int kmt_cli_fail(const char *program, const char *message);

/* The same, and where help is to be found. */
int kmt_cli_fail_usage(const char *program, const char *message);

/*
 * The value of an option as a number from 0 to max.  *number stays as it is if
 * text is NULL: the option was not given.
 */
gboolean kmt_cli_parse_number(const char *text, guint64 max, const char *option,
			      guint64 *number, GError **error);

#endif
