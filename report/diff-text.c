// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints a comparison as text. */
#include "config.h"

#include "lib/base/printable.h"
#include "report/diff-text.h"
#include "report/figure-arithmetic.h"
#include "report/report-text.h"

#include <string.h>

/* Describe the lost events of a capture. The caller frees the string. */
static char *loss_text(const KmtDiff *diff, const KmtDiffCapture *capture)
{
	switch (capture->loss) {
	case KMT_LOSS_NONE:
		return g_strdup(capture->is_lossy ? "some not recorded" : "0");
	case KMT_LOSS_EVENTS:
		return kmt_format_number(capture->lost,
					 diff->plan->report.separators);
	case KMT_LOSS_CUT:
		return g_strdup("unknown, cut off");
	case KMT_LOSS_INCOMPLETE:
		return g_strdup("only a part was recorded");
	default:
		return g_strdup("unknown");
	}
}

/* Return whether a capture is a sample. */
static gboolean has_sample(const KmtDiff *diff)
{
	guint i;

	for (i = 0; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		if (capture->sample > 1)
			return TRUE;
	}
	return FALSE;
}

/* Fill the line of a capture. */
static void add_capture(const KmtDiff *diff, KmtColumns *columns, guint number)
{
	const KmtDiffCapture *capture = diff->captures->pdata[number];
	g_autofree char *seconds = kmt_format_elapsed(capture->span_ns, TRUE);
	g_autofree char *loss = loss_text(diff, capture);
	g_autofree char *path = kmt_printable(capture->path);

	kmt_columns_add_text(columns, number < diff->n_base ? "base" : "new");
	kmt_columns_add_text(columns, seconds);
	if (diff->plan->diff.mark)
		kmt_columns_add_number(columns, FALSE, capture->occurrences);
	if (has_sample(diff))
		kmt_columns_add_number(columns, FALSE, capture->sample);
	kmt_columns_add_colored(
		columns, capture->is_lossy ? KMT_COLOR_WARNING : KMT_COLOR_GOOD,
		loss);
	kmt_columns_add_text(columns,
			     capture->release ? capture->release : "unknown");
	kmt_columns_add_text(columns, path);
}

static void print_captures(const KmtDiff *diff, FILE *out)
{
	gboolean has_mark = diff->plan->diff.mark != NULL;
	g_autofree char *align =
		g_strconcat("lr", has_mark ? "r" : "",
			    has_sample(diff) ? "r" : "", "rll", NULL);
	g_autoptr(KmtColumns) columns =
		kmt_columns_new(align, diff->plan->report.separators);
	guint i;

	kmt_color_puts(out, KMT_COLOR_HEADING, "COMPARISON");
	fputc('\n', out);
	while (kmt_columns_next_pass(columns, out)) {
		kmt_columns_add_text(columns, "side");
		kmt_columns_add_text(columns, "seconds");
		if (has_mark)
			kmt_columns_add_text(columns, "marks");
		if (has_sample(diff))
			kmt_columns_add_text(columns, "sample");
		kmt_columns_add_text(columns, "events lost");
		kmt_columns_add_text(columns, "kernel");
		kmt_columns_add_text(columns, "capture");
		for (i = 0; i < diff->captures->len; i++)
			add_capture(diff, columns, i);
	}
}

/* Print how to get a test of the error rate @rate. */
static void print_remedy(const KmtDiff *diff, const char *rate, FILE *out)
{
	guint needed =
		kmt_diff_splits_needed(diff->plan->diff.error_rate, TRUE);

	if (needed)
		fprintf(out,
			"record %u captures or more of each side for the error "
			"rate %s",
			needed, rate);
	else
		fprintf(out, "no number of captures reaches the error rate %s",
			rate);
}

