// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/memory-output.h"
#include "fuzz/reports.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "lib/output/capture-symbols.h"
#include "report/advice.h"
#include "report/report-options.h"
#include "report/scale.h"

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
static void check_sums(const KmtInputCapture *capture, const KmtPlan *plan,
		       const KmtAggregate *aggregate)
{
	const KmtAggregateOptions *o = &plan->aggregate;
	guint64 n = 0;
	guint i;

	/* The figures of a sampled capture are scaled up, so they exceed the
	 * number of records. */
	if (kmt_filter_is_set(&plan->filter) || o->span.start ||
	    !plan->whole_span || capture->sample > 1)
		return;
	for (i = 0; i < KMT_KIND_SLAB; i++)
		n += aggregate->kinds[i].allocs + aggregate->kinds[i].frees;
	g_assert_cmpuint(n + aggregate->skipped + aggregate->gap_records +
				 aggregate->stop_records +
				 aggregate->mark_records +
				 aggregate->defer_records,
			 ==, capture->n_records);
}

/*
 * Return the text of the report, or NULL if the capture cannot be read or the
 * options do not fit it. The caller frees the text with free().
 */
static char *report(const char *directory, KmtPlan *plan, guint jobs)
{
	const char *const operands[] = {directory, NULL};
	const KmtSymbolizerOptions symbolizer_options = {0};
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open(operands, &plan->capture, &error);
	g_autoptr(KmtSymbolizer) symbolizer = NULL;
	g_autoptr(KmtAggregate) aggregate = NULL;
	g_autoptr(KmtAdviceList) advice = NULL;
	KmtMemoryOutput output = {0};

	if (!capture ||
	    (capture->has_sequence_times && kmt_plan_needs_times(plan)))
		return NULL;
	symbolizer = kmt_output_open_symbols(capture, &symbolizer_options,
					     warnings, &error);
	/* Symbols of the capture are optional, so no error is possible. */
	g_assert_no_error(error);
	plan->aggregate.jobs = jobs;
	if (!kmt_plan_resolve_time(plan, capture, symbolizer, NULL))
		return NULL;
	kmt_plan_fit_capture(plan, capture);
	aggregate = kmt_aggregate_new(capture, symbolizer, &plan->aggregate);
	kmt_aggregate_scale(aggregate, capture->sample,
			    kmt_filter_is_set(&plan->filter));
	check_sums(capture, plan, aggregate);
	plan->report.capture = capture;
	plan->report.symbolizer = symbolizer;
	plan->report.aggregate = aggregate;
	plan->report.warnings = warnings;
	kmt_report_count_lost(&plan->report);
	plan->report.advice = advice = kmt_plan_find_advice(plan);
	/* An empty page. */
	if (!plan->template.text)
		plan->template.text = g_strdup("");
	kmt_plan_print(plan, kmt_memory_output_open(&output));
	return kmt_memory_output_close(&output);
}

static void run(const char *directory, KmtPlan *plan)
{
	char *text = report(directory, plan, 1);
	char *other = report(directory, plan, 3);

	g_assert_cmpstr(text, ==, other);
	if (text &&
	    (plan->form == KMT_FORM_JSON || plan->form == KMT_FORM_PERFETTO))
		kmt_memory_output_check_json(text);
	free(text);
	free(other);
}

gboolean kmt_reports_parse(char **words, KmtReports *reports)
{
	g_autoptr(GOptionContext) context =
		kmt_options_parse(words, &reports->options, NULL);

	return context &&
	       kmt_plan_make(&reports->plan, &reports->options, NULL) &&
	       reports->plan.aggregate.span.windows <= MAX_WINDOWS;
}

void kmt_reports_run(KmtReports *reports)
{
	run(kmt_scratch_directory(), &reports->plan);
}

void kmt_reports_clear(KmtReports *reports)
{
	kmt_options_clear(&reports->options);
	kmt_plan_clear(&reports->plan);
}
