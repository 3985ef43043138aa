// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/pager.h"
#include "report/columns.h"
#include "report/leaks.h"
#include "report/report-options.h"

#include <string.h>
#include <unistd.h>

void kmt_options_clear(KmtOptions *options)
{
	g_free(options->by);
	g_free(options->html);
	g_free(options->pprof);
	g_free(options->perfetto);
	g_free(options->skip);
	g_free(options->fields);
	g_free(options->sort);
	g_free(options->lines);
	g_free(options->time);
	g_free(options->windows);
	g_free(options->histogram);
	g_free(options->churn);
	g_free(options->kind);
	g_free(options->cpu);
	g_free(options->node);
	g_free(options->size);
	g_free(options->lifetime);
	g_free(options->callsite);
	g_free(options->module);
	g_free(options->cgroup);
	g_free(options->kallsyms);
	g_free(options->system_map);
	g_free(options->vmlinux);
	g_free(options->debug_dir);
	g_free(options->source);
	g_free(options->clock_tolerance);
	g_free(options->jobs);
	g_free(options->layout);
	g_free(options->color);
	g_strfreev(options->diff);
	g_free(options->per);
	g_free(options->error_rate);
	g_free(options->base_vmlinux);
	g_free(options->base_debug_dir);
	g_free(options->base_source);
	g_strfreev(options->operands);
}

/* Accept a System.map for -k, too: a file that is neither empty nor ELF is
 * taken as a System.map. */
static void accept_system_map(KmtOptions *o)
{
	static const char magic[] = {0x7f, 'E', 'L', 'F'};
	char begin[sizeof(magic)];
	FILE *file = o->vmlinux ? fopen(o->vmlinux, "r") : NULL;
	gsize n;

	if (!file)
		return;
	n = fread(begin, 1, sizeof(begin), file);
	fclose(file);
	if (n == 0 ||
	    (n == sizeof(begin) && memcmp(begin, magic, sizeof(magic)) == 0))
		return;
	g_free(o->system_map);
	o->system_map = g_steal_pointer(&o->vmlinux);
}

static void add_views(GArray *entries, KmtOptions *o)
{
	const GOptionEntry views[] = {
		{"by", 0, 0, G_OPTION_ARG_STRING, &o->by,
		 "Group the figures by WHAT (default: callsite)",
		 "WHAT[,WHAT...]"},
		{"stacks", 0, 0, G_OPTION_ARG_NONE, &o->stacks,
		 "Group by call stack as well, as --by stack", NULL},
		{"skip", 0, 0, G_OPTION_ARG_STRING, &o->skip,
		 "Treat these functions as wrappers, in addition to the "
		 "known wrapper functions",
		 "GLOB[,GLOB...]"},
		{"fields", 0, 0, G_OPTION_ARG_STRING, &o->fields,
		 "Show these columns", "FIELD[,FIELD...]"},
		{"sort", 's', 0, G_OPTION_ARG_STRING, &o->sort,
		 "Sort the lines by KEY (default: wasted)", "KEY[,KEY...]"},
		{"lines", 'l', 0, G_OPTION_ARG_STRING, &o->lines,
		 "Show N lines of each table, 0 for all (default: 20 for text, "
		 "all otherwise)",
		 "N"},
		{"slab", 0, 0, G_OPTION_ARG_NONE, &o->slab,
		 "Show only call sites of kmalloc and of caches", NULL},
		{"page", 0, 0, G_OPTION_ARG_NONE, &o->page,
		 "Show only call sites of the page allocator", NULL},
		{"live", 0, 0, G_OPTION_ARG_NONE, &o->live,
		 "Show the holders of memory at the end", NULL},
		{"leaks", 0, 0, G_OPTION_ARG_NONE, &o->leaks,
		 "Show the leak candidates, with the reason for each", NULL},
		{"advise", 0, 0, G_OPTION_ARG_NONE, &o->advise,
		 "Show changes of the kernel that would save memory, with "
		 "their cost",
		 NULL},
		{"cross-cpu", 0, 0, G_OPTION_ARG_NONE, &o->cross_cpu,
		 "Show frees on another CPU than the allocation, by CPU and by "
		 "call site",
		 NULL},
		{"time", 0, 0, G_OPTION_ARG_STRING, &o->time,
		 "Report on the time from START to STOP, or show the peak; "
		 "START and STOP are seconds (@: of the kernel's clock) or "
		 "marks",
		 "START,STOP | peak"},
		{"windows", 0, 0, G_OPTION_ARG_STRING, &o->windows,
		 "Show the figures of N equal parts of the time", "N"},
		{"histogram", 0, 0, G_OPTION_ARG_STRING, &o->histogram,
		 "Show the distribution of lifetimes or of sizes",
		 "lifetime|size"},
		{"churn", 0, 0, G_OPTION_ARG_STRING, &o->churn,
		 "Count objects that live less than TIME as short-lived "
		 "(default: 1ms)",
		 "TIME"},
		{"marks", 0, 0, G_OPTION_ARG_NONE, &o->marks,
		 "List the annotations with their text", NULL},
		{"before-trace", 0, 0, G_OPTION_ARG_NONE, &o->before_trace,
		 "List the call sites that freed memory allocated before the "
		 "trace",
		 NULL},
	};

	g_array_append_vals(entries, views, G_N_ELEMENTS(views));
}

