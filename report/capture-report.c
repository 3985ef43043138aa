// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/cli/progress.h"
#include "lib/output/capture-symbols.h"
#include "report/advice.h"
#include "report/capture-report.h"
#include "report/scale.h"

#include <stdlib.h>

KmtCaptureReport *kmt_capture_report_new(const KmtOptions *options,
					 GError **error)
{
	g_autoptr(KmtCaptureReport) r = g_new0(KmtCaptureReport, 1);

	r->options = options;
	return kmt_plan_make(&r->plan, options, error) ? g_steal_pointer(&r)
						       : NULL;
}

/* Free the data of the last capture. The figures point to the symbols and the
 * capture, so the figures are freed first. */
static void drop_capture(KmtCaptureReport *r)
{
	g_clear_pointer(&r->advice, kmt_advice_free);
	g_clear_pointer(&r->aggregate, kmt_aggregate_free);
	g_clear_pointer(&r->symbolizer, kmt_symbolizer_free);
	g_clear_pointer(&r->capture, kmt_input_capture_free);
	g_clear_pointer(&r->warnings, g_ptr_array_unref);
}

void kmt_capture_report_free(KmtCaptureReport *r)
{
	if (!r)
		return;
	drop_capture(r);
	kmt_plan_clear(&r->plan);
	g_free(r);
}

/*
 * Add warnings about lost and missing events. The text report prints the losses
 * in its first section instead.
 */
static void warn_of_loss(const KmtReport *report, GPtrArray *warnings)
{
	const KmtInputCapture *capture = report->capture;
	KmtLoss loss = kmt_report_loss_state(report);
	const KmtLost *lost = &report->lost;
	guint wrong_sizes = kmt_report_wrong_sizes(capture);

	if (loss == KMT_LOSS_EVENTS) {
		g_autofree char *advice = kmt_report_loss_advice(capture);

		g_ptr_array_add(
			warnings,
			g_strdup_printf(
				"%" G_GUINT64_FORMAT
				" events were lost%s: no figure is "
				"complete; %s",
				capture->overruns -
					MIN(capture->overruns, lost->after),
				lost->after ? " before STOP" : "", advice));
	} else if (loss == KMT_LOSS_CUT)
		g_ptr_array_add(warnings,
				g_strdup("the capture was cut off: how many "
					 "events were lost is unknown"));
	if (capture->incomplete)
		g_ptr_array_add(
			warnings,
			g_strdup("only a part of the events was recorded (see "
				 "\"incomplete\" in kmemtrace.meta): no figure "
				 "is complete; record all events again"));
	if (wrong_sizes)
		g_ptr_array_add(
			warnings,
			g_strdup_printf(
				"%u of the files of the capture differ in size "
				"from kmemtrace.meta: see kmemtrace-check",
				wrong_sizes));
}

static int compare_addresses(const void *a, const void *b)
{
	guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Return the call sites of all classes. A call site may have several classes,
 * for example one for each kind and size. An array of recent call sites finds
 * most of these again in 20 instead of 110 instructions.
 */
static KmtMatchIntern *find_sites(const KmtMatchKeys *keys)
{
	enum { RECENT_BITS = 10 };
	const guint64 *recent[1 << RECENT_BITS] = {NULL};
	KmtMatchIntern *sites = kmt_match_intern_new(1);
	guint32 i;

	for (i = 0; i < keys->classes->n; i++) {
		const guint64 *site = kmt_match_keys_site_of_class(keys, i);
		const guint64 **slot =
			&recent[*site * G_GUINT64_CONSTANT(
						0x9e3779b97f4a7c15) >>
				(64 - RECENT_BITS)];

		if (*slot && **slot == *site)
			continue;
		*slot = site;
		kmt_match_intern_get(sites, site);
	}
	return sites;
}

static void check_symbols(const KmtSymbolizer *symbolizer,
			  const KmtMatchKeys *keys, GPtrArray *warnings)
{
	g_autoptr(KmtMatchIntern) sites = find_sites(keys);
	g_autofree guint64 *addresses = NULL;
	guint32 i, n;

	n = sites->n;
	addresses = g_new(guint64, MAX(n, 1));
	for (i = 0; i < n; i++)
		addresses[i] =
			*(const guint64 *)kmt_match_intern_entry(sites, i);
	qsort(addresses, n, sizeof(*addresses), compare_addresses);
	kmt_symbolizer_check(symbolizer, addresses, n, warnings);
}

static void begin_progress(const char *program, const KmtInputCapture *capture,
			   KmtAggregateOptions *aggregate)
{
	KmtProgressTask task = {
		.program = program,
		.verb = "read",
		.total = capture->n_records,
		.passes = 1,
	};
	guint i;

	aggregate->progress = NULL;
	if (!program)
		return;
	/* The number of records in a stream is unknown. */
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->stream)
			task.total = 0;
	}
	kmt_progress_begin(&task);
	aggregate->progress = kmt_progress_show;
}

/*
 * Add warnings about the capture. They are complete only after all records were
 * read.
 */
static void warn_of_capture(const KmtInputCapture *capture,
			    const KmtAggregate *aggregate, GPtrArray *warnings)
{
	g_ptr_array_extend_and_steal(warnings,
				     kmt_input_capture_warnings(capture));
	g_ptr_array_extend_and_steal(warnings,
				     g_ptr_array_ref(aggregate->notes));
}

