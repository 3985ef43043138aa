// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <langinfo.h>
#include <string.h>
#include <wchar.h>

#include "lib/base/printable.h"
#include "top/text-width.h"

/* Return the columns of a character, or -1 if it cannot be printed. ncurses
 * uses wcwidth(), too; in a locale with UTF-8, wchar_t has Unicode. */
static int char_width(gunichar c)
{
	if (c < 0x7f)
		return 1;
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		return -1;
	return wcwidth((wchar_t)c);
}

guint kmt_top_text_width(const char *text)
{
	g_autofree char *printable = kmt_printable(text);
	guint width = 0;

	for (const char *p = printable; *p; p = g_utf8_next_char(p)) {
		int columns = char_width(g_utf8_get_char(p));

		width += columns < 0 ? 1 : (guint)columns;
	}
	return width;
}

/* Append a character that begins at column; the part has the columns from
 * first to end - 1. */
static void append_char(GString *part, gunichar c, int columns, guint column,
			guint first, guint end)
{
	if (columns == 0) {
		/* A combining character belongs to the one before it. */
		if (column > first && column <= end)
			g_string_append_unichar(part, c);
	} else if (column >= first && column + (guint)columns <= end) {
		g_string_append_unichar(part, c);
	} else if (column + (guint)columns > first && column < end) {
		g_string_append_c(part, ' ');
	}
}

char *kmt_top_text_slice(const char *text, guint first, guint n_columns)
{
	g_autofree char *printable = kmt_printable(text);
	GString *part = g_string_new(NULL);
	guint column = 0, end = first + n_columns;

	for (const char *p = printable; *p && column <= end;
	     p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		int columns = char_width(c);

		if (columns < 0) {
			c = '?';
			columns = 1;
		}
		append_char(part, c, columns, column, first, end);
		column += (guint)columns;
	}
	return g_string_free(part, FALSE);
}
