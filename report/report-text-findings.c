// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the findings of the matcher. */
#include "config.h"

#include "report/columns.h"
#include "report/report-text.h"

static void finding(KmtColumns *columns, guint64 count, const char *label,
		    const char *meaning)
{
	kmt_columns_number(columns, FALSE, count);
	kmt_columns_text(columns, label);
	kmt_columns_text(columns, meaning);
}

static void fill_counts(const KmtAggregate *aggregate, KmtColumns *columns)
{
	const KmtMatchFindings *findings = &aggregate->findings;

	finding(columns, findings->unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		"frees unmatched, before the trace",
		"first sight of the address");
	finding(columns, findings->unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS],
		"frees unmatched, after loss", "the allocation may be lost");
	finding(columns, findings->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
		"frees unmatched, unexplained", "freed twice, or not traced");
	finding(columns, findings->doubles[KMT_MATCH_DOUBLE_AFTER_LOSS],
		"double allocations, after loss", "the free may be lost");
	finding(columns, findings->doubles[KMT_MATCH_DOUBLE_RACE],
		"double allocations, race",
		"the free came late, from another CPU");
	finding(columns, findings->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED],
		"double allocations, unexplained",
		"the address was live: a free was not traced");
	finding(columns, findings->mismatches, "type mismatches",
		"kmalloc freed as cache, or the other way round");
	finding(columns, findings->mismatches_after_loss,
		"type mismatches, after loss",
		"the records between may be lost");
	finding(columns, aggregate->short_allocs, "short allocations",
		"fewer bytes allocated than requested");
	finding(columns, aggregate->unordered, "timestamps going back",
		"within a CPU's file");
	finding(columns, aggregate->skipped, "records skipped",
		"unknown or damaged");
	finding(columns, aggregate->truncated_bytes, "bytes truncated",
		"after the last whole record of a file");
}

static void print_counts(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rll", report->separators);

	while (kmt_columns_pass(columns, out))
		fill_counts(report->aggregate, columns);
}

static void tally_site(const KmtReport *report, KmtColumns *columns,
		       const KmtFindingSite *site)
{
	kmt_columns_text(columns, kmt_kind_name(site->kind));
	kmt_text_site(report, columns, site->address);
}

typedef struct {
	KmtFindingClass class;
	const char *title;
	const char *count;
	const char *first;
	const char *second; /* NULL: the finding names one site */
} TallyText;

static void fill_tally_rest(const KmtReport *report, KmtColumns *columns,
			    const GPtrArray *list, guint from, gboolean pairs)
{
	guint64 count = 0;
	guint i;

	if (from >= list->len)
		return;
	for (i = from; i < list->len; i++)
		count += ((KmtFindingCount *)g_ptr_array_index(list, i))->count;
	kmt_columns_number(columns, FALSE, count);
	kmt_columns_text(columns, "");
	kmt_text_rest(report, columns, pairs ? "pair" : "call site",
		      pairs ? "pairs" : "call sites", list->len - from);
	if (pairs) {
		kmt_columns_text(columns, "");
		kmt_columns_text(columns, "");
	}
}

static void fill_tally(const KmtReport *report, KmtColumns *columns,
		       const TallyText *text, const GPtrArray *list)
{
	guint n_shown = list->len, i;

	if (report->max_lines && report->max_lines < n_shown)
		n_shown = (guint)report->max_lines;
	kmt_columns_text(columns, text->count);
	kmt_columns_text(columns, "kind");
	kmt_columns_text(columns, text->first);
	if (text->second) {
		kmt_columns_text(columns, "kind");
		kmt_columns_text(columns, text->second);
	}
	for (i = 0; i < n_shown; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_columns_number(columns, FALSE, entry->count);
		tally_site(report, columns, &entry->first);
		if (text->second)
			tally_site(report, columns, &entry->second);
	}
	fill_tally_rest(report, columns, list, n_shown, text->second != NULL);
}

/* Print the findings of one class by call site, unless there are none. */
static void print_tally(const KmtReport *report, FILE *out,
			const TallyText *text)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, text->class);
	g_autoptr(KmtColumns) columns = kmt_columns_new(
		text->second ? "rllll" : "rll", report->separators);

	if (!list->len)
		return;
	fprintf(out, "\n%s\n", text->title);
	while (kmt_columns_pass(columns, out))
		fill_tally(report, columns, text, list);
}

static const TallyText finding_tallies[] = {
	{KMT_FINDING_MISMATCH, "TYPE MISMATCHES", "times", "allocated by",
	 "freed by"},
	{KMT_FINDING_UNMATCHED_UNEXPLAINED, "UNEXPLAINED FREES", "frees",
	 "freed by", NULL},
	{KMT_FINDING_DOUBLE_UNEXPLAINED, "UNEXPLAINED DOUBLE ALLOCATIONS",
	 "times", "older allocated by", "newer allocated by"},
};

static const TallyText before_trace_tally = {
	KMT_FINDING_UNMATCHED_BEFORE_TRACE,
	"FREES OF WHAT WAS ALLOCATED BEFORE THE TRACE", "frees", "freed by",
	NULL};

/*
 * Print the number of unexplained findings in a report without the section of
 * findings.
 */
static void print_unexplained(const KmtReport *report, FILE *out)
{
	const KmtMatchFindings *f = &report->aggregate->findings;
	guint64 n = f->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED] +
		    f->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED] + f->mismatches;

	if (!n)
		return;
	fputs("\nFindings: ", out);
	kmt_text_number(report, out, n);
	fputs(" unexplained, see the default report\n", out);
}

void kmt_text_findings(const KmtReport *report, FILE *out)
{
	guint i;

	if (report->is_answer) {
		print_unexplained(report, out);
	} else {
		fputs("\nFINDINGS\n", out);
		print_counts(report, out);
		for (i = 0; i < G_N_ELEMENTS(finding_tallies); i++)
			print_tally(report, out, &finding_tallies[i]);
	}
	if (report->before_trace)
		print_tally(report, out, &before_trace_tally);
}