/* Append all warnings that depend on the records read. */
static void add_warnings(const KmtPlan *plan, GPtrArray *warnings)
{
	const KmtReport *report = &plan->report;
	const KmtInputCapture *capture = report->capture;
	const KmtAggregate *aggregate = report->aggregate;
	const KmtSymbolizer *symbolizer = report->symbolizer;

	check_symbols(symbolizer, aggregate->keys, warnings);
	if (kmt_by_has(&plan->by, KMT_BY_DIRECTORY) && !symbolizer->dwarf &&
	    !symbolizer->tree && !symbolizer->tags)
		g_ptr_array_add(
			warnings,
			g_strdup("--by directory: no directory is known "
				 "without --vmlinux, --debug-dir or --source"));
	kmt_filter_warn(&plan->filter, capture, symbolizer, aggregate->keys,
			warnings);
	/* Records without marks are usual for a timeline. */
	if (plan->phases && (plan->form != KMT_FORM_PERFETTO ||
			     kmt_input_marks_count(plan->phases->marks)))
		kmt_phases_warn(plan->phases, warnings);
	warn_of_capture(capture, aggregate, warnings);
	if (report->advice && report->advice->warning)
		g_ptr_array_add(warnings, g_strdup(report->advice->warning));
	if (kmt_report_is_sample(report) && plan->form != KMT_FORM_TEXT)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("figures of allocations are estimates: "
					"the sample times %" G_GUINT64_FORMAT,
					capture->sample));
	if (plan->form != KMT_FORM_TEXT)
		warn_of_loss(report, warnings);
}

/* Return FALSE with an error if the capture lacks the times that the plan
 * needs. */
static gboolean check_times(const KmtPlan *plan, const KmtInputCapture *capture,
			    GError **error)
{
	const char *message =
		!capture->has_sequence_times ? NULL
		: plan->form == KMT_FORM_HTML
			? "--html: the capture has layout C, whose "
			  "records have no time; use --json"
		: kmt_plan_needs_times(plan)
			? "the capture has layout C, whose records "
			  "have no time: omit the options about "
			  "times, windows and lifetimes"
			: NULL;

	if (message)
		g_set_error_literal(error, KMT_INPUT_ERROR,
				    KMT_INPUT_ERROR_FORMAT, message);
	return !message;
}

/* Open the capture and its symbols, and resolve the times of the plan. */
static gboolean open_capture(KmtCaptureReport *r, const char *const *operands,
			     GError **error)
{
	const KmtOptions *o = r->options;
	KmtSymbolizerOptions symbolizer_options = {
		.kallsyms = o->kallsyms,
		.system_map = o->system_map,
		.raw = o->raw_ip,
		.vmlinux = o->vmlinux,
		.debug_dir = o->debug_dir,
		.source = o->source,
	};

	if (r->is_base) {
		/* Debug information of the new side is of no use for a base of
		 * another build. */
		if (o->base_vmlinux || o->base_debug_dir) {
			symbolizer_options.vmlinux = o->base_vmlinux;
			symbolizer_options.debug_dir = o->base_debug_dir;
		}
		if (o->base_source)
			symbolizer_options.source = o->base_source;
	}
	r->warnings = g_ptr_array_new_with_free_func(g_free);
	r->capture = kmt_input_capture_open(operands, &r->plan.capture, error);
	if (!r->capture || !check_times(&r->plan, r->capture, error))
		return FALSE;
	r->symbolizer = kmt_output_open_symbols(r->capture, &symbolizer_options,
						r->warnings, error);
	if (!r->symbolizer ||
	    !kmt_plan_resolve_time(&r->plan, r->capture, r->symbolizer, error))
		return FALSE;
	kmt_plan_fit_capture(&r->plan, r->capture);
	return TRUE;
}

/* Read the records. Return FALSE with an error if no record is usable. */
static gboolean read_records(KmtCaptureReport *r, const char *program,
			     GError **error)
{
	KmtPlan *plan = &r->plan;
	KmtInputCapture *capture = r->capture;
	KmtAggregate *a;

	begin_progress(program, capture, &plan->aggregate);
	a = kmt_aggregate_new(capture, r->symbolizer, &plan->aggregate);
	r->aggregate = a;
	kmt_aggregate_scale(a, capture->sample,
			    kmt_filter_is_set(&plan->filter));
	kmt_progress_end();
	if (a->skipped == capture->n_records &&
	    (a->skipped || a->truncated_bytes)) {
		g_set_error_literal(error, KMT_INPUT_ERROR,
				    KMT_INPUT_ERROR_FORMAT,
				    "no record can be used: specify the "
				    "directory or the cpu<n>.out files of a "
				    "capture");
		return FALSE;
	}
	return TRUE;
}

gboolean kmt_capture_report_read(KmtCaptureReport *r,
				 const char *const *operands,
				 const char *program, GError **error)
{
	KmtReport *report = &r->plan.report;

	drop_capture(r);
	if (!open_capture(r, operands, error) ||
	    !read_records(r, program, error))
		return FALSE;
	report->capture = r->capture;
	report->symbolizer = r->symbolizer;
	report->aggregate = r->aggregate;
	report->warnings = r->warnings;
	kmt_report_count_lost(report);
	if (!kmt_plan_check_span(&r->plan, error))
		return FALSE;
	if (report->shows_advice) {
		begin_progress(program, r->capture, &r->plan.aggregate);
		r->advice = kmt_plan_find_advice(&r->plan);
		kmt_progress_end();
	}
	report->advice = r->advice;
	add_warnings(&r->plan, r->warnings);
	return TRUE;
}
