// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <stdlib.h>

#include "check/check.h"
#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/pager.h"
#include "lib/cli/progress.h"
#include "lib/cli/set-up.h"
#include "lib/recovery/recovery.h"

#define PROGRAM "kmemtrace-check"
#define OUT_OF_MEMORY                                                          \
	"raise the limit (ulimit -v, or that of the control group), or check " \
	"one file at a time"
#define MAX_ERRORS 10

/* Exit status beside EXIT_FAILURE, which stands for a wrong option, unreadable
 * input, exhausted memory, or failed output. */
enum {
	EXIT_CLEAN = 0,
	/* The capture breaks rules. */
	EXIT_ERRORS = 2,
};

/* Option values from the command line. */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean json;
	gboolean no_pager;
	char *max_print;
	char *clock_tolerance;
	char *layout;
	char *color;
	KmtInputOptions capture;
	char **operands;
} CheckOptions;

static void options_clear(CheckOptions *options)
{
	g_free(options->max_print);
	g_free(options->clock_tolerance);
	g_free(options->layout);
	g_free(options->color);
	g_strfreev(options->operands);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CheckOptions, options_clear)

/*
 * Parse the command line. Return NULL on error. The caller frees the context.
 */
static GOptionContext *parse_options(char **argv, CheckOptions *o,
				     GError **error)
{
	const GOptionEntry entries[] = {
		{"max-print", 'n', 0, G_OPTION_ARG_STRING, &o->max_print,
		 "Print at most N records for each rule (default: 10)", "N"},
		{"json", 0, 0, G_OPTION_ARG_NONE, &o->json,
		 "Print the result as one JSON document", NULL},
		KMT_CLI_OPTION_CLOCK_TOLERANCE(&o->clock_tolerance),
		KMT_CLI_OPTION_LAYOUT(&o->layout),
		KMT_COLOR_OPTION(&o->color),
		KMT_PAGER_OPTION(&o->no_pager),
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet,
		 "Print nothing; only set the exit status", NULL},
		KMT_CLI_OPTION_HELP(&o->help),
		KMT_CLI_OPTION_VERSION(&o->version),
		KMT_CLI_OPTION_OPERANDS(&o->operands),
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_auto(GStrv) rest = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(
		context, "Check a kmemtrace capture against the rules that a "
			 "correct kernel and a correct\nkmemtraced follow.");
	g_option_context_set_description(
		context, KMT_CLI_OPERANDS
		"\nOne file alone is checked without the rules that need all "
		"files: double\nallocations, unmatched, mismatched, and "
		"wrong deferred frees.\n\nExit status: 0 if no error was "
		"found, 1 if the "
		"check failed, 2 if errors were\nfound.\n");
	rest = kmt_cli_parse(context, entries, argv, error);
	return rest ? g_steal_pointer(&context) : NULL;
}

/* The rules across files read each record a second time. */
static void begin_progress(const KmtInputCapture *capture,
			   gboolean across_files)
{
	const KmtProgressTask task = {
		.program = PROGRAM,
		.verb = "checked",
		.total = capture->n_records,
		.passes = across_files ? 2 : 1,
	};

	kmt_progress_begin(&task);
}

static int run(const CheckOptions *options, gint64 tolerance_ns,
	       guint64 max_errors)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtCheck) check = NULL;
	gboolean across_files;
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open((const char *const *)options->operands,
				       &options->capture, &error);

	if (!capture)
		return kmt_cli_fail_error(PROGRAM, error);
	across_files = capture->directory || capture->files->len > 1;
	if (!options->quiet)
		begin_progress(capture, across_files);
	/* The exit status needs no positions of errors. */
	if (options->quiet && !options->json)
		max_errors = 0;
	check = kmt_check_new(capture, across_files, tolerance_ns, max_errors);
	kmt_progress_end();
	if (!options->no_pager && (options->json || !options->quiet))
		kmt_pager_begin(PROGRAM);
	if (options->json)
		kmt_check_json(check, stdout);
	else if (!options->quiet)
		kmt_check_text(check, stdout);
	return kmt_cli_close_stdout(PROGRAM,
				    check->total ? EXIT_ERRORS : EXIT_CLEAN);
}

int main(int argc, char **argv)
{
	g_auto(CheckOptions) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	guint64 tolerance_ns = KMT_MATCH_CLOCK_TOLERANCE_NS;
	guint64 max_errors = MAX_ERRORS;
	int status;

	kmt_cli_set_up_reader(PROGRAM, OUT_OF_MEMORY);
	context = parse_options(argv, &options, &error);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help,
			      options.version, &status))
		return status;
	(void)kmt_recovery_run(PROGRAM);
	/* Every record is read by its index, and several times: for each group
	 * of rules and for the output of errors. */
	options.capture.random_access = TRUE;
	if (!kmt_color_set_up(options.color, &error) ||
	    !kmt_input_layout_parse(options.layout, &options.capture.layout,
				    &error) ||
	    !kmt_cli_parse_number(options.max_print, G_MAXUINT32, "--max-print",
				  &max_errors, &error) ||
	    !kmt_cli_parse_number(options.clock_tolerance,
				  KMT_MATCH_CLOCK_TOLERANCE_MAX_NS,
				  "--clock-tolerance", &tolerance_ns, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options, (gint64)tolerance_ns, max_errors);
}
