// SPDX-License-Identifier: GPL-2.0-or-later
/* Write a generated capture of any size, as a kernel could have recorded it. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/model.h"
#include "lib/cli/cli.h"

#define PROGRAM "generate"

/* Values of the command line. */
typedef struct {
	gboolean help;
	gboolean summary;
	char *events;
	char *cpus;
	char *live;
	char *seed;
	char *pages;
	char *cross;
	char *output;
} GenerateOptions;

static void options_clear(GenerateOptions *options)
{
	g_free(options->events);
	g_free(options->cpus);
	g_free(options->live);
	g_free(options->seed);
	g_free(options->pages);
	g_free(options->cross);
	g_free(options->output);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(GenerateOptions, options_clear)

static GOptionContext *parse_options(char **argv, GenerateOptions *o,
				     GError **error)
{
	const GOptionEntry entries[] = {
		{"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output,
		 "Write the capture to a new directory, or to one with named "
		 "pipes; - is stdout, for one CPU",
		 "DIR"},
		{"events", 'n', 0, G_OPTION_ARG_STRING, &o->events,
		 "Number of events on all CPUs (default: 1M); the suffixes k, "
		 "M, G are powers of 1000",
		 "N"},
		{"cpus", 'c', 0, G_OPTION_ARG_STRING, &o->cpus,
		 "Number of CPUs (default: 2, for stdout: 1)", "N"},
		{"live", 'l', 0, G_OPTION_ARG_STRING, &o->live,
		 "Number of live objects at the end (default: a 20th of the "
		 "events, at most 1M); possibly one more",
		 "N"},
		{"pages", 'p', 0, G_OPTION_ARG_STRING, &o->pages,
		 "Percentage of allocations that are pages (default: 10)", "N"},
		{"cross", 'x', 0, G_OPTION_ARG_STRING, &o->cross,
		 "Percentage of frees on another CPU (default: 5)", "N"},
		{"seed", 's', 0, G_OPTION_ARG_STRING, &o->seed,
		 "Another number makes other events (default: 1)", "N"},
		{"summary", 0, 0, G_OPTION_ARG_NONE, &o->summary,
		 "Print as JSON what a report must find; to stderr if the "
		 "records go to stdout",
		 NULL},
		KMT_CLI_OPTION_HELP(&o->help),
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_auto(GStrv) rest = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(
		context, "Writes a capture with the structure of a real one.");
	rest = kmt_cli_parse(context, entries, argv, error);
	if (!rest)
		return NULL;
	if (rest[0] && rest[1]) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
			    "'%s' is no option", rest[1]);
		return NULL;
	}
	return g_steal_pointer(&context);
}

/* Parse a number with an optional suffix: 20M is 20000000. */
static gboolean parse_count(const char *text, guint64 max, const char *option,
			    guint64 *number, GError **error)
{
	static const char suffixes[] = "kMG";
	size_t length = text ? strlen(text) : 0;
	const char *suffix =
		length > 1 ? strchr(suffixes, text[length - 1]) : NULL;
	g_autofree char *digits = NULL;
	guint64 factor = 1;

	if (!suffix)
		return kmt_cli_parse_number(text, max, option, number, error);
	for (; suffix >= suffixes; suffix--)
		factor *= 1000;
	digits = g_strndup(text, length - 1);
	if (!kmt_cli_parse_number(digits, max / factor, option, number, error))
		return FALSE;
	*number *= factor;
	return TRUE;
}

static gboolean parse_params(const GenerateOptions *o, BenchParams *params,
			     GError **error)
{
	guint64 cpus = g_strcmp0(o->output, "-") == 0 ? 1 : 2;
	guint64 pages = 10, cross = 5;

	params->events = 1000000;
	params->seed = 1;
	if (!parse_count(o->events, G_MAXINT64 / 65536, "--events",
			 &params->events, error))
		return FALSE;
	params->live = MIN(params->events / 20, 1000000);
	if (!parse_count(o->cpus, BENCH_MAX_CPUS, "--cpus", &cpus, error) ||
	    !parse_count(o->live, MIN(params->events, G_MAXUINT32), "--live",
			 &params->live, error) ||
	    !parse_count(o->pages, 100, "--pages", &pages, error) ||
	    !parse_count(o->cross, 100, "--cross", &cross, error) ||
	    !kmt_cli_parse_number(o->seed, G_MAXUINT64, "--seed", &params->seed,
				  error))
		return FALSE;
	params->live += (params->events - params->live) % 2;
	params->cpus = (guint)cpus;
	params->pages_percent = (guint)pages;
	params->cross_percent = (guint)cross;
	params->account = o->summary;
	if (!cpus || !o->output || (cpus > 1 && g_str_equal(o->output, "-"))) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s",
			    !cpus	 ? "--cpus 0: at least 1 is needed"
			    : !o->output ? "no --output"
					 : "--output -: stdout takes the "
					   "records of one CPU only");
		return FALSE;
	}
	return TRUE;
}

