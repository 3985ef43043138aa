/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts in columns of the terminal. A character may take two columns or none.
 * '?' stands for each character that the terminal cannot print: control
 * characters, invalid UTF-8, and in a locale without UTF-8 all characters that
 * are not ASCII.
 */
#ifndef KMEMTRACE_TOP_TEXT_WIDTH_H
#define KMEMTRACE_TOP_TEXT_WIDTH_H

#include <glib.h>

/* Return the number of columns that a text takes. */
guint kmt_top_text_width(const char *text);

/*
 * Return the part of a text that is in the columns from first on, at most
 * n_columns columns. A blank stands for each half of a wide character. The
 * caller frees the part.
 */
char *kmt_top_text_slice(const char *text, guint first, guint n_columns);

#endif
