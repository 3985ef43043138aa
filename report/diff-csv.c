// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/csv-fields.h"
#include "report/diff-output.h"

/* Columns of each field. */
static const char *const columns[] = {
	"base",	      "new",   "difference", "ratio",	"base-spread",
	"new-spread", "noise", "p",	     "inexact",
};

/* Return whether the values of a dimension may differ between the sides of a
 * line, so that the base value has a column of its own. */
static gboolean has_two_texts(KmtDimension dimension)
{
	return dimension == KMT_BY_CALLSITE || dimension == KMT_BY_FUNCTION ||
	       dimension == KMT_BY_STACK || dimension == KMT_BY_OWNER;
}

static const char *inexact_sides(const KmtDiffCell *cell)
{
	if (cell->doubtful_base)
		return cell->doubtful_new ? "both" : "base";
	return cell->doubtful_new ? "new" : "";
}

static void print_cell(const KmtDiff *diff, FILE *out, const KmtDiffCell *cell)
{
	fputc(',', out);
	kmt_csv_figure(out, &cell->base);
	fputc(',', out);
	kmt_csv_figure(out, &cell->new);
	fputc(',', out);
	kmt_csv_figure(out, &cell->difference);
	fputc(',', out);
	kmt_csv_real(out, cell->ratio);
	fputc(',', out);
	if (diff->n_base > 1)
		kmt_csv_real(out, cell->base_spread);
	fputc(',', out);
	if (diff->n_new > 1)
		kmt_csv_real(out, cell->new_spread);
	fprintf(out, ",%s,", kmt_noise_name(cell->noise));
	kmt_csv_real(out, cell->p);
	fprintf(out, ",%s", inexact_sides(cell));
}

static void print_line(const KmtDiff *diff, FILE *out, const KmtDiffLine *line)
{
	guint i;

	fputs(kmt_kind_name(line->kind), out);
	for (i = 0; i < diff->by->n; i++) {
		KmtDimension dimension = diff->by->dimensions[i];

		if (dimension == KMT_BY_KIND)
			continue;
		fputc(',', out);
		kmt_csv_text(out, line->texts[i]);
		if (!has_two_texts(dimension))
			continue;
		fputc(',', out);
		if (line->match != KMT_DIFF_ADDED)
			kmt_csv_text(out, line->base_texts[i]);
	}
	fprintf(out, ",%s", kmt_diff_match_name(line->match));
	for (i = 0; i < diff->fields->len; i++)
		print_cell(diff, out, &line->cells[i]);
	fputs("\r\n", out);
}

static void print_header(const KmtDiff *diff, FILE *out)
{
	guint i, j;

	fputs("kind", out);
	for (i = 0; i < diff->by->n; i++) {
		KmtDimension dimension = diff->by->dimensions[i];

		if (dimension == KMT_BY_KIND)
			continue;
		fprintf(out, ",%s", kmt_dimension_name(dimension));
		if (has_two_texts(dimension))
			fprintf(out, ",base-%s", kmt_dimension_name(dimension));
	}
	fputs(",match", out);
	for (i = 0; i < diff->fields->len; i++)
		for (j = 0; j < G_N_ELEMENTS(columns); j++)
			fprintf(out, ",%s-%s",
				kmt_report_field_name(diff->fields->pdata[i]),
				columns[j]);
	fputs("\r\n", out);
}

void kmt_diff_csv(const KmtDiff *diff, FILE *out)
{
	g_autoptr(GPtrArray) lines = kmt_diff_shown_lines(diff);
	guint i;

	print_header(diff, out);
	for (i = 0; i < lines->len; i++)
		print_line(diff, out, lines->pdata[i]);
}
