// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/memory-output.h"
#include "fuzz/reports.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "report/diff-output.h"
#include "report/figure-arithmetic.h"

#include <stdlib.h>

/*
 * Limit of --windows. Each window prints all figures, so more windows take
 * longer without new code paths.
 */
#define MAX_WINDOWS 50

/* Without the list of wrappers, kmt_plan_make() rejects --by owner. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	g_setenv("KMEMTRACE_WRAPPERS", FUZZ_WRAPPERS, TRUE);
	return 0;
}

/*
 * Check that each usable record is counted, if there is no filter, no time
 * range and no sample.
 */
static void check_sums(const KmtCaptureReport *r)
{
	const KmtAggregateOptions *o = &r->plan.aggregate;
	const KmtAggregate *aggregate = r->aggregate;
	guint64 n = 0;
	guint i;

	/* The figures of a sampled capture are scaled up, so they exceed the
	 * number of records. */
	if (kmt_filter_is_set(&r->plan.filter) || o->span.start ||
	    !r->plan.whole_span || r->capture->sample > 1)
		return;
	for (i = 0; i < KMT_KIND_SLAB; i++)
		n += aggregate->kinds[i].allocs + aggregate->kinds[i].frees;
	g_assert_cmpuint(n + aggregate->skipped + aggregate->gap_records +
				 aggregate->stop_records +
				 aggregate->mark_records +
				 aggregate->defer_records,
			 ==, r->capture->n_records);
}

/*
 * Return the text of the report, or NULL if the capture cannot be read or the
 * options do not fit it. The caller frees the text with free().
 */
static char *report(KmtCaptureReport *r, guint jobs)
{
	const char *const operands[] = {kmt_scratch_directory(), NULL};
	KmtMemoryOutput output = {0};

	r->plan.aggregate.jobs = jobs;
	if (!kmt_capture_report_read(r, operands, NULL, NULL))
		return NULL;
	check_sums(r);
	/* An empty page. */
	if (!r->plan.template.text)
		r->plan.template.text = g_strdup("");
	kmt_plan_print(&r->plan, kmt_memory_output_open(&output));
	return kmt_memory_output_close(&output);
}

/* Check that no figure of a line differs. A call site without a name may not
 * match itself, because the capture need not name its build. */
static void check_equal(const KmtDiff *diff)
{
	guint i, j;

	for (i = 0; i < diff->lines->len; i++) {
		const KmtDiffLine *line = diff->lines->pdata[i];

		if (line->match == KMT_DIFF_REMOVED ||
		    line->match == KMT_DIFF_ADDED)
			continue;
		for (j = 0; j < diff->fields->len; j++)
			g_assert_false(kmt_figure_is_nonzero(
				&line->cells[j].difference));
	}
}

/* Return the text of a comparison of the capture with itself, as report(). */
static char *compare(KmtCaptureReport *r, guint jobs)
{
	const char *const operands[] = {kmt_scratch_directory(), NULL};
	KmtMemoryOutput output = {0};
	g_autoptr(KmtDiff) diff = NULL;

	r->plan.aggregate.jobs = jobs;
	diff = kmt_diff_read(r, operands, operands, NULL, NULL);
	if (!diff)
		return NULL;
	check_equal(diff);
	kmt_diff_print(diff, kmt_memory_output_open(&output));
	return kmt_memory_output_close(&output);
}

/* Forget the files of symbols that the command line names, which are not part
 * of the input. */
static void forget_files(KmtOptions *o)
{
	g_clear_pointer(&o->kallsyms, g_free);
	g_clear_pointer(&o->system_map, g_free);
	g_clear_pointer(&o->vmlinux, g_free);
	g_clear_pointer(&o->debug_dir, g_free);
	g_clear_pointer(&o->source, g_free);
	g_clear_pointer(&o->base_vmlinux, g_free);
	g_clear_pointer(&o->base_debug_dir, g_free);
	g_clear_pointer(&o->base_source, g_free);
}

gboolean kmt_reports_parse(char **words, KmtReports *reports)
{
	g_autoptr(GOptionContext) context =
		kmt_options_parse(words, &reports->options, NULL);

	if (!context)
		return FALSE;
	reports->report = kmt_capture_report_new(&reports->options, NULL);
	forget_files(&reports->options);
	return reports->report &&
	       reports->report->plan.aggregate.span.windows <= MAX_WINDOWS;
}

void kmt_reports_run(KmtReports *reports)
{
	KmtCaptureReport *r = reports->report;
	KmtForm form = r->plan.form;
	char *text, *other;

	/* The page of a comparison needs a second plan. */
	if (r->plan.diff.given && form == KMT_FORM_HTML)
		return;
	text = r->plan.diff.given ? compare(r, 1) : report(r, 1);
	other = r->plan.diff.given ? compare(r, 3) : report(r, 3);
	g_assert_cmpstr(text, ==, other);
	if (text && (form == KMT_FORM_JSON || form == KMT_FORM_PERFETTO))
		kmt_memory_output_check_json(text);
	free(text);
	free(other);
}

void kmt_reports_clear(KmtReports *reports)
{
	kmt_capture_report_free(reports->report);
	kmt_options_clear(&reports->options);
}
