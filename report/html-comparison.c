// SPDX-License-Identifier: GPL-2.0-or-later
/* The comparison with the base of --diff. */
#include "config.h"

#include "report/html-private.h"
#include "report/report-html.h"

#include <math.h>

/* Bytes of the lines. */
#define ALLOWANCE 800000

/* The fields of the comparison, and their units in the page. */
static const struct {
	const char *field;
	const char *unit;
} fields[] = {
	{"live", "bytes"},	{"wasted", "bytes"}, {"peak", "bytes"},
	{"allocs", "count"},	{"frees", "count"},  {"allocated", "bytes"},
	{"requested", "bytes"}, {"frag", "share"},   {"live-objects", "count"},
	{"cross-cpu", "count"},
};

char *kmt_html_comparison_fields(void)
{
	GString *names = g_string_new(NULL);
	guint i;

	for (i = 0; i < G_N_ELEMENTS(fields); i++)
		g_string_append_printf(names, "%s%s", i ? "," : "",
				       fields[i].field);
	return g_string_free(names, FALSE);
}

/* ---- captures and fields ---- */

static void add_side(KmtHtmlReport *html, const char *key, guint first, guint n)
{
	guint i;

	kmt_html_begin(html->data, key, '[');
	for (i = first; i < first + n; i++) {
		const KmtDiffCapture *capture = html->diff->captures->pdata[i];
		g_autofree char *name = g_filename_display_name(capture->path);

		kmt_html_begin(html->data, NULL, '{');
		kmt_html_text(html->data, "name", name);
		kmt_html_text(html->data, "kernel_release", capture->release);
		kmt_html_u64(html->data, "duration_ns", capture->span_ns);
		kmt_html_text(html->data, "loss", kmt_loss_name(capture->loss));
		kmt_html_end(html->data, '}');
	}
	kmt_html_end(html->data, ']');
}

static void add_per(KmtHtmlReport *html)
{
	const KmtDiffOptions *options = &html->diff->plan->diff;
	g_autofree char *per = NULL;

	if (options->per == KMT_DIFF_PER_SECOND)
		per = g_strdup("per second");
	else if (options->per == KMT_DIFF_PER_MARK)
		per = g_strdup_printf("per mark %s", options->mark);
	kmt_html_text(html->data, "per", per);
}

static const char *unit_of(const KmtReportField *field)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(fields); i++)
		if (kmt_report_field_find(fields[i].field) == field)
			return fields[i].unit;
	return "count";
}

static void add_fields(KmtHtmlReport *html, GPtrArray *lists)
{
	guint i;

	kmt_html_begin(html->data, "fields", '[');
	for (i = 0; i < lists->len; i++) {
		const KmtReportField *field = html->diff->fields->pdata[i];
		const KmtDiffList *list = lists->pdata[i];

		kmt_html_begin(html->data, NULL, '{');
		kmt_html_text(html->data, "name", kmt_report_field_name(field));
		kmt_html_text(html->data, "unit", unit_of(field));
		kmt_html_u64(html->data, "varying", list->n_varying);
		kmt_html_u64(html->data, "exceeding", list->n_exceeds);
		kmt_html_end(html->data, '}');
	}
	kmt_html_end(html->data, ']');
}

/* ---- lines ---- */

static void add_figure(KmtHtmlReport *html, const KmtFigure *figure)
{
	switch (figure->type) {
	case KMT_FIGURE_INTEGER:
		kmt_html_integer(html->data, NULL, figure->negative,
				 figure->integer);
		break;
	case KMT_FIGURE_RATIO:
	case KMT_FIGURE_RATE:
		kmt_html_fraction(html->data, NULL, figure->real);
		break;
	case KMT_FIGURE_NS:
		kmt_html_u64(html->data, NULL, figure->integer);
		break;
	default:
		kmt_html_null(html->data, NULL);
		break;
	}
}

/* Add a cell. @rank is the position of the line in the list of the field, from
 * 1; 0 if no capture has a figure. */
static void add_cell(KmtHtmlReport *html, const KmtDiffCell *cell, guint rank)
{
	if (!rank) {
		kmt_html_null(html->data, NULL);
		return;
	}
	kmt_html_begin(html->data, NULL, '[');
	add_figure(html, &cell->base);
	add_figure(html, &cell->new);
	add_figure(html, &cell->difference);
	kmt_html_u64(html->data, NULL, cell->noise);
	kmt_html_u64(html->data, NULL,
		     (cell->doubtful_base ? 1 : 0) +
			     (cell->doubtful_new ? 2 : 0));
	if (isnan(cell->p))
		kmt_html_null(html->data, NULL);
	else
		kmt_html_fraction(html->data, NULL, cell->p);
	kmt_html_u64(html->data, NULL, rank);
	kmt_html_end(html->data, ']');
}