#define LLU "%" G_GUINT64_FORMAT

static void print_summary(const BenchModel *model, const BenchParams *params,
			  FILE *out)
{
	static const struct {
		const char *name;
		guint kind;
	} kinds[] = {{"kmalloc", BENCH_KMALLOC},
		     {"cache", BENCH_CACHE},
		     {"slab", BENCH_SLAB},
		     {"pages", BENCH_PAGES}};
	guint i;

	fprintf(out,
		"{ \"events\": " LLU ", \"cpus\": %u, \"seed\": " LLU
		",\n  \"kinds\": {\n",
		params->events, params->cpus, params->seed);
	for (i = 0; i < G_N_ELEMENTS(kinds); i++) {
		const BenchTotals *t = bench_model_totals(model, kinds[i].kind);

		fprintf(out,
			"    \"%s\": { \"allocs\": " LLU ", \"frees\": " LLU
			", \"bytes_requested\": " LLU
			", \"bytes_allocated\": " LLU
			", \"cross_cpu_frees\": " LLU ", \"live_objects\": " LLU
			", \"live_bytes_requested\": " LLU
			", \"live_bytes_allocated\": " LLU
			", \"peak_bytes_allocated\": " LLU " }%s\n",
			kinds[i].name, t->allocs, t->frees, t->bytes_requested,
			t->bytes_allocated, t->cross_cpu_frees, t->live_objects,
			t->live_bytes_requested, t->live_bytes_allocated,
			t->peak_bytes_allocated,
			i + 1 < G_N_ELEMENTS(kinds) ? "," : "");
	}
	fputs("  }\n}\n", out);
}

/* Open a file in the directory for writing. */
static FILE *open_text(const char *directory, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);
	FILE *out = fopen(path, "we");

	if (!out)
		g_set_error(error, BENCH_ERROR, 0, "cannot open %s: %s", path,
			    g_strerror(errno));
	return out;
}

static gboolean close_text(FILE *out, const char *what, GError **error)
{
	gboolean bad = ferror(out) != 0;

	if (fclose(out) == 0 && !bad)
		return TRUE;
	g_set_error(error, BENCH_ERROR, 0, "cannot write %s: %s", what,
		    g_strerror(errno));
	return FALSE;
}

static gboolean write_meta(const char *directory, const BenchSink *sink,
			   const BenchParams *params, GError **error)
{
	FILE *out = open_text(directory, "kmemtrace.meta", error);
	guint64 size = sizeof(struct kmemtrace_event);
	guint i;

	if (!out)
		return FALSE;
	fprintf(out,
		"[capture]\nformat=1\nabi_version=1\nrecord_size=" LLU
		"\nbyte_order=%s\nword_size=8\npage_size=4096\n"
		"kernel_release=generated\nclock=sched_clock\n"
		"complete=true\ncpus=%u\nevents=" LLU "\nbytes=" LLU
		"\noverruns=0\n",
		size, G_BYTE_ORDER == G_LITTLE_ENDIAN ? "little" : "big",
		params->cpus, params->events, params->events * size);
	for (i = 0; i < params->cpus; i++)
		fprintf(out,
			"\n[cpu%u]\nnode=0\nevents=" LLU "\nbytes=" LLU
			"\noverruns=0\n",
			i, sink->written[i], sink->written[i] * size);
	return close_text(out, "kmemtrace.meta", error);
}

static gboolean write_kallsyms(const char *directory, const BenchModel *model,
			       GError **error)
{
	FILE *out = open_text(directory, "kallsyms", error);

	if (!out)
		return FALSE;
	bench_model_kallsyms(model, out);
	return close_text(out, "kallsyms", error);
}

static gboolean generate(const char *directory, const BenchParams *params,
			 gboolean summary, GError **error)
{
	g_autoptr(BenchSink) sink =
		bench_sink_new(directory, params->cpus, error);
	g_autoptr(BenchModel) model = NULL;

	if (!sink)
		return FALSE;
	model = bench_model_new(params);
	if (!bench_model_run(model, sink, error) ||
	    !bench_sink_close(sink, error))
		return FALSE;
	if (directory && (!write_kallsyms(directory, model, error) ||
			  !write_meta(directory, sink, params, error)))
		return FALSE;
	if (summary)
		print_summary(model, params, directory ? stdout : stderr);
	return TRUE;
}

int main(int argc, char **argv)
{
	g_auto(GenerateOptions) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context =
		parse_options(argv, &options, &error);
	BenchParams params = {0};
	int status;

	/* If a reader closes its pipe, write() must fail with EPIPE, not kill
	 * this process. */
	signal(SIGPIPE, SIG_IGN);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help, FALSE,
			      &status))
		return status;
	if (!parse_params(&options, &params, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	if (!generate(g_str_equal(options.output, "-") ? NULL : options.output,
		      &params, options.summary, &error))
		return kmt_cli_fail(PROGRAM, error->message);
	return EXIT_SUCCESS;
}
