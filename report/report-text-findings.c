// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the findings of the matcher. */
#include "config.h"

#include "report/columns.h"
#include "report/finding-texts.h"
#include "report/report-text.h"

static void print_counts(const KmtReport *report, FILE *out)
{
	g_autoptr(GArray) lines = kmt_finding_lines(report);
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rll", report->separators);
	guint i;

	while (kmt_columns_next_pass(columns, out))
		for (i = 0; i < lines->len; i++) {
			const KmtFindingLine *line =
				&g_array_index(lines, KmtFindingLine, i);

			kmt_columns_add_number(columns, FALSE, line->count);
			if (line->is_defect && line->count)
				kmt_columns_add_colored(
					columns, KMT_COLOR_ERROR, line->label);
			else
				kmt_columns_add_text(columns, line->label);
			kmt_columns_add_text(columns, line->meaning);
		}
}

static void fill_finding_site(const KmtReport *report, KmtColumns *columns,
			      const KmtFindingSite *site)
{
	kmt_columns_add_text(columns, kmt_kind_name(site->kind));
	kmt_text_add_site(report, columns, &site->site);
}

static void fill_finding_rest(const KmtReport *report, KmtColumns *columns,
			      const GPtrArray *list, guint from, gboolean pairs)
{
	guint64 count = 0;
	guint i;

	if (from >= list->len)
		return;
	for (i = from; i < list->len; i++)
		count += ((KmtFindingCount *)g_ptr_array_index(list, i))->count;
	kmt_columns_add_number(columns, FALSE, count);
	kmt_columns_add_text(columns, "");
	kmt_text_add_rest(report, columns, pairs ? "pair" : "call site",
			  pairs ? "pairs" : "call sites", list->len - from);
	if (pairs) {
		kmt_columns_add_text(columns, "");
		kmt_columns_add_text(columns, "");
	}
}

static void fill_finding_sites(const KmtReport *report, KmtColumns *columns,
			       const KmtFindingText *text,
			       const GPtrArray *list)
{
	guint n_shown = list->len, i;

	if (report->max_lines && report->max_lines < n_shown)
		n_shown = (guint)report->max_lines;
	kmt_columns_add_text(columns, text->count);
	kmt_columns_add_text(columns, "kind");
	kmt_columns_add_text(columns, text->first);
	if (text->second) {
		kmt_columns_add_text(columns, "kind");
		kmt_columns_add_text(columns, text->second);
	}
	for (i = 0; i < n_shown; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_columns_add_number(columns, FALSE, entry->count);
		fill_finding_site(report, columns, &entry->first);
		if (text->second)
			fill_finding_site(report, columns, &entry->second);
	}
	fill_finding_rest(report, columns, list, n_shown, text->second != NULL);
}

/* Print the findings of one class by call site, unless there are none. */
static void print_finding_sites(const KmtReport *report, FILE *out,
				const KmtFindingText *text)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, text->class);
	g_autoptr(KmtColumns) columns = kmt_columns_new(
		text->second ? "rllll" : "rll", report->separators);

	if (!list->len)
		return;
	kmt_text_print_title(out, text->title);
	while (kmt_columns_next_pass(columns, out))
		fill_finding_sites(report, columns, text, list);
}

static const KmtFindingText before_trace_text = {
	KMT_FINDING_UNMATCHED_BEFORE_TRACE,
	"FREES OF MEMORY ALLOCATED BEFORE THE TRACE", "frees", "freed by",
	NULL};

/*
 * Print the number of unexplained findings in a report without the section of
 * findings.
 */
static void print_unexplained(const KmtReport *report, FILE *out)
{
	const KmtMatchFindings *f = &report->aggregate->findings;
	guint64 n = f->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED] +
		    f->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED] + f->mismatches +
		    f->unmatched_defers[KMT_MATCH_UNMATCHED_UNEXPLAINED] +
		    f->double_defers;

	if (!n)
		return;
	fputs("\nFindings: ", out);
	kmt_text_print_number(report, out, n);
	fputs(" unexplained, see the default report\n", out);
}

void kmt_text_findings(const KmtReport *report, FILE *out)
{
	guint i;

	if (report->selects_sections) {
		print_unexplained(report, out);
	} else {
		kmt_text_print_title(out, "FINDINGS");
		print_counts(report, out);
		for (i = 0; i < KMT_N_FINDING_TEXTS; i++)
			print_finding_sites(report, out, &kmt_finding_texts[i]);
	}
	if (report->before_trace)
		print_finding_sites(report, out, &before_trace_text);
}
