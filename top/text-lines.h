/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A page of lines that the user scrolls, such as the help. */
#ifndef KMEMTRACE_TOP_TEXT_LINES_H
#define KMEMTRACE_TOP_TEXT_LINES_H

#include "top/terminal.h"

typedef struct {
	char *text;
	KmtTopStyle style;
} KmtTopTextLine;

/* Create an empty page: an array of KmtTopTextLine that owns the texts. */
GArray *kmt_top_text_lines_new(void);

/* Append a line. */
void kmt_top_text_lines_add(GArray *lines, KmtTopStyle style,
			    const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The first visible line and column of a page. */
typedef struct {
	guint line, column;
} KmtTopScroll;

/* Process a key that scrolls, with n_visible lines on the screen. Return FALSE
 * for another key. */
gboolean kmt_top_text_lines_key(const GArray *lines, KmtTopScroll *scroll,
				guint n_visible, guint32 key);

/* Draw the visible lines of a page from a line of the screen on. */
void kmt_top_text_lines_draw(const GArray *lines, const KmtTopScroll *scroll,
			     guint line, guint n_visible);

#endif
