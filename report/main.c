// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "cli/cli.h"
#include "cli/text.h"
#include "report/report.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define PROGRAM	      "kmemtrace-report"
#define DEFAULT_LINES 20
/* More would only wait for each other. */
#define MAX_JOBS 256

/* As the command line gave them. */
typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean json;
	gboolean raw_ip;
	gboolean slab;
	gboolean page;
	gboolean before_trace;
	char *sort;
	char *lines;
	char *kallsyms;
	char *system_map;
	char *vmlinux;
	char *debug_dir;
	char *source;
	char *clock_tolerance;
	char *jobs;
	guint n_jobs;
	char **operands;
} Options;

static void options_clear(Options *options)
{
	g_free(options->sort);
	g_free(options->lines);
	g_free(options->kallsyms);
	g_free(options->system_map);
	g_free(options->vmlinux);
	g_free(options->debug_dir);
	g_free(options->source);
	g_free(options->clock_tolerance);
	g_free(options->jobs);
	g_strfreev(options->operands);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

/* NULL: something is wrong with the options. */
static GOptionContext *parse_options(char **argv, Options *o, GError **error)
{
	const GOptionEntry entries[] = {
		{"sort", 's', 0, G_OPTION_ARG_STRING, &o->sort,
		 "Sort call sites by KEY (default: wasted)", "KEY[,KEY...]"},
		{"lines", 'l', 0, G_OPTION_ARG_STRING, &o->lines,
		 "Show N lines of each table, 0 for all (default: 20; all for "
		 "--json)",
		 "N"},
		{"slab", 0, 0, G_OPTION_ARG_NONE, &o->slab,
		 "Show call sites of kmalloc and caches only", NULL},
		{"page", 0, 0, G_OPTION_ARG_NONE, &o->page,
		 "Show call sites of the page allocator only", NULL},
		{"before-trace", 0, 0, G_OPTION_ARG_NONE, &o->before_trace,
		 "List who freed what was allocated before the trace", NULL},
		{"json", 0, 0, G_OPTION_ARG_NONE, &o->json,
		 "Print all figures as one JSON document", NULL},
		{"kallsyms", 0, 0, G_OPTION_ARG_FILENAME, &o->kallsyms,
		 "Take names from this copy of /proc/kallsyms", "FILE"},
		{"system-map", 0, 0, G_OPTION_ARG_FILENAME, &o->system_map,
		 "Take names from this System.map", "FILE"},
		{"vmlinux", 'k', 0, G_OPTION_ARG_FILENAME, &o->vmlinux,
		 "Show source lines, by this kernel's debug information",
		 "FILE"},
		{"debug-dir", 0, 0, G_OPTION_ARG_FILENAME, &o->debug_dir,
		 "Likewise, by modules' (and vmlinux's) debug files in DIR",
		 "DIR"},
		{"source", 0, 0, G_OPTION_ARG_FILENAME, &o->source,
		 "Take directories from this kernel tree, which was built",
		 "TREE"},
		{"raw-ip", 0, 0, G_OPTION_ARG_NONE, &o->raw_ip,
		 "Show addresses, no names", NULL},
		{"clock-tolerance", 0, 0, G_OPTION_ARG_STRING,
		 &o->clock_tolerance,
		 "Nanoseconds by which the clocks of two CPUs may differ "
		 "(default: 1000000)",
		 "NS"},
		{"jobs", 'j', 0, G_OPTION_ARG_STRING, &o->jobs,
		 "Work with N threads (default: one for each processor)", "N"},
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "No warnings",
		 NULL},
		{"help", 'h', 0, G_OPTION_ARG_NONE, &o->help,
		 "Show this help and exit", NULL},
		{"version", 'V', 0, G_OPTION_ARG_NONE, &o->version,
		 "Show the version and exit", NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
		 &o->operands, NULL, "[DIRECTORY | FILE...]"},
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};
	g_autofree char *keys = kmt_sort_key_names();
	g_autofree char *description = g_strdup_printf(
		KMT_CLI_OPERANDS
		"\n\nSort keys: %s.\nA + before a key sorts upwards, "
		"a - downwards.\n\nExit status: 0 if the report was "
		"printed, 1 if not.\n",
		keys);
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_auto(GStrv) rest = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(
		context, "Summarises the kernel memory that a kmemtrace "
			 "capture saw allocated and freed.");
	g_option_context_set_description(context, description);
	rest = kmt_cli_parse(context, entries, argv, error);
	return rest ? g_steal_pointer(&context) : NULL;
}

