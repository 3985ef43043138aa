// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "report/advice-output.h"
#include "report/leaks.h"
#include "report/mark-list.h"
#include "report/scale.h"
#include "report/report-text.h"

static void seconds_cell(KmtColumns *columns, guint64 ns)
{
	g_autofree char *text = kmt_format_elapsed(ns, FALSE);

	kmt_columns_add_text(columns, text);
}

/* ---- windows ---- */

/* Return whether any window has an event or a peak of this kind. */
static gboolean is_in_windows(const KmtReport *report, KmtKind kind)
{
	guint i;

	for (i = 0; i < report->aggregate->n_windows; i++) {
		const KmtTotals *t = &report->aggregate->windows[i].kinds[kind];

		if (t->allocs || t->frees || t->peak_bytes_alloc)
			return TRUE;
	}
	return FALSE;
}

static void lost_cell(KmtColumns *columns, const guint64 *lost, guint window)
{
	if (lost)
		kmt_columns_add_number(columns, FALSE, lost[window]);
	else
		kmt_columns_add_text(columns, "?");
}

/*
 * Fill the table of windows. @lost is the losses of each window, or NULL if
 * unknown. If the capture has losses, they are printed in the first line of a
 * window, because a loss belongs to no kind.
 */
static void fill_windows(const KmtReport *report, KmtColumns *columns,
			 const KmtKind *kinds, guint n_kinds,
			 const guint64 *lost)
{
	gboolean has_losses = report->capture->overruns > 0;
	static const char *const heads[] = {"from, s",	"allocs", "frees",
					    "live",	"peak",	  "kind",
					    "allocated"};
	gboolean has_defers = report->aggregate->defer_records > 0;
	guint i, j;

	for (i = 0; i < G_N_ELEMENTS(heads); i++) {
		/* Columns 0 and 5 (time and kind) are never scaled. Column 2
		 * (frees) counts all FREE records without a filter, and is then
		 * not scaled either. */
		if (i == 0 || i == 5 ||
		    (i == 2 && !kmt_report_has_filter(report)))
			kmt_columns_add_text(columns, heads[i]);
		else
			kmt_text_add_head(report, columns, heads[i]);
	}
	if (has_defers)
		kmt_text_add_head(report, columns, "deferred");
	if (has_losses)
		kmt_columns_add_text(columns, "events lost");
	for (i = 0; i < report->aggregate->n_windows; i++) {
		for (j = 0; j < n_kinds; j++) {
			const KmtWindow *w = &report->aggregate->windows[i];
			const KmtTotals *t = &w->kinds[kinds[j]];

			seconds_cell(columns, w->start);
			kmt_columns_add_number(columns, FALSE, t->allocs);
			kmt_columns_add_number(columns, FALSE, t->frees);
			kmt_columns_add_number(columns, FALSE,
					       t->live_bytes_alloc);
			kmt_columns_add_number(columns, FALSE,
					       t->peak_bytes_alloc);
			kmt_columns_add_text(columns, kmt_kind_name(kinds[j]));
			kmt_columns_add_number(columns, FALSE, t->bytes_alloc);
			if (has_defers)
				kmt_columns_add_number(columns, FALSE,
						       w->deferred[kinds[j]]);
			if (has_losses && j == 0)
				lost_cell(columns, lost, i);
			else if (has_losses)
				kmt_columns_add_text(columns, "");
		}
	}
}

static void print_windows(const KmtReport *report, FILE *out)
{
	/* The last two columns show deferred memory and losses. */
	guint unused =
		!report->aggregate->defer_records + !report->capture->overruns;
	g_autofree char *align =
		g_strndup("rrrrrlrrr", strlen("rrrrrlrrr") - unused);
	g_autoptr(KmtColumns) columns =
		kmt_columns_new(align, report->separators);
	g_autofree guint64 *lost = kmt_report_window_losses(report);
	KmtKind kinds[KMT_N_LAYERS];
	guint i, n = 0;

	kmt_text_print_title(out, "OVER TIME (bytes)");
	if (!report->aggregate->n_windows) {
		fputs("none\n", out);
		return;
	}
	for (i = 0; i < KMT_N_LAYERS; i++)
		if (is_in_windows(report, kmt_layers[i]))
			kinds[n++] = kmt_layers[i];
	while (kmt_columns_next_pass(columns, out))
		fill_windows(report, columns, kinds, n, lost);
}

