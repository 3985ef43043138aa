// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/columns.h"

#include <string.h>

/* Width of the bar in a cell, in columns of the terminal. */
#define SHARE_WIDTH 8

struct KmtColumns {
	char *align;
	guint n_columns;
	gboolean separators;
	guint passes;
	FILE *out;     /* output of the second pass; NULL in the first */
	guint *widths; /* n_columns widths from the first pass */
	guint column;  /* index of the next column */
	GString *line;
};

KmtColumns *kmt_columns_new(const char *align, gboolean separators)
{
	KmtColumns *columns = g_new0(KmtColumns, 1);

	columns->align = g_strdup(align);
	columns->n_columns = (guint)strlen(align);
	columns->separators = separators;
	columns->widths = g_new0(guint, columns->n_columns);
	columns->line = g_string_new(NULL);
	return columns;
}

void kmt_columns_free(KmtColumns *columns)
{
	if (!columns)
		return;
	g_free(columns->align);
	g_free(columns->widths);
	g_string_free(columns->line, TRUE);
	g_free(columns);
}

char *kmt_format_number(guint64 number, gboolean separators)
{
	char digits[32];
	GString *text = g_string_new(NULL);
	gsize length, i;

	g_snprintf(digits, sizeof(digits), "%" G_GUINT64_FORMAT, number);
	length = strlen(digits);
	for (i = 0; i < length; i++) {
		if (separators && i && (length - i) % 3 == 0)
			g_string_append_c(text, ',');
		g_string_append_c(text, digits[i]);
	}
	return g_string_free(text, FALSE);
}

char *kmt_format_elapsed(guint64 ns, gboolean is_short)
{
	char *text =
		g_strdup_printf("%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
				ns / 1000000000, ns % 1000000000);

	if (is_short)
		text[strlen(text) - 6] = '\0';
	return text;
}

char *kmt_format_seconds(gint64 time_ns, gboolean is_short)
{
	g_autofree char *length = kmt_format_elapsed(
		time_ns < 0 ? -(guint64)time_ns : (guint64)time_ns, is_short);

	return g_strconcat(time_ns < 0 ? "-" : "", length, NULL);
}

/* Round a duration to three digits. From 1000 s on, round to whole seconds. */
static guint64 round_duration(guint64 ns)
{
	guint64 step = 1;

	while (ns / step >= 1000 && step < 1000000000)
		step *= 10;
	return ns % step >= (step + 1) / 2 && ns / step < G_MAXUINT64 / step
		       ? (ns / step + 1) * step
		       : ns / step * step;
}

char *kmt_format_duration(guint64 ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	guint64 rounded = round_duration(ns), factor = 1, rest;
	guint unit = 0;
	GString *text = g_string_new(NULL);

	while (unit + 1 < G_N_ELEMENTS(units) && rounded / factor >= 1000) {
		factor *= 1000;
		unit++;
	}
	g_string_append_printf(text, "%" G_GUINT64_FORMAT, rounded / factor);
	rest = rounded % factor;
	if (rest)
		g_string_append_c(text, '.');
	for (; rest; rest = rest % factor) {
		factor /= 10;
		g_string_append_printf(text, "%" G_GUINT64_FORMAT,
				       rest / factor);
	}
	g_string_append(text, units[unit]);
	return g_string_free(text, FALSE);
}

gboolean kmt_columns_next_pass(KmtColumns *columns, FILE *out)
{
	if (columns->passes == 2)
		return FALSE;
	columns->out = columns->passes++ ? out : NULL;
	return TRUE;
}

/* Print the line without trailing blanks. */
static void end_line(KmtColumns *columns)
{
	g_strchomp(columns->line->str);
	fprintf(columns->out, "%s\n", columns->line->str);
	g_string_truncate(columns->line, 0);
}

/*
 * Return the number of columns that a terminal needs for @text. A byte that is
 * not valid UTF-8 counts as one column.
 */
