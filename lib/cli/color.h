/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colours of the output on a terminal. Each style is an ANSI escape sequence,
 * and an empty string on a stream without colours, so that callers need no
 * condition. Until kmt_color_set_up() runs, no stream has colours.
 */
#ifndef KMEMTRACE_CLI_COLOR_H
#define KMEMTRACE_CLI_COLOR_H

#include <glib.h>
#include <stdio.h>

typedef enum {
	KMT_COLOR_HEADING,
	KMT_COLOR_GOOD,
	KMT_COLOR_WARNING,
	KMT_COLOR_ERROR,
	KMT_COLOR_SHARE, /* a percentage and its bar */
} KmtColor;

/* The option --color, as an initializer of a GOptionEntry. */
#define KMT_COLOR_OPTION(when)                                                 \
	{                                                                      \
		"color", 0, 0, G_OPTION_ARG_STRING, when,                      \
			"Use colours: auto (on a terminal), always or never "  \
			"(default: auto)",                                     \
			"WHEN"                                                 \
	}

/*
 * Decide which of stdout and stderr have colours. @when is the value of
 * --color; NULL is "auto": colours on a terminal, unless TERM is missing or
 * "dumb", or NO_COLOR is set and not empty. On an invalid value return FALSE
 * with G_OPTION_ERROR_BAD_VALUE. Call this function before the pager starts,
 * while stdout is still the terminal.
 */
gboolean kmt_color_set_up(const char *when, GError **error);

/*
 * Return whether @fd is a terminal that interprets escape sequences: TERM is
 * neither missing nor "dumb".
 */
gboolean kmt_color_is_capable(int fd);

/*
 * Return the text that begins @color on @stream, and the text that ends it; ""
 * if the stream has no colours. The strings are static.
 */
const char *kmt_color_begin(const FILE *stream, KmtColor color);
const char *kmt_color_end(const FILE *stream);

/* Print @text in @color. */
void kmt_color_puts(FILE *stream, KmtColor color, const char *text);

/* Print "PROGRAM: warning: TEXT" to stderr. */
void kmt_color_warn(const char *program, const char *text);

#endif
