// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/pager.h"
#include "lib/cli/set-up.h"
#include "lib/recovery/recovery.h"
#include "lib/base/printable.h"
#include "report/diff-output.h"

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

static int run(const KmtOptions *options, KmtCaptureReport *report)
{
	g_autoptr(GError) error = NULL;

	if (!kmt_capture_report_read(report,
				     (const char *const *)options->operands,
				     options->quiet ? NULL : PROGRAM, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	if (!options->no_pager)
		kmt_pager_begin(PROGRAM);
	if (!options->quiet)
		print_warnings(report->warnings);
	return print_report(&report->plan);
}

/* Compare the captures and print the result. Return the exit status. */
static int print_diff(KmtCaptureReport *report, const char *const *base,
		      const char *const *new)
{
	const KmtOptions *options = report->options;
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtDiff) diff = kmt_diff_read(
		report, base, new, options->quiet ? NULL : PROGRAM, &error);

	if (!diff && !(options->operands && *options->operands))
		g_prefix_error(&error, "no operand, so the current directory "
				       "is the new side of --diff: ");
	if (!diff)
		return kmt_cli_fail_error(PROGRAM, error);
	if (!options->no_pager)
		kmt_pager_begin(PROGRAM);
	if (!options->quiet)
		print_warnings(diff->warnings);
	kmt_diff_print(diff, stdout);
	return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
}

/* Compare the captures of --diff with those of the operands. */
static int run_diff(const KmtOptions *options, KmtCaptureReport *report)
{
	static const char *const current[] = {".", NULL};
	const char *const *base = (const char *const *)options->diff;
	const char *const *new = (const char *const *)options->operands;
	g_autoptr(GPtrArray) warnings = NULL;
	g_autoptr(GError) error = NULL;

	if (!new || !*new)
		new = current;
	if (report->plan.form != KMT_FORM_HTML)
		return print_diff(report, base, new);
	warnings = g_ptr_array_new_with_free_func(g_free);
	if (!kmt_diff_write_page(report, base, new,
				 options->quiet ? NULL : PROGRAM, warnings,
				 &error))
		return kmt_cli_fail_error(PROGRAM, error);
	if (!options->quiet)
		print_warnings(warnings);
	return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	g_auto(KmtOptions) options = {0};
	g_autoptr(KmtCaptureReport) report = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	int status;

	kmt_cli_set_up_reader(PROGRAM, OUT_OF_MEMORY);
	context = kmt_options_parse(argv, &options, &error);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help,
			      options.version, &status))
		return status;
	(void)kmt_recovery_run(PROGRAM);
	if (kmt_color_set_up(options.color, &error))
		report = kmt_capture_report_new(&options, &error);
	if (!report)
		return error->domain == KMT_SYM_WRAPPERS_ERROR
			       ? kmt_cli_fail_error(PROGRAM, error)
			       : kmt_cli_fail_usage(PROGRAM, error->message);
	if (!reject_foreign_files(&options, &error) ||
	    !kmt_plan_open_file(&report->plan, &error))
		return kmt_cli_fail_error(PROGRAM, error);
	return options.diff ? run_diff(&options, report)
			    : run(&options, report);
}