static guint display_width(const char *text)
{
	const char *p = text;
	guint width = 0;

	while (*p) {
		gunichar c = (guchar)*p < 0x80
				     ? (gunichar)*p
				     : g_utf8_get_char_validated(p, -1);

		if (c == (gunichar)-1 || c == (gunichar)-2) {
			p++;
			width++;
			continue;
		}
		if (c < 0x80 || !g_unichar_iszerowidth(c))
			width += c >= 0x80 && g_unichar_iswide(c) ? 2 : 1;
		p = g_utf8_next_char(p);
	}
	return width;
}

static void append_blanks(GString *text, guint n)
{
	for (; n; n--)
		g_string_append_c(text, ' ');
}

/* Fill the next cell. The texts @begin and @end take no columns. */
static void add_cell(KmtColumns *columns, const char *begin, const char *text,
		     const char *end)
{
	guint i = columns->column++;
	gboolean is_left = columns->align[i] == 'l';
	guint width = display_width(text), padding;

	columns->column %= columns->n_columns;
	if (!columns->out) {
		columns->widths[i] = MAX(columns->widths[i], width);
		return;
	}
	padding = columns->widths[i] - MIN(columns->widths[i], width);
	append_blanks(columns->line, i ? 2 : 0);
	append_blanks(columns->line, is_left ? 0 : padding);
	g_string_append(columns->line, begin);
	g_string_append(columns->line, text);
	g_string_append(columns->line, end);
	append_blanks(columns->line, is_left ? padding : 0);
	if (!columns->column)
		end_line(columns);
}

void kmt_columns_add_text(KmtColumns *columns, const char *text)
{
	add_cell(columns, "", text, "");
}

void kmt_columns_add_colored(KmtColumns *columns, KmtColor color,
			     const char *text)
{
	add_cell(columns, kmt_color_begin(columns->out, color), text,
		 kmt_color_end(columns->out));
}

void kmt_columns_add_number(KmtColumns *columns, gboolean negative,
			    guint64 number)
{
	g_autofree char *digits =
		kmt_format_number(number, columns->separators);
	g_autofree char *text = g_strconcat(negative ? "-" : "", digits, NULL);

	kmt_columns_add_text(columns, text);
}

void kmt_columns_add_percent(KmtColumns *columns, double ratio)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_formatd(text, sizeof(text), "%.1f", ratio * 100);
	kmt_columns_add_text(columns, text);
}

void kmt_columns_add_share(KmtColumns *columns, double ratio, KmtBarStyle style)
{
	g_autofree char *bar = kmt_bar_new(style, ratio, SHARE_WIDTH);
	char percent[G_ASCII_DTOSTR_BUF_SIZE];
	g_autoptr(GString) text = g_string_new(NULL);

	g_ascii_formatd(percent, sizeof(percent), "%.1f", ratio * 100);
	g_string_append(text, percent);
	if (style != KMT_BAR_NONE) {
		g_string_append_c(text, ' ');
		g_string_append(text, bar);
		append_blanks(text, SHARE_WIDTH - display_width(bar));
	}
	kmt_columns_add_colored(columns, KMT_COLOR_SHARE, text->str);
}

void kmt_columns_add_figure(KmtColumns *columns, const KmtFigure *figure)
{
	g_autofree char *text = NULL;
	char rate[G_ASCII_DTOSTR_BUF_SIZE];

	switch (figure->type) {
	case KMT_FIGURE_INTEGER:
		kmt_columns_add_number(columns, figure->negative,
				       figure->integer);
		break;
	case KMT_FIGURE_RATIO:
		kmt_columns_add_percent(columns, figure->real);
		break;
	case KMT_FIGURE_RATE:
		g_ascii_formatd(rate, sizeof(rate), "%.1f", figure->real);
		kmt_columns_add_text(columns, rate);
		break;
	case KMT_FIGURE_NS:
		text = kmt_format_duration(figure->integer);
		kmt_columns_add_text(columns, text);
		break;
	case KMT_FIGURE_TIME:
		text = kmt_format_seconds((gint64)figure->integer, FALSE);
		kmt_columns_add_text(columns, text);
		break;
	case KMT_FIGURE_NONE:
		kmt_columns_add_text(columns, "-");
		break;
	}
}