/* Print how the noise of the figures is known. */
static void print_noise(const KmtDiff *diff, FILE *out)
{
	char rate[G_ASCII_DTOSTR_BUF_SIZE], least[G_ASCII_DTOSTR_BUF_SIZE];
	double smallest = kmt_diff_splits_smallest_p(diff->splits, TRUE);

	g_ascii_formatd(rate, sizeof(rate), "%g", diff->plan->diff.error_rate);
	if (diff->n_base < 2 || diff->n_new < 2) {
		fputs("Noise:   unknown: ", out);
		print_remedy(diff, rate, out);
		fputc('\n', out);
		return;
	}
	g_ascii_formatd(least, sizeof(least), "%.3g", smallest);
	fprintf(out,
		"Noise:   a difference exceeds noise if p is at most %s; the "
		"smallest p of %u against %u captures is %s\n",
		rate, diff->n_base, diff->n_new, least);
	if (smallest > diff->plan->diff.error_rate) {
		fputs("         so no difference can exceed noise: ", out);
		print_remedy(diff, rate, out);
		fputs(", or raise --error-rate\n", out);
	}
}

static void print_matches(const KmtDiff *diff, FILE *out)
{
	const guint *n = diff->n_matches;

	fprintf(out,
		"Lines:   %u in both sides, %u of them of another build; %u "
		"removed, %u added\n",
		n[KMT_DIFF_SAME] + n[KMT_DIFF_ALIGNED], n[KMT_DIFF_ALIGNED],
		n[KMT_DIFF_REMOVED], n[KMT_DIFF_ADDED]);
	if (diff->plan->diff.per == KMT_DIFF_PER_SECOND)
		fputs("Divided: sums by the seconds of each capture\n", out);
	if (diff->plan->diff.mark)
		fprintf(out,
			"Divided: sums by the marks '%s' of each capture\n",
			diff->plan->diff.mark);
}

/* Return whether a kind has a figure other than 0. */
static gboolean has_figures(const KmtDiff *diff, guint kind)
{
	guint i, j;

	for (i = 0; i < diff->fields->len; i++)
		for (j = 0; j < diff->captures->len; j++)
			if (kmt_figure_is_nonzero(
				    &diff->kinds[kind].cells[i].values[j]))
				return TRUE;
	return FALSE;
}

/* Fill a line for each field of a kind that has a value. */
static void add_kind(const KmtDiff *diff, KmtColumns *columns, KmtKind kind)
{
	guint i;

	for (i = 0; i < diff->fields->len; i++) {
		const KmtDiffCell *cell = &diff->kinds[kind].cells[i];

		if (cell->base.type == KMT_FIGURE_NONE &&
		    cell->new.type == KMT_FIGURE_NONE)
			continue;
		kmt_diff_text_add_cell(diff, columns, cell);
		kmt_columns_add_text(columns, kmt_kind_name(kind));
		kmt_columns_add_text(columns, kmt_report_field_title(
						      diff->fields->pdata[i]));
	}
}

/* Print the figures of the kinds. */
static void print_kinds(const KmtDiff *diff, FILE *out)
{
	/* Slab is the sum of the two kinds after it. */
	static const KmtKind kinds[] = {KMT_KIND_SLAB,	 KMT_KIND_KMALLOC,
					KMT_KIND_CACHE,	 KMT_KIND_PAGES,
					KMT_KIND_PERCPU, KMT_KIND_VMALLOC};
	g_autofree char *align =
		g_strconcat(kmt_diff_text_align(diff), "ll", NULL);
	g_autoptr(KmtColumns) columns =
		kmt_columns_new(align, diff->plan->report.separators);
	guint i;

	kmt_text_print_title(out, "KINDS");
	while (kmt_columns_next_pass(columns, out)) {
		kmt_diff_text_add_heads(diff, columns);
		kmt_columns_add_text(columns, "kind");
		kmt_columns_add_text(columns, "field");
		for (i = 0; i < G_N_ELEMENTS(kinds); i++)
			if (has_figures(diff, kinds[i]))
				add_kind(diff, columns, kinds[i]);
	}
}

static void print_legend(const KmtDiff *diff, FILE *out)
{
	guint i;

	for (i = 0; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		if (!capture->is_lossy)
			continue;
		fputs("\n~ missing events could have changed this figure\n",
		      out);
		return;
	}
}

void kmt_diff_text(const KmtDiff *diff, FILE *out)
{
	guint i;

	print_captures(diff, out);
	print_noise(diff, out);
	print_matches(diff, out);
	print_kinds(diff, out);
	for (i = 0; i < diff->fields->len; i++)
		kmt_diff_text_list(diff, i, out);
	if (diff->plan->report.shows_leaks)
		kmt_diff_text_leaks(diff, out);
	print_legend(diff, out);
}
