// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/gate-options.h"
#include "lib/cli/cli.h"
#include "lib/cli/color.h"

#include <string.h>

#define DEFAULT_ERROR_RATE 0.05
#define DEFAULT_LINES	   10

void kmt_gate_options_clear(KmtGateOptions *o)
{
	g_free(o->junit);
	g_free(o->markdown);
	g_free(o->error_rate);
	g_free(o->lines);
	g_free(o->vmlinux);
	g_free(o->debug_dir);
	g_free(o->source);
	g_free(o->base_vmlinux);
	g_free(o->base_debug_dir);
	g_free(o->base_source);
	g_free(o->clock_tolerance);
	g_free(o->jobs);
	g_free(o->color);
	g_strfreev(o->operands);
}

static void add_output(GArray *entries, KmtGateOptions *o)
{
	const GOptionEntry output[] = {
		{"junit", 0, 0, G_OPTION_ARG_FILENAME, &o->junit,
		 "Write the verdicts as JUnit XML to FILE", "FILE"},
		{"markdown", 0, 0, G_OPTION_ARG_FILENAME, &o->markdown,
		 "Write a summary in Markdown to FILE", "FILE"},
		{"lines", 'l', 0, G_OPTION_ARG_STRING, &o->lines,
		 "Show N lines of each exceeded rule, 0 for all (default: 10)",
		 "N"},
		{"error-rate", 0, 0, G_OPTION_ARG_STRING, &o->error_rate,
		 "Let noise exceed a rule with at most this probability "
		 "(default: 0.05)",
		 "RATE"},
		{"check", 0, 0, G_OPTION_ARG_NONE, &o->check,
		 "Print how the rules are understood, without captures", NULL},
	};

	g_array_append_vals(entries, output, G_N_ELEMENTS(output));
}

static void add_sources(GArray *entries, KmtGateOptions *o)
{
	const GOptionEntry sources[] = {
		{"vmlinux", 'k', 0, G_OPTION_ARG_FILENAME, &o->vmlinux,
		 "Read source lines from the debug information of this vmlinux",
		 "FILE"},
		{"debug-dir", 0, 0, G_OPTION_ARG_FILENAME, &o->debug_dir,
		 "Read source lines from the debug files of modules (and of "
		 "vmlinux) in DIR",
		 "DIR"},
		{"source", 0, 0, G_OPTION_ARG_FILENAME, &o->source,
		 "Read source directories from this built kernel tree", "TREE"},
		{"base-vmlinux", 0, 0, G_OPTION_ARG_FILENAME, &o->base_vmlinux,
		 "Use this vmlinux for the base side", "FILE"},
		{"base-debug-dir", 0, 0, G_OPTION_ARG_FILENAME,
		 &o->base_debug_dir, "Use this DIR for the base side", "DIR"},
		{"base-source", 0, 0, G_OPTION_ARG_FILENAME, &o->base_source,
		 "Use this TREE for the base side", "TREE"},
		KMT_CLI_OPTION_CLOCK_TOLERANCE(&o->clock_tolerance),
		{"jobs", 'j', 0, G_OPTION_ARG_STRING, &o->jobs,
		 "Use at most N threads (default: one for each processor)",
		 "N"},
		KMT_COLOR_OPTION(&o->color),
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet,
		 "Print nothing; only write files and set the exit status",
		 NULL},
		KMT_CLI_OPTION_HELP(&o->help),
		KMT_CLI_OPTION_VERSION(&o->version),
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
		 &o->operands, NULL, "RULES BASE... -- NEW..."},
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};

	g_array_append_vals(entries, sources, G_N_ELEMENTS(sources));
}

/* Return the last "--" of @argv, or NULL. */
static char **find_separator(char **argv)
{
	char **separator = NULL;

	for (; *argv; argv++)
		if (strcmp(*argv, "--") == 0)
			separator = argv;
	return separator;
}

GOptionContext *kmt_gate_options_parse(char **argv, KmtGateOptions *o,
				       GError **error)
{
	g_autoptr(GArray) entries =
		g_array_new(FALSE, FALSE, sizeof(GOptionEntry));
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	char **separator = find_separator(argv);
	g_autoptr(GPtrArray) left = g_ptr_array_new();
	g_auto(GStrv) rest = NULL;

	for (; *argv && argv != separator; argv++)
		g_ptr_array_add(left, *argv);
	g_ptr_array_add(left, NULL);
	o->new = separator ? separator + 1 : NULL;
	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(
		context, "Judge by the rules of a file whether the kernel "
			 "memory of the NEW captures exceeds\nthat of the BASE "
			 "captures.");
	g_option_context_set_description(
		context,
		"A capture is a directory that kmemtraced wrote, or a tar of "
		"one.\n\nExit status: 0 if all rules passed, 1 on error, 2 if "
		"a rule is exceeded, 3 if no\nrule is exceeded and a rule "
		"cannot be decided.\n");
	add_output(entries, o);
	add_sources(entries, o);
	rest = kmt_cli_parse(context, (GOptionEntry *)entries->data,
			     (char **)left->pdata, error);
	return rest ? g_steal_pointer(&context) : NULL;
}

static gboolean invalid(GError **error, const char *message)
{
	g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    message);
	return FALSE;
}

static gboolean parse_rate(KmtGateOptions *o, GError **error)
{
	char *end = NULL;

	o->rate = DEFAULT_ERROR_RATE;
	if (!o->error_rate)
		return TRUE;
	o->rate = g_ascii_strtod(o->error_rate, &end);
	if (g_ascii_isdigit(*o->error_rate) && !*end && o->rate > 0 &&
	    o->rate < 1)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--error-rate '%s': not a number between 0 and 1",
		    o->error_rate);
	return FALSE;
}

gboolean kmt_gate_options_check(KmtGateOptions *o, GError **error)
{
	guint n = o->operands ? g_strv_length(o->operands) : 0;

	o->max_lines = DEFAULT_LINES;
	if (!kmt_cli_parse_number(o->lines, G_MAXUINT32, "--lines",
				  &o->max_lines, error) ||
	    !parse_rate(o, error))
		return FALSE;
	if (!n)
		return invalid(error, "the file of rules is missing");
	o->rules = o->operands[0];
	o->base = o->operands + 1;
	if (o->check)
		return (n == 1 && !o->new) ||
		       invalid(error, "--check: not with captures");
	if (!o->new)
		return invalid(error, "-- is missing: it separates the BASE "
				      "captures from the NEW captures");
	if (n == 1)
		return invalid(error, "no BASE capture before --");
	if (!*o->new)
		return invalid(error, "no NEW capture after --");
	if (o->junit && o->markdown && strcmp(o->junit, "-") == 0 &&
	    strcmp(o->markdown, "-") == 0)
		return invalid(error, "--junit and --markdown: only one can be "
				      "written to standard output");
	return TRUE;
}