static void add_line(KmtHtmlReport *html, const KmtDiffLine *line,
		     GPtrArray *ranks)
{
	guint i;

	kmt_html_begin(html->data, NULL, '[');
	kmt_html_name(html->data, NULL, kmt_kind_name(line->kind));
	kmt_html_name(html->data, NULL, line->texts[0]);
	kmt_html_u64(html->data, NULL, line->match);
	kmt_html_name(html->data, NULL,
		      line->guess ? line->guess->texts[0] : NULL);
	kmt_html_begin(html->data, NULL, '[');
	for (i = 0; i < html->diff->fields->len; i++)
		add_cell(html, &line->cells[i],
			 GPOINTER_TO_UINT(
				 g_hash_table_lookup(ranks->pdata[i], line)));
	kmt_html_end(html->data, ']');
	kmt_html_end(html->data, ']');
}

/*
 * Return the lines with a figure (const KmtDiffLine *): the first ones of all
 * lists, then the second ones, and so on, so that a table that is cut has the
 * most relevant lines of each field. The caller owns the array.
 */
static GPtrArray *merge_lists(const GPtrArray *lists)
{
	GPtrArray *lines = g_ptr_array_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	gboolean is_end = FALSE;
	guint rank, i;

	for (rank = 0; !is_end; rank++) {
		is_end = TRUE;
		for (i = 0; i < lists->len; i++) {
			const KmtDiffList *list = lists->pdata[i];

			if (rank >= list->lines->len)
				continue;
			is_end = FALSE;
			if (g_hash_table_add(seen, list->lines->pdata[rank]))
				g_ptr_array_add(lines,
						list->lines->pdata[rank]);
		}
	}
	return lines;
}

/* Return for each list a table of the ranks of its lines, from 1. The caller
 * owns the array. */
static GPtrArray *ranks_of(const GPtrArray *lists)
{
	GPtrArray *ranks = g_ptr_array_new_with_free_func(
		(GDestroyNotify)g_hash_table_unref);
	guint i, j;

	for (i = 0; i < lists->len; i++) {
		const KmtDiffList *list = lists->pdata[i];
		GHashTable *table = g_hash_table_new(NULL, NULL);

		for (j = 0; j < list->lines->len; j++)
			g_hash_table_insert(table, list->lines->pdata[j],
					    GUINT_TO_POINTER(j + 1));
		g_ptr_array_add(ranks, table);
	}
	return ranks;
}

static void add_lines(KmtHtmlReport *html, const GPtrArray *lists)
{
	g_autoptr(GPtrArray) lines = merge_lists(lists);
	g_autoptr(GPtrArray) ranks = ranks_of(lists);
	guint i;

	kmt_html_begin(html->data, "lines", '[');
	kmt_html_allow(html->data, ALLOWANCE);
	for (i = 0; i < lines->len; i++) {
		kmt_html_begin_element(html->data);
		add_line(html, lines->pdata[i], ranks);
		if (!kmt_html_fits(html->data))
			break;
	}
	kmt_html_end(html->data, ']');
	if (i < lines->len)
		kmt_html_cut(html->data,
			     "The comparison has %u of %u call sites: those "
			     "with the largest differences of each field.",
			     i, lines->len);
}

void kmt_html_add_comparison(KmtHtmlReport *html)
{
	const KmtDiff *diff = html->diff;
	g_autoptr(GPtrArray) lists = NULL;
	guint i;

	if (!diff)
		return;
	lists = g_ptr_array_new_with_free_func(
		(GDestroyNotify)kmt_diff_list_free);
	for (i = 0; i < diff->fields->len; i++)
		g_ptr_array_add(lists, kmt_diff_list_new(diff, i, 0));
	kmt_html_begin(html->data, "comparison", '{');
	add_side(html, "base", 0, diff->n_base);
	add_side(html, "new", diff->n_base, diff->n_new);
	add_per(html);
	kmt_html_fraction(html->data, "error_rate",
			  diff->plan->diff.error_rate);
	if (diff->n_base > 1 && diff->n_new > 1)
		kmt_html_fraction(
			html->data, "smallest_p",
			kmt_diff_splits_smallest_p(diff->splits, TRUE));
	else
		kmt_html_null(html->data, "smallest_p");
	add_fields(html, lists);
	add_lines(html, lists);
	kmt_html_end(html->data, '}');
}
