// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/pager.h"
#include "lib/cli/progress.h"
#include "lib/cli/set-up.h"
#include "lib/recovery/recovery.h"
#include "lib/base/printable.h"
#include "lib/output/capture-symbols.h"
#include "report/report-options.h"
#include "report/scale.h"

#include <stdlib.h>

#define PROGRAM "kmemtrace-report"

#define OUT_OF_MEMORY                                                          \
	"raise the limit (ulimit -v, or that of the control group), or "       \
	"reduce the work: --jobs 1, fewer --windows, fewer words in --by, or " \
	"a part of the capture by --time, --kind or --callsite"

static void print_warnings(const GPtrArray *warnings)
{
	guint i;

	for (i = 0; i < warnings->len; i++) {
		g_autofree char *text =
			kmt_printable(g_ptr_array_index(warnings, i));

		kmt_color_warn(PROGRAM, text);
	}
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

static void check_symbols(const KmtSymbolizer *symbolizer,
			  const KmtMatchIntern *keys, GPtrArray *warnings)
{
	g_autofree guint64 *addresses = g_new(guint64, MAX(keys->n, 1));
	guint32 i, n = 0;

	for (i = 0; i < keys->n; i++)
		addresses[i] = kmt_match_intern_pair(keys, i)->word[0];
	/* A call site may have several keys, for example one for each kind and
	 * CPU. Check each address once. */
	qsort(addresses, keys->n, sizeof(*addresses), compare_addresses);
	for (i = 0; i < keys->n; i++)
		if (!n || addresses[i] != addresses[n - 1])
			addresses[n++] = addresses[i];
	kmt_symbolizer_check(symbolizer, addresses, n, warnings);
}

static void begin_progress(const KmtOptions *options,
			   const KmtInputCapture *capture,
			   KmtAggregateOptions *aggregate)
{
	KmtProgressTask task = {
		.program = PROGRAM,
		.verb = "read",
		.total = capture->n_records,
		.passes = 1,
	};
	guint i;

	if (options->quiet)
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

/*
 * Reject files of perf and trace-cmd, which users often have beside a capture,
 * and name the program that reads them.
 */
static gboolean reject_foreign_files(const KmtOptions *options, GError **error)
{
	static const struct {
		const char *magic;
		const char *what;
	} foreign[] = {
		{"PERFILE2", "perf.data: perf(1) reads it"},
		{"2ELIFREP", "perf.data: perf(1) reads it"},
		{"\027\010\104tracing", "trace.dat: trace-cmd(1) reads it"},
	};
	char *const *path = options->operands;
	guint i;

	for (; path && *path; path++) {
		char begin[11] = "";
		FILE *file = g_file_test(*path, G_FILE_TEST_IS_REGULAR)
				     ? fopen(*path, "r")
				     : NULL;

		if (!file)
			continue;
		begin[fread(begin, 1, sizeof(begin) - 1, file)] = '\0';
		fclose(file);
		for (i = 0; i < G_N_ELEMENTS(foreign); i++) {
			if (!g_str_has_prefix(begin, foreign[i].magic))
				continue;
			g_set_error(error, KMT_INPUT_ERROR,
				    KMT_INPUT_ERROR_FORMAT,
				    "%s is %s; this program reads captures of "
				    "kmemtraced",
				    *path, foreign[i].what);
			return FALSE;
		}
	}
	return TRUE;
}

/* Append all warnings that depend on the records read. */
static void add_warnings(const KmtPlan *plan, GPtrArray *warnings)
{
	const KmtReport *report = &plan->report;
	const KmtInputCapture *capture = report->capture;
	const KmtAggregate *aggregate = report->aggregate;
	const KmtSymbolizer *symbolizer = report->symbolizer;

	check_symbols(symbolizer, aggregate->keys->keys, warnings);
	if (kmt_by_has(&plan->by, KMT_BY_DIRECTORY) && !symbolizer->dwarf &&
	    !symbolizer->tree && !symbolizer->tags)
		g_ptr_array_add(
			warnings,
			g_strdup("--by directory: no directory is known "
				 "without --vmlinux, --debug-dir or --source"));
	kmt_filter_warn(&plan->filter, capture, symbolizer, aggregate->keys,
			warnings);
	/* A timeline of records that have no marks is no surprise. */
	if (plan->phases && (plan->form != KMT_FORM_PERFETTO ||
			     kmt_input_marks_count(plan->phases->marks)))
		kmt_phases_warn(plan->phases, warnings);
	warn_of_capture(capture, aggregate, warnings);
	if (kmt_report_is_sample(report) && plan->form != KMT_FORM_TEXT)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("figures of allocations are estimates: "
					"the sample times %" G_GUINT64_FORMAT,
					capture->sample));
	if (plan->form != KMT_FORM_TEXT)
		warn_of_loss(report, warnings);
}

/* Print or write the report. Return the exit status. */
static int print_report(KmtPlan *plan)
{
	g_autoptr(GError) error = NULL;

	if (!plan->file)
		kmt_plan_print(plan, stdout);
	else if (!kmt_plan_write_file(plan, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
}

static int run(const KmtOptions *options, KmtPlan *plan)
{
	const KmtSymbolizerOptions symbolizer_options = {
		.kallsyms = options->kallsyms,
		.system_map = options->system_map,
		.raw = options->raw_ip,
		.vmlinux = options->vmlinux,
		.debug_dir = options->debug_dir,
		.source = options->source,
	};
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtInputCapture) capture = kmt_input_capture_open(
		(const char *const *)options->operands, &plan->capture, &error);
	g_autoptr(KmtSymbolizer) symbolizer = NULL;
	g_autoptr(KmtAggregate) aggregate = NULL;

	if (!capture)
		return kmt_cli_fail_error(PROGRAM, error);
	if (capture->has_sequence_times && plan->form == KMT_FORM_HTML)
		return kmt_cli_fail(PROGRAM,
				    "--html: the capture has layout C, whose "
				    "records have no time; use --json");
	if (capture->has_sequence_times && kmt_plan_needs_times(plan))
		return kmt_cli_fail(PROGRAM,
				    "the capture has layout C, whose records "
				    "have no time: omit the options about "
				    "times, windows and lifetimes");
	symbolizer = kmt_output_open_symbols(capture, &symbolizer_options,
					     warnings, &error);
	if (!symbolizer)
		return kmt_cli_fail_error(PROGRAM, error);
	if (!kmt_plan_resolve_time(plan, capture, symbolizer, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	kmt_plan_fit_capture(plan, capture);
	begin_progress(options, capture, &plan->aggregate);
	aggregate = kmt_aggregate_new(capture, symbolizer, &plan->aggregate);
	kmt_aggregate_scale(aggregate, capture->sample,
			    kmt_filter_is_set(&plan->filter));
	kmt_progress_end();
	if (aggregate->skipped == capture->n_records &&
	    (aggregate->skipped || aggregate->truncated_bytes))
		return kmt_cli_fail(PROGRAM,
				    "no record can be used: specify the "
				    "directory or the cpu<n>.out files of a "
				    "capture");
	plan->report.capture = capture;
	plan->report.symbolizer = symbolizer;
	plan->report.aggregate = aggregate;
	plan->report.warnings = warnings;
	kmt_report_count_lost(&plan->report);
	if (!kmt_plan_check_span(plan, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	add_warnings(plan, warnings);
	if (!options->no_pager)
		kmt_pager_begin(PROGRAM);
	if (!options->quiet)
		print_warnings(warnings);
	return print_report(plan);
}

int main(int argc, char **argv)
{
	g_auto(KmtOptions) options = {0};
	g_auto(KmtPlan) plan = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	int status;

	kmt_cli_set_up_reader(PROGRAM, OUT_OF_MEMORY);
	context = kmt_options_parse(argv, &options, &error);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help,
			      options.version, &status))
		return status;
	(void)kmt_recovery_run(PROGRAM);
	if (!kmt_color_set_up(options.color, &error) ||
	    !kmt_plan_make(&plan, &options, &error))
		return error->domain == KMT_SYM_WRAPPERS_ERROR
			       ? kmt_cli_fail_error(PROGRAM, error)
			       : kmt_cli_fail_usage(PROGRAM, error->message);
	if (!reject_foreign_files(&options, &error) ||
	    !kmt_plan_open_file(&plan, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	return run(&options, &plan);
}