/* ---- leaks ---- */

/*
 * Format a number, marked if missing events may have changed it or if it is
 * scaled. The caller frees the string.
 */
static char *leak_number(const KmtReport *report, guint64 number)
{
	g_autofree char *text = kmt_format_number(number, report->separators);

	return g_strconcat(text, kmt_report_is_lossy(report) ? "~" : "",
			   kmt_text_scale_mark(report), NULL);
}

static void print_reused(FILE *out, const KmtReport *report,
			 const KmtLeak *leak)
{
	g_autofree char *reused = leak_number(report, leak->reused.integer);

	fprintf(out,
		";\n    %s of its addresses were allocated again without a "
		"recorded free%s",
		reused,
		leak->doubt == KMT_LEAK_FREES_MISSING
			? ":\n    its frees are not recorded, so this is no "
			  "sign of a leak"
			: "");
}

static void print_leak(FILE *out, const KmtReport *report, const KmtLeak *leak)
{
	const KmtGroup *group = leak->group;
	g_autofree char *name =
		kmt_groups_text(report->aggregate->groups, group);
	g_autofree char *growth = leak_number(report, leak->growth);
	g_autofree char *objects = leak_number(report, leak->in_use);
	g_autofree char *frees = leak_number(report, leak->frees);
	g_autofree char *age = kmt_format_duration(leak->age_median);
	g_autofree char *life = kmt_format_duration(leak->lifetime_p99);

	fprintf(out, "%s (%s)\n", name, kmt_kind_name(group->kind));
	fprintf(out,
		"    grew in %u of %u windows, by %s bytes; holds %s objects, "
		"half of them for more than %s;\n",
		leak->grown, leak->steps, growth, objects, age);
	if (leak->frees)
		fprintf(out,
			"    of the %s that were freed, 99 %% had lived no "
			"more than %s",
			frees, life);
	else
		fputs("    no free was recorded", out);
	if (leak->reused.integer)
		print_reused(out, report, leak);
	fputc('\n', out);
}

/* Titles of the lists of candidates, in the order of kmt_leaks_find(). */
static const struct {
	KmtLeakDoubt doubt;
	const char *title;
} leak_lists[] = {
	{KMT_LEAK_LIKELY, "LEAK CANDIDATES"},
	{KMT_LEAK_ALLOCATOR,
	 "OTHER GROUPS THAT GREW (allocators keep objects of other groups in "
	 "them)"},
	{KMT_LEAK_FREES_MISSING,
	 "OTHER GROUPS THAT GREW (most of their frees are not recorded)"},
};

/*
 * Print the candidates from index @from on with @doubt. Return the index of the
 * first other candidate.
 */
static guint print_leak_list(FILE *out, const KmtReport *report,
			     const GArray *leaks, guint from,
			     KmtLeakDoubt doubt)
{
	guint i, left_out = 0;

	for (i = from; i < leaks->len; i++) {
		const KmtLeak *leak = &g_array_index(leaks, KmtLeak, i);

		if (leak->doubt != doubt)
			break;
		if (report->max_lines && i - from >= report->max_lines)
			left_out++;
		else
			print_leak(out, report, leak);
	}
	if (i == from)
		fputs("none\n", out);
	if (left_out)
		fprintf(out, "(%u more)\n", left_out);
	return i;
}

