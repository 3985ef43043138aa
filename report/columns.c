// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/columns.h"

#include <string.h>

struct KmtColumns {
	char *align;
	guint n_columns;
	gboolean separators;
	GPtrArray *cells; /* of char *, line by line */
};

KmtColumns *kmt_columns_new(const char *align, gboolean separators)
{
	KmtColumns *columns = g_new0(KmtColumns, 1);

	columns->align = g_strdup(align);
	columns->n_columns = (guint)strlen(align);
	columns->separators = separators;
	columns->cells = g_ptr_array_new_with_free_func(g_free);
	return columns;
}

void kmt_columns_free(KmtColumns *columns)
{
	if (!columns)
		return;
	g_free(columns->align);
	g_ptr_array_unref(columns->cells);
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

char *kmt_format_length(guint64 ns, gboolean is_short)
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
	g_autofree char *length = kmt_format_length(
		time_ns < 0 ? -(guint64)time_ns : (guint64)time_ns, is_short);

	return g_strconcat(time_ns < 0 ? "-" : "", length, NULL);
}

/* Rounded to three digits, but seconds to whole ones at least. */
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

void kmt_columns_text(KmtColumns *columns, const char *text)
{
	g_ptr_array_add(columns->cells, g_strdup(text));
}

void kmt_columns_number(KmtColumns *columns, gboolean negative, guint64 number)
{
	g_autofree char *text = kmt_format_number(number, columns->separators);

	g_ptr_array_add(columns->cells,
			g_strconcat(negative ? "-" : "", text, NULL));
}

void kmt_columns_percent(KmtColumns *columns, double ratio)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	g_ascii_formatd(text, sizeof(text), "%.1f", ratio * 100);
	kmt_columns_text(columns, text);
}

void kmt_columns_figure(KmtColumns *columns, const KmtFigure *figure)
{
	g_autofree char *text = NULL;
	char rate[G_ASCII_DTOSTR_BUF_SIZE];

	switch (figure->type) {
	case KMT_FIGURE_INTEGER:
		kmt_columns_number(columns, figure->negative, figure->integer);
		break;
	case KMT_FIGURE_RATIO:
		kmt_columns_percent(columns, figure->real);
		break;
	case KMT_FIGURE_RATE:
		g_ascii_formatd(rate, sizeof(rate), "%.1f", figure->real);
		kmt_columns_text(columns, rate);
		break;
	case KMT_FIGURE_NS:
		text = kmt_format_duration(figure->integer);
		kmt_columns_text(columns, text);
		break;
	case KMT_FIGURE_TIME:
		text = kmt_format_seconds((gint64)figure->integer, FALSE);
		kmt_columns_text(columns, text);
		break;
	case KMT_FIGURE_NONE:
		kmt_columns_text(columns, "-");
		break;
	}
}

static const char *cell(const KmtColumns *columns, guint line, guint column)
{
	return g_ptr_array_index(columns->cells,
				 line * columns->n_columns + column);
}

/* Without blanks at its end. */
static void print_line(const KmtColumns *columns, guint line, const int *widths,
		       FILE *out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	guint i;

	for (i = 0; i < columns->n_columns; i++) {
		gboolean left = columns->align[i] == 'l';

		g_string_append_printf(text, "%s%*s", i ? "  " : "",
				       left ? -widths[i] : widths[i],
				       cell(columns, line, i));
	}
	g_strchomp(text->str);
	fprintf(out, "%s\n", text->str);
}

void kmt_columns_print(const KmtColumns *columns, FILE *out)
{
	guint n_lines = columns->cells->len / columns->n_columns;
	g_autofree int *widths = g_new0(int, columns->n_columns);
	guint line, column;

	for (line = 0; line < n_lines; line++)
		for (column = 0; column < columns->n_columns; column++)
			widths[column] =
				MAX(widths[column],
				    (int)strlen(cell(columns, line, column)));
	for (line = 0; line < n_lines; line++)
		print_line(columns, line, widths, out);
}