/* Options to what the report is made of. */
static gboolean check_options(Options *options, KmtReport *report,
			      guint64 *tolerance_ns, KmtSort **sort,
			      GError **error)
{
	guint64 jobs = 0;

	report->max_lines = options->json ? 0 : DEFAULT_LINES;
	report->slab_only = options->slab;
	report->pages_only = options->page;
	report->before_trace = options->before_trace;
	report->separators = isatty(STDOUT_FILENO);
	if (options->kallsyms && options->system_map) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--kallsyms and --system-map: only one can be "
			    "where the names are from");
		return FALSE;
	}
	if (!kmt_cli_parse_number(options->lines, G_MAXUINT32, "--lines",
				  &report->max_lines, error) ||
	    !kmt_cli_parse_number(options->clock_tolerance,
				  KMT_CLOCK_TOLERANCE_MAX_NS,
				  "--clock-tolerance", tolerance_ns, error))
		return FALSE;
	if (!kmt_cli_parse_number(options->jobs, MAX_JOBS, "--jobs", &jobs,
				  error))
		return FALSE;
	options->n_jobs = jobs ? (guint)jobs : g_get_num_processors();
	*sort = kmt_sort_parse(options->sort ? options->sort : "wasted", error);
	report->sort = *sort;
	return *sort != NULL;
}

static void print_warnings(const GPtrArray *warnings)
{
	guint i;

	for (i = 0; i < warnings->len; i++) {
		g_autofree char *text =
			kmt_printable(g_ptr_array_index(warnings, i));

		fprintf(stderr, PROGRAM ": warning: %s\n", text);
	}
}

/* Text says it where nobody overlooks it; JSON is for programs. */
static void warn_of_loss(const KmtCapture *capture, GPtrArray *warnings)
{
	KmtLoss loss = kmt_report_loss(capture);
	guint wrong_sizes = kmt_report_wrong_sizes(capture);

	if (loss == KMT_LOSS_EVENTS)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("%" G_GUINT64_FORMAT
					" events were lost: no figure is "
					"complete; trace again with a larger "
					"kmemtrace.subbufs",
					capture->overruns));
	else if (loss == KMT_LOSS_CUT)
		g_ptr_array_add(warnings,
				g_strdup("the capture was cut off: how many "
					 "events were lost is unknown"));
	if (wrong_sizes)
		g_ptr_array_add(
			warnings,
			g_strdup_printf("%u of its files have not the size "
					"that kmemtrace.meta says: see "
					"kmemtrace-check",
					wrong_sizes));
}

static void check_names(const KmtNames *names, const KmtSites *sites,
			GPtrArray *warnings)
{
	g_autofree guint64 *addresses = g_new(guint64, sites->n_sites);
	guint32 i;

	for (i = 0; i < sites->n_sites; i++)
		addresses[i] = sites->sites[i].address;
	kmt_names_check(names, addresses, sites->n_sites, warnings);
}

static int run(const Options *options, KmtReport *report, gint64 tolerance_ns)
{
	const KmtNamesOptions names_options = {
		.kallsyms = options->kallsyms,
		.system_map = options->system_map,
		.raw = options->raw_ip,
		.vmlinux = options->vmlinux,
		.debug_dir = options->debug_dir,
		.source = options->source,
	};
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtCapture) capture = kmt_capture_open(
		(const char *const *)options->operands, &error);
	g_autoptr(KmtNames) names = NULL;
	g_autoptr(KmtAggregate) aggregate = NULL;

	if (!capture)
		return kmt_cli_fail_error(PROGRAM, error);
	names = kmt_names_open(capture, &names_options, warnings, &error);
	if (!names)
		return kmt_cli_fail_error(PROGRAM, error);
	aggregate = kmt_aggregate_new(capture, options->n_jobs, tolerance_ns);
	check_names(names, aggregate->sites, warnings);
	if (aggregate->skipped && aggregate->skipped == capture->n_records)
		g_ptr_array_add(warnings,
				g_strdup("no record can be used: is this what "
					 "kmemtraced wrote?"));
	if (options->json)
		warn_of_loss(capture, warnings);
	if (!options->quiet)
		print_warnings(warnings);
	report->capture = capture;
	report->names = names;
	report->aggregate = aggregate;
	report->warnings = warnings;
	if (options->json)
		kmt_report_json(report, stdout);
	else
		kmt_report_text(report, stdout);
	return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
}

int main(int argc, char **argv)
{
	g_auto(Options) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context =
		parse_options(argv, &options, &error);
	g_autoptr(KmtSort) sort = NULL;
	KmtReport report = {0};
	guint64 tolerance_ns = KMT_CLOCK_TOLERANCE_NS;

	/* A reader that is gone is an error of writing. */
	signal(SIGPIPE, SIG_IGN);
	kmt_cli_guard_mapped_files(PROGRAM);
	if (!context)
		return kmt_cli_fail_usage(PROGRAM, error->message);
	if (kmt_cli_answer(PROGRAM, context, options.help, options.version))
		return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
	if (!check_options(&options, &report, &tolerance_ns, &sort, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options, &report, (gint64)tolerance_ns);
}
