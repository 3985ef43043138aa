/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A pager for the output on a terminal, as that of git. */
#ifndef KMEMTRACE_CLI_PAGER_H
#define KMEMTRACE_CLI_PAGER_H

#include <glib.h>

/* The option --no-pager, as an initializer of a GOptionEntry. */
#define KMT_PAGER_OPTION(no_pager)                                             \
	{                                                                      \
		"no-pager", 0, 0, G_OPTION_ARG_NONE, no_pager,                 \
			"Start no pager for the output on a terminal", NULL    \
	}

/*
 * If stdout is a terminal, start the pager and redirect stdout to it, and
 * stderr if it is a terminal, so that warnings are part of the text. The pager
 * is the command in KMEMTRACE_PAGER, in PAGER, or less; an empty command and
 * "cat" are none. Without less, the output is printed as without a pager; if
 * the command of a variable is missing, a warning is printed, too. Until the
 * pager ends, SIGINT and the other signals that end the program wait for the
 * pager first. The program must ignore SIGPIPE, and have one thread only.
 */
void kmt_pager_begin(const char *program);

/*
 * Let the pager read the rest of the output, redirect stdout and stderr to the
 * terminal again, and wait until the user quits the pager. A failed write to
 * the pager is no error, because the user may quit it earlier. Without a pager,
 * do nothing.
 */
void kmt_pager_end(void);

/*
 * As kmt_pager_end(), but async-signal-safe: buffered output is lost. Call
 * this function before _exit().
 */
void kmt_pager_abandon(void);

#endif