static void add_comparison(GArray *entries, KmtOptions *o)
{
	const GOptionEntry comparison[] = {
		{"diff", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->diff,
		 "Compare with the capture BASE; repeat the option for several "
		 "captures of the base side, and give each capture of the new "
		 "side as an operand",
		 "BASE"},
		{"per", 0, 0, G_OPTION_ARG_STRING, &o->per,
		 "Divide the sums of --diff by the seconds, or by the number "
		 "of marks NAME, of each capture",
		 "second | mark:NAME"},
		{"error-rate", 0, 0, G_OPTION_ARG_STRING, &o->error_rate,
		 "Let at most this fraction of unchanged figures exceed noise "
		 "(default: 0.1)",
		 "RATE"},
		{"base-vmlinux", 0, 0, G_OPTION_ARG_FILENAME, &o->base_vmlinux,
		 "Use this vmlinux for the captures of --diff", "FILE"},
		{"base-debug-dir", 0, 0, G_OPTION_ARG_FILENAME,
		 &o->base_debug_dir,
		 "Use the debug files in DIR for the captures of --diff",
		 "DIR"},
		{"base-source", 0, 0, G_OPTION_ARG_FILENAME, &o->base_source,
		 "Use this built kernel tree for the captures of --diff",
		 "TREE"},
	};

	g_array_append_vals(entries, comparison, G_N_ELEMENTS(comparison));
}

static void add_formats(GArray *entries, KmtOptions *o)
{
	const GOptionEntry formats[] = {
		{"json", 0, 0, G_OPTION_ARG_NONE, &o->json,
		 "Print all figures as one JSON document", NULL},
		{"csv", 0, 0, G_OPTION_ARG_NONE, &o->csv,
		 "Print the table as CSV", NULL},
		{"folded", 0, 0, G_OPTION_ARG_NONE, &o->folded,
		 "Print stacks for a flame graph of the first field", NULL},
		{"html", 0, 0, G_OPTION_ARG_FILENAME, &o->html,
		 "Write a page with charts and tables for a browser to FILE",
		 "FILE"},
		{"pprof", 0, 0, G_OPTION_ARG_FILENAME, &o->pprof,
		 "Write a profile for pprof to FILE", "FILE"},
		{"perfetto", 0, 0, G_OPTION_ARG_FILENAME, &o->perfetto,
		 "Write a timeline for Perfetto to FILE", "FILE"},
	};

	g_array_append_vals(entries, formats, G_N_ELEMENTS(formats));
}

