// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <signal.h>
#include <stdlib.h>

#include "check/check.h"
#include "lib/cli/cli.h"
#include "lib/cli/out-of-memory.h"
#include "lib/recovery/recovery.h"

#define PROGRAM "kmemtrace-check"
#define OUT_OF_MEMORY                                                          \
	"raise the limit (ulimit -v, or that of the control group), or check " \
	"one file at a time"
#define MAX_ERRORS 10

enum {
	EXIT_CLEAN = 0,
	/* wrong option, unreadable input, or failed output */
	EXIT_TROUBLE = EXIT_FAILURE,
	/* The capture breaks rules. */
	EXIT_ERRORS = 2,
};

/* Option values from the command line. */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean json;
	char *max_print;
	char *clock_tolerance;
	char *layout;
	KmtInputOptions capture;
	char **operands;
} CheckOptions;

static void options_clear(CheckOptions *options)
{
	g_free(options->max_print);
	g_free(options->clock_tolerance);
	g_free(options->layout);
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
		{"clock-tolerance", 0, 0, G_OPTION_ARG_STRING,
		 &o->clock_tolerance,
		 "Assume clocks of two CPUs that differ by up to NS "
		 "nanoseconds (default: 1000000)",
		 "NS"},
		{"layout", 0, 0, G_OPTION_ARG_STRING, &o->layout,
		 "Read the records as layout A, B, C or D (default: detect)",
		 "LAYOUT"},
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet,
		 "Print nothing; only set the exit status", NULL},
		{"help", 'h', 0, G_OPTION_ARG_NONE, &o->help,
		 "Show this help and exit", NULL},
		{"version", 'V', 0, G_OPTION_ARG_NONE, &o->version,
		 "Show the version and exit", NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
		 &o->operands, NULL, "[DIRECTORY | TAR | FILE...]"},
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
		"files: double\nallocations, unmatched and mismatched "
		"frees.\n\nExit status: 0 if no error was found, 1 if the "
		"check failed, 2 if errors were\nfound.\n");
	rest = kmt_cli_parse(context, entries, argv, error);
	return rest ? g_steal_pointer(&context) : NULL;
}

static int run(const CheckOptions *options, gint64 tolerance_ns,
	       guint64 max_errors)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtCheck) check = NULL;
	g_autoptr(KmtInputCapture) capture =
		kmt_input_capture_open((const char *const *)options->operands,
				       &options->capture, &error);

	if (!capture)
		return kmt_cli_fail_error(PROGRAM, error);
	check = kmt_check_new(capture,
			      capture->directory || capture->files->len > 1,
			      tolerance_ns, max_errors);
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

	kmt_cli_occupy_standard_descriptors();
	kmt_cli_exit_on_out_of_memory(PROGRAM, OUT_OF_MEMORY, EXIT_TROUBLE);
	/* Ignore SIGPIPE, so that a closed pipe is reported as a write error.
	 */
	signal(SIGPIPE, SIG_IGN);
	kmt_cli_exit_on_sigbus(PROGRAM);
	kmt_cli_map_large_blocks();
	context = parse_options(argv, &options, &error);
	if (!context)
		return kmt_cli_fail_usage(PROGRAM, error->message);
	if (kmt_cli_print_help_or_version(PROGRAM, context, options.help,
					  options.version))
		return kmt_cli_close_stdout(PROGRAM, EXIT_CLEAN);
	(void)kmt_recovery_run(PROGRAM);
	/* Errors are printed with their records, so records are read again. */
	options.capture.random_access = TRUE;
	if (!kmt_input_layout_parse(options.layout, &options.capture.layout,
				    &error) ||
	    !kmt_cli_parse_number(options.max_print, G_MAXUINT32, "--max-print",
				  &max_errors, &error) ||
	    !kmt_cli_parse_number(options.clock_tolerance,
				  KMT_MATCH_CLOCK_TOLERANCE_MAX_NS,
				  "--clock-tolerance", &tolerance_ns, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options, (gint64)tolerance_ns, max_errors);
}
