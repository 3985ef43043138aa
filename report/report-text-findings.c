// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the findings of the matcher. */
#include "config.h"

#include "report/columns.h"
#include "report/report-text.h"

static void fill_count(KmtColumns *columns, guint64 count, const char *label,
		       const char *meaning)
{
	kmt_columns_add_number(columns, FALSE, count);
	kmt_columns_add_text(columns, label);
	kmt_columns_add_text(columns, meaning);
}

/* Add a number of findings that nothing explains. */
static void fill_defects(KmtColumns *columns, guint64 count, const char *label,
			 const char *meaning)
{
	kmt_columns_add_number(columns, FALSE, count);
	if (count)
		kmt_columns_add_colored(columns, KMT_COLOR_ERROR, label);
	else
		kmt_columns_add_text(columns, label);
	kmt_columns_add_text(columns, meaning);
}

/*
 * Add a number of findings that missing records explain: those of lost events
 * or, if @has_gaps, of events that the source does not see.
 */
static void fill_after_loss(KmtColumns *columns, guint64 count,
			    const char *label, const char *missing,
			    gboolean has_gaps)
{
	g_autofree char *meaning = g_strconcat(
		missing, " may be lost", has_gaps ? " or not seen" : "", NULL);

	fill_count(columns, count, label, meaning);
}

static void fill_defer_counts(const KmtMatchFindings *findings,
			      KmtColumns *columns, gboolean has_gaps)
{
	const guint64 *unmatched = findings->unmatched_defers;

	fill_count(columns, unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		   "deferred frees unmatched, before the trace",
		   "of memory from before the trace");
	fill_after_loss(columns, unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS],
			"deferred frees unmatched, after loss",
			"the allocation", has_gaps);
	fill_defects(columns, unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
		     "deferred frees unmatched, unexplained",
		     "of freed memory, or not traced");
	fill_after_loss(columns, findings->double_defers_after_loss,
			"frees deferred twice, after loss", "the free",
			has_gaps);
	fill_defects(columns, findings->double_defers,
		     "frees deferred twice, unexplained",
		     "handed over again before the free");
}

static void fill_counts(const KmtReport *report, KmtColumns *columns)
{
	const KmtAggregate *aggregate = report->aggregate;
	g_auto(GStrv) not_seen = kmt_input_capture_not_seen(report->capture);
	gboolean has_gaps = not_seen != NULL;
	const KmtMatchFindings *findings = &aggregate->findings;

	fill_count(columns,
		   findings->unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		   "frees unmatched, before the trace",
		   "first event of the address");
	fill_after_loss(
		columns, findings->unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS],
		"frees unmatched, after loss", "the allocation", has_gaps);
	fill_defects(
		columns, findings->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
		"frees unmatched, unexplained", "freed twice, or not traced");
	fill_after_loss(columns, findings->doubles[KMT_MATCH_DOUBLE_AFTER_LOSS],
			"double allocations, after loss", "the free", has_gaps);
	fill_count(columns, findings->doubles[KMT_MATCH_DOUBLE_RACE],
		   "double allocations, race",
		   "the free came late, from another CPU");
	fill_defects(columns, findings->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED],
		     "double allocations, unexplained",
		     "the address was live: a free was not traced");
	fill_defects(columns, findings->mismatches, "type mismatches",
		     "kmalloc freed as cache, or the other way round");
	fill_after_loss(columns, findings->mismatches_after_loss,
			"type mismatches, after loss", "the records between",
			has_gaps);
	if (aggregate->defer_records)
		fill_defer_counts(findings, columns, has_gaps);
	fill_defects(columns, aggregate->short_allocs, "short allocations",
		     "fewer bytes allocated than requested");
	fill_defects(columns, aggregate->unordered, "timestamps going back",
		     "within a CPU's file");
	fill_defects(columns, aggregate->skipped, "records skipped",
		     "unknown or damaged");
	fill_defects(columns, aggregate->truncated_bytes, "bytes truncated",
		     "after the last whole record of a file");
}

static void print_counts(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rll", report->separators);

	while (kmt_columns_next_pass(columns, out))
		fill_counts(report, columns);
}

static void fill_finding_site(const KmtReport *report, KmtColumns *columns,
			      const KmtFindingSite *site)
{
	kmt_columns_add_text(columns, kmt_kind_name(site->kind));
	kmt_text_add_site(report, columns, &site->site);
}

typedef struct {
	KmtFindingClass class;
	const char *title;
	const char *count;
	const char *first;
	const char *second; /* NULL: the finding names one site */
} FindingText;

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
			       const FindingText *text, const GPtrArray *list)
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
				const FindingText *text)
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

static const FindingText finding_texts[] = {
	{KMT_FINDING_MISMATCH, "TYPE MISMATCHES", "times", "allocated by",
	 "freed by"},
	{KMT_FINDING_UNMATCHED_UNEXPLAINED, "UNEXPLAINED FREES", "frees",
	 "freed by", NULL},
	{KMT_FINDING_DOUBLE_UNEXPLAINED, "UNEXPLAINED DOUBLE ALLOCATIONS",
	 "times", "older allocated by", "newer allocated by"},
	{KMT_FINDING_UNMATCHED_DEFER, "UNEXPLAINED DEFERRED FREES", "times",
	 "deferred by", NULL},
	{KMT_FINDING_DOUBLE_DEFER, "FREES DEFERRED TWICE", "times",
	 "allocated by", "deferred again by"},
};

static const FindingText before_trace_text = {
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
		for (i = 0; i < G_N_ELEMENTS(finding_texts); i++)
			print_finding_sites(report, out, &finding_texts[i]);
	}
	if (report->before_trace)
		print_finding_sites(report, out, &before_trace_text);
}