static void add_filters(GArray *entries, KmtOptions *o)
{
	const GOptionEntry filters[] = {
		{"kind", 0, 0, G_OPTION_ARG_STRING, &o->kind,
		 "Report only objects of these kinds", "KIND[,KIND...]"},
		{"cpu", 'C', 0, G_OPTION_ARG_STRING, &o->cpu,
		 "Report only objects allocated on these CPUs", "LIST"},
		{"node", 0, 0, G_OPTION_ARG_STRING, &o->node,
		 "Report only objects requested from these NUMA nodes", "LIST"},
		{"size", 0, 0, G_OPTION_ARG_STRING, &o->size,
		 "Report only objects of MIN to MAX requested bytes",
		 "MIN-MAX"},
		{"lifetime", 0, 0, G_OPTION_ARG_STRING, &o->lifetime,
		 "Report only objects that live from MIN to MAX", "MIN-MAX"},
		{"callsite", 0, 0, G_OPTION_ARG_STRING, &o->callsite,
		 "Report only objects allocated by these functions or "
		 "addresses",
		 "GLOB[,GLOB...]"},
		{"module", 0, 0, G_OPTION_ARG_STRING, &o->module,
		 "Report only objects allocated by these modules",
		 "GLOB[,GLOB...]"},
		{"cgroup", 0, 0, G_OPTION_ARG_STRING, &o->cgroup,
		 "Report only objects allocated by tasks in these cgroups",
		 "GLOB[,GLOB...]"},
	};

	g_array_append_vals(entries, filters, G_N_ELEMENTS(filters));
}

static void add_sources(GArray *entries, KmtOptions *o)
{
	const GOptionEntry sources[] = {
		{"kallsyms", 0, 0, G_OPTION_ARG_FILENAME, &o->kallsyms,
		 "Read symbols from this copy of /proc/kallsyms", "FILE"},
		{"system-map", 0, 0, G_OPTION_ARG_FILENAME, &o->system_map,
		 "Read symbols from this System.map", "FILE"},
		{"vmlinux", 'k', 0, G_OPTION_ARG_FILENAME, &o->vmlinux,
		 "Show source lines from the debug information of this vmlinux",
		 "FILE"},
		{"debug-dir", 0, 0, G_OPTION_ARG_FILENAME, &o->debug_dir,
		 "Show source lines from the debug files of modules (and of "
		 "vmlinux) in DIR",
		 "DIR"},
		{"source", 0, 0, G_OPTION_ARG_FILENAME, &o->source,
		 "Read source directories from this built kernel tree", "TREE"},
		{"raw-ip", 0, 0, G_OPTION_ARG_NONE, &o->raw_ip,
		 "Show addresses instead of symbols", NULL},
		KMT_CLI_OPTION_CLOCK_TOLERANCE(&o->clock_tolerance),
		KMT_CLI_OPTION_LAYOUT(&o->layout),
		{"jobs", 'j', 0, G_OPTION_ARG_STRING, &o->jobs,
		 "Use at most N threads (default: one for each processor)",
		 "N"},
		KMT_COLOR_OPTION(&o->color),
		KMT_PAGER_OPTION(&o->no_pager),
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet,
		 "Print no warnings", NULL},
		KMT_CLI_OPTION_HELP(&o->help),
		KMT_CLI_OPTION_VERSION(&o->version),
		KMT_CLI_OPTION_OPERANDS(&o->operands),
	};

	g_array_append_vals(entries, sources, G_N_ELEMENTS(sources));
}

GOptionContext *kmt_options_parse(char **argv, KmtOptions *o, GError **error)
{
	g_autoptr(GArray) entries =
		g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
	g_autofree char *dimensions = kmt_dimension_names();
	g_autofree char *fields = kmt_report_field_names();
	g_autofree char *keys = kmt_sort_key_names();
	g_autofree char *description = g_strdup_printf(
		KMT_CLI_OPERANDS
		"\n\nBy: %s.\nFields: %s.\nSort keys: %s.\nA + before a key "
		"sorts in ascending order, a - in descending order.\n\nExit "
		"status: 0 if the report was printed, 1 on error.\n",
		dimensions, fields, keys);
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_auto(GStrv) rest = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(context,
				     "Summarize the allocations and frees of "
				     "kernel memory in a kmemtrace capture.");
	g_option_context_set_description(context, description);
	add_views(entries, o);
	add_comparison(entries, o);
	add_formats(entries, o);
	add_filters(entries, o);
	add_sources(entries, o);
	rest = kmt_cli_parse(context, (GOptionEntry *)entries->data, argv,
			     error);
	if (!rest)
		return NULL;
	accept_system_map(o);
	return g_steal_pointer(&context);
}