static void print_leaks(const KmtReport *report, FILE *out)
{
	g_autoptr(GArray) leaks = kmt_leaks_find(
		report->aggregate, kmt_report_is_selected, report);
	guint i, next = 0;

	for (i = 0; i < G_N_ELEMENTS(leak_lists); i++) {
		KmtLeakDoubt doubt = leak_lists[i].doubt;

		/* Only the list of leaks is shown if it is empty. */
		if (doubt != KMT_LEAK_LIKELY &&
		    (next == leaks->len ||
		     g_array_index(leaks, KmtLeak, next).doubt != doubt))
			continue;
		kmt_text_print_title(out, leak_lists[i].title);
		next = print_leak_list(out, report, leaks, next, doubt);
	}
	if (leaks->len)
		kmt_text_print_legend(report, out);
}

/* ---- histograms ---- */

static char *power_label(guint power, gboolean is_time)
{
	guint64 low = power ? G_GUINT64_CONSTANT(1) << power : 0;
	guint64 high = power >= 63 ? G_MAXUINT64
				   : (G_GUINT64_CONSTANT(2) << power) - 1;

	if (is_time) {
		g_autofree char *from = kmt_format_duration(low);

		return g_strconcat("from ", from, NULL);
	}
	return g_strdup_printf("%" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
			       low, high);
}

#define BAR_WIDTH 40

static void fill_histogram(const KmtReport *report, KmtColumns *columns,
			   const KmtHistogram *h, gboolean is_time)
{
	guint power;

	for (power = 0; power < 64; power++) {
		guint64 n = kmt_histogram_power(h, power);
		double share = (double)n / (double)h->n;
		g_autofree char *label = power_label(power, is_time);
		g_autofree char *bar = kmt_bar_new(
			MAX(report->bars, KMT_BAR_ASCII), share, BAR_WIDTH);

		if (!n)
			continue;
		kmt_columns_add_number(
			columns, FALSE,
			kmt_aggregate_scaled(report->aggregate, n));
		kmt_columns_add_percent(columns, share);
		kmt_columns_add_text(columns, label);
		kmt_columns_add_colored(columns, KMT_COLOR_SHARE, bar);
	}
}

static void print_histogram(const KmtReport *report, FILE *out,
			    const KmtHistogram *h, gboolean is_time)
{
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rrll", report->separators);

	while (kmt_columns_next_pass(columns, out))
		fill_histogram(report, columns, h, is_time);
}

static void print_histograms(const KmtReport *report, FILE *out)
{
	gboolean is_time = report->histogram == KMT_HISTOGRAM_LIFETIME;
	g_autoptr(KmtTable) table = kmt_report_table_new(report);
	g_autofree char *title = NULL;
	guint i, n = 0;

	title = g_strconcat(is_time ? "LIFETIMES of freed objects"
				    : "SIZES requested, bytes",
			    kmt_text_scale_mark(report), NULL);
	kmt_text_print_title(out, title);
	for (i = 0; i < table->n_shown; i++) {
		const KmtGroup *group = table->rows[i];
		const KmtHistogram *h = is_time ? &group->detail->lifetimes
						: &group->detail->sizes;
		g_autofree char *name =
			kmt_groups_text(report->aggregate->groups, group);

		if (!h->n)
			continue;
		fprintf(out, "%s (%s)\n", name, kmt_kind_name(group->kind));
		print_histogram(report, out, h, is_time);
		n++;
	}
	if (!n)
		fputs("none\n", out);
}

void kmt_text_detailed(const KmtReport *report, FILE *out)
{
	if (report->shows_cross_cpu)
		kmt_text_cross_cpu_groups(report, out);
	if (report->shows_windows)
		print_windows(report, out);
	if (report->shows_leaks)
		print_leaks(report, out);
	if (report->advice)
		kmt_advice_text(report, out);
	if (report->shows_marks)
		kmt_text_mark_list(report, out);
	if (report->histogram)
		print_histograms(report, out);
	if (report->aggregate->cross)
		kmt_text_cross_cpu_pairs(report, out);
}
