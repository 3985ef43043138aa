// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/text-lines.h"
#include "top/text-width.h"

/* Columns by which the keys left and right scroll. */
#define COLUMN_STEP 8

static void clear_line(gpointer line)
{
	g_free(((KmtTopTextLine *)line)->text);
}

GArray *kmt_top_text_lines_new(void)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(KmtTopTextLine));

	g_array_set_clear_func(lines, clear_line);
	return lines;
}

void kmt_top_text_lines_add(GArray *lines, KmtTopStyle style,
			    const char *format, ...)
{
	KmtTopTextLine line = {.style = style};
	va_list args;

	va_start(args, format);
	line.text = g_strdup_vprintf(format, args);
	va_end(args);
	g_array_append_val(lines, line);
}

gboolean kmt_top_text_lines_key(const GArray *lines, KmtTopScroll *scroll,
				guint n_visible, guint32 key)
{
	guint last = lines->len > n_visible ? lines->len - n_visible : 0;
	guint step = MAX(n_visible, 2) - 1;

	scroll->line = MIN(scroll->line, last);
	switch (key) {
	case KMT_TOP_KEY_UP:
		scroll->line -= MIN(scroll->line, 1);
		break;
	case KMT_TOP_KEY_DOWN:
		scroll->line = MIN(scroll->line + 1, last);
		break;
	case KMT_TOP_KEY_PAGE_UP:
		scroll->line -= MIN(scroll->line, step);
		break;
	case KMT_TOP_KEY_PAGE_DOWN:
		scroll->line = MIN(scroll->line + step, last);
		break;
	case KMT_TOP_KEY_HOME:
		scroll->line = scroll->column = 0;
		break;
	case KMT_TOP_KEY_END:
		scroll->line = last;
		break;
	case KMT_TOP_KEY_LEFT:
		scroll->column -= MIN(scroll->column, COLUMN_STEP);
		break;
	case KMT_TOP_KEY_RIGHT:
		scroll->column += COLUMN_STEP;
		break;
	default:
		return FALSE;
	}
	return TRUE;
}

void kmt_top_text_lines_draw(const GArray *lines, const KmtTopScroll *scroll,
			     guint line, guint n_visible)
{
	guint last = lines->len > n_visible ? lines->len - n_visible : 0;
	guint first = MIN(scroll->line, last);

	for (guint i = 0; i < n_visible && first + i < lines->len; i++) {
		const KmtTopTextLine *from =
			&g_array_index(lines, KmtTopTextLine, first + i);
		g_autofree char *part = kmt_top_text_slice(
			from->text, scroll->column, kmt_top_terminal_columns());

		kmt_top_terminal_put(line + i, 0, from->style, part);
	}
}
