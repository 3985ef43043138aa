// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/top-options.h"

#include <string.h>

#include "lib/cli/cli.h"
#include "lib/match/matcher.h"

/* Bytes of a tracked object, for --memory; see lib/match/object-table.h. */
#define BYTES_PER_OBJECT 48

/* Limits of --delay, in seconds. */
#define MIN_DELAY_S 0.01
#define MAX_DELAY_S 1e6

/* The strings of the command line, which GLib allocates. */
static struct {
	char *delay, *iterations, *lines, *by, *kind, *sort;
	char *max_objects, *memory, *clock_tolerance;
	gboolean reverse;
} given;

/* An option that kmemtraced has under the same long name. Each occurrence is
 * passed on. */
#define PASS(name, letter, flags, help, value)                                 \
	{                                                                      \
		name, letter, flags, G_OPTION_ARG_CALLBACK, (gpointer)pass_on, \
			help, value                                            \
	}

static KmtTopOptions *parsed; /* for pass_on() */

static gboolean pass_on(const char *name, const char *value, gpointer data,
			GError **error)
{
	static const struct {
		char letter;
		const char *name;
	} letters[] = {{'s', "source"},
		       {'p', "pid"},
		       {'c', "children"},
		       {'F', "filter"},
		       {'w', "seconds"}};
	const char *word = name;
	guint i;

	/* GLib passes the option as it was given, -s or --source. */
	while (*word == '-')
		word++;
	for (i = 0; i < G_N_ELEMENTS(letters); i++)
		if (word[0] == letters[i].letter && !word[1])
			word = letters[i].name;
	g_ptr_array_add(parsed->daemon_args,
			value ? g_strdup_printf("--%s=%s", word, value)
			      : g_strdup_printf("--%s", word));
	return TRUE;
}

static gboolean parse_delay(KmtTopOptions *options, GError **error)
{
	char *end;

	options->delay_s = KMT_TOP_DELAY_S;
	if (!given.delay)
		return TRUE;
	options->delay_s = g_ascii_strtod(given.delay, &end);
	if (end != given.delay && !*end && options->delay_s >= MIN_DELAY_S &&
	    options->delay_s <= MAX_DELAY_S)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--delay: '%s' is not a number of seconds from %g to %g",
		    given.delay, MIN_DELAY_S, MAX_DELAY_S);
	return FALSE;
}

static gboolean bad_word(const char *option, const char *word,
			 const char *words, GError **error)
{
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s: unknown word '%s'; use one of %s", option, word,
		    words);
	return FALSE;
}

static gboolean parse_query(KmtTopOptions *options, GError **error)
{
	KmtTopQuery *query = &options->query;

	if (given.by && !kmt_top_grouping_parse(given.by, &query->grouping))
		return bad_word("--by", given.by,
				"callsite, cache, comm, module, directory",
				error);
	if (given.kind && !kmt_top_kind_parse(given.kind, &query->kind))
		return bad_word("--kind", given.kind,
				"all, slab, kmalloc, cache, pages, percpu, "
				"vmalloc",
				error);
	if (given.sort && !kmt_top_order_parse(given.sort, &query->order))
		return bad_word("--sort", given.sort,
				"rate, live, wasted, growth, allocs, name",
				error);
	query->reverse = given.reverse;
	query->filter = options->match;
	return TRUE;
}

/* Parse a size in bytes, with K, M, or G of 1024. */
static gboolean parse_memory(const char *text, guint64 *bytes, GError **error)
{
	static const char units[] = "KMG";
	g_autofree char *number = g_strdup(text);
	gsize n = strlen(number);
	const char *unit =
		n ? strchr(units, g_ascii_toupper(number[n - 1])) : NULL;
	guint shift = 0;

	if (unit && *unit) {
		shift = 10 * (guint)(unit - units + 1);
		number[n - 1] = '\0';
	}
	if (!kmt_cli_parse_number(number, G_MAXUINT64 >> shift, "--memory",
				  bytes, error))
		return FALSE;
	*bytes <<= shift;
	return TRUE;
}

static gboolean parse_limits(KmtTopOptions *options, GError **error)
{
	guint64 max = KMT_TOP_MAX_OBJECTS, memory = 0;
	guint64 tolerance = KMT_MATCH_CLOCK_TOLERANCE_NS;

	if (given.memory && given.max_objects) {
		g_set_error_literal(error, G_OPTION_ERROR,
				    G_OPTION_ERROR_BAD_VALUE,
				    "--memory and --max-objects exclude each "
				    "other");
		return FALSE;
	}
	if (!kmt_cli_parse_number(given.max_objects, G_MAXUINT64,
				  "--max-objects", &max, error) ||
	    (given.memory && !parse_memory(given.memory, &memory, error)) ||
	    !kmt_cli_parse_number(given.clock_tolerance,
				  KMT_MATCH_CLOCK_TOLERANCE_MAX_NS,
				  "--clock-tolerance", &tolerance, error))
		return FALSE;
	options->engine.max_objects =
		given.memory ? MAX(memory / BYTES_PER_OBJECT, 1) : max;
	options->engine.clock_tolerance_ns = (gint64)tolerance;
	return TRUE;
}

static gboolean parse_values(KmtTopOptions *options, GError **error)
{
	options->lines = options->json ? 0 : KMT_TOP_LINES;
	if (!parse_delay(options, error) || !parse_query(options, error) ||
	    !parse_limits(options, error) ||
	    !kmt_cli_parse_number(given.iterations, G_MAXUINT32, "--iterations",
				  &options->n_iterations, error) ||
	    !kmt_cli_parse_number(given.lines, G_MAXUINT32, "--lines",
				  &options->lines, error))
		return FALSE;
	if (options->json && !options->batch) {
		g_set_error_literal(error, G_OPTION_ERROR,
				    G_OPTION_ERROR_BAD_VALUE,
				    "--json needs --batch");
		return FALSE;
	}
	if (options->read && options->daemon_args->len) {
		g_set_error_literal(
			error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			"--read reads a recorded stream: omit the options and "
			"the command for a recording");
		return FALSE;
	}
	return TRUE;
}

static void set_engine(KmtTopOptions *options)
{
	g_ptr_array_add(options->daemon_args, NULL);
	options->engine.read = options->read;
	options->engine.daemon_args =
		(const char *const *)options->daemon_args->pdata;
	options->engine.capture = options->capture;
	options->engine.vmlinux = options->vmlinux;
	options->engine.source_tree = options->tree;
	options->engine.debug_directory = options->debug_dir;
}

static GOptionContext *new_context(void)
{
	GOptionContext *context = g_option_context_new("[-- COMMAND [ARG...]]");

	/* Options after COMMAND are those of COMMAND. */
	g_option_context_set_strict_posix(context, TRUE);
	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(
		context,
		"Show which code allocates and holds kernel memory now.");
	g_option_context_set_description(
		context,
		"kmemtraced records the events; the options --source to --sys "
		"are passed to it.\nWith a COMMAND, the recording ends with "
		"the command.\n\n"
		"Exit status: 0 if the view ended as requested, 1 on error, "
		"128 + N after signal N.\n");
	return context;
}

/* The options that select and print the views. */
static void add_view_options(GArray *entries, KmtTopOptions *o)
{
	const GOptionEntry views[] = {
		{"batch", 'b', 0, G_OPTION_ARG_NONE, &o->batch,
		 "Print the views one after the other, without a screen", NULL},
		{"iterations", 'n', 0, G_OPTION_ARG_STRING, &given.iterations,
		 "End after N views (default: at the end of the recording)",
		 "N"},
		{"delay", 'd', 0, G_OPTION_ARG_STRING, &given.delay,
		 "Show a view every SECONDS (default: 2)", "SECONDS"},
		{"json", 0, 0, G_OPTION_ARG_NONE, &o->json,
		 "With -b: print each view as one JSON document", NULL},
		{"lines", 'l', 0, G_OPTION_ARG_STRING, &given.lines,
		 "With -b: print N rows of each view, 0 for all (default: 20 "
		 "for text, all for JSON)",
		 "N"},
		{"by", 'g', 0, G_OPTION_ARG_STRING, &given.by,
		 "Group by WHAT: callsite, cache, comm, module or directory "
		 "(default: callsite)",
		 "WHAT"},
		{"kind", 'k', 0, G_OPTION_ARG_STRING, &given.kind,
		 "Show memory of KIND: all, slab, kmalloc, cache, pages, "
		 "percpu or vmalloc (default: all)",
		 "KIND"},
		{"sort", 'o', 0, G_OPTION_ARG_STRING, &given.sort,
		 "Sort by KEY: rate, live, wasted, growth, allocs or name "
		 "(default: rate)",
		 "KEY"},
		{"reverse", 'r', 0, G_OPTION_ARG_NONE, &given.reverse,
		 "Sort in the opposite order", NULL},
		{"match", 'm', 0, G_OPTION_ARG_STRING, &o->match,
		 "Show only rows whose name contains TEXT, or matches it if "
		 "TEXT has *, ? or [",
		 "TEXT"},
	};

	g_array_append_vals(entries, views, G_N_ELEMENTS(views));
}

/* The options of the limits, the streams, and the names. */
static void add_data_options(GArray *entries, KmtTopOptions *o)
{
	const GOptionEntry data[] = {
		{"max-objects", 0, 0, G_OPTION_ARG_STRING, &given.max_objects,
		 "Track at most N live objects, 0 for any number (default: "
		 "10000000)",
		 "N"},
		{"memory", 0, 0, G_OPTION_ARG_STRING, &given.memory,
		 "Track as many live objects as fit in SIZE bytes (K, M and G "
		 "are units)",
		 "SIZE"},
		{"capture", 'D', 0, G_OPTION_ARG_FILENAME, &o->capture,
		 "Also write a capture of all records to DIR", "DIR"},
		{"read", 0, 0, G_OPTION_ARG_FILENAME, &o->read,
		 "Read a stream that kmemtraced --stream wrote to FILE, - for "
		 "standard input, instead of recording",
		 "FILE"},
		{"vmlinux", 0, 0, G_OPTION_ARG_FILENAME, &o->vmlinux,
		 "Take directories and source lines from the debug information "
		 "of this vmlinux",
		 "FILE"},
		{"debug-dir", 0, 0, G_OPTION_ARG_FILENAME, &o->debug_dir,
		 "Take directories and source lines from the debug files of "
		 "modules (and of vmlinux) in DIR",
		 "DIR"},
		{"tree", 0, 0, G_OPTION_ARG_FILENAME, &o->tree,
		 "Read source directories from this built kernel tree", "TREE"},
		KMT_CLI_OPTION_CLOCK_TOLERANCE(&given.clock_tolerance),
	};

	g_array_append_vals(entries, data, G_N_ELEMENTS(data));
}

/* The options of kmemtraced. */
static void add_recording_options(GArray *entries)
{
	const GOptionEntry recording[] = {
		PASS("source", 's', 0,
		     "Record from relay, bpf or ftrace (default: the first "
		     "that this kernel has)",
		     "SOURCE"),
		PASS("buffer", 0, 0,
		     "ftrace, bpf: set the buffer of each CPU to KB kilobytes",
		     "KB"),
		PASS("pid", 'p', 0, "Record only these processes",
		     "PID[,PID...]"),
		PASS("children", 'c', G_OPTION_FLAG_NO_ARG,
		     "Record the child processes as well", NULL),
		PASS("filter", 'F', 0,
		     "relay, bpf: record only allocations that match FILTER",
		     "FILTER"),
		PASS("cgroup", 0, 0,
		     "relay, bpf: record only the allocations of tasks in "
		     "these control groups",
		     "GLOB"),
		PASS("reader", 0, 0, "relay: read the buffers by mmap or read",
		     "READER"),
		PASS("no-recover", 0, G_OPTION_FLAG_NO_ARG,
		     "bpf: only count the events that the kernel skips", NULL),
		PASS("seconds", 'w', 0, "End after SECONDS", "SECONDS"),
		PASS("debugfs", 0, 0,
		     "Use the debugfs mounted at DEBUGFS; implies relay",
		     "DEBUGFS"),
		PASS("tracefs", 0, 0,
		     "Use the tracefs mounted at TRACEFS; implies ftrace",
		     "TRACEFS"),
		PASS("proc", 0, G_OPTION_FLAG_HIDDEN, NULL, "DIR"),
		PASS("sys", 0, G_OPTION_FLAG_HIDDEN, NULL, "DIR"),
		PASS("keep-own", 0, G_OPTION_FLAG_HIDDEN | G_OPTION_FLAG_NO_ARG,
		     NULL, NULL),
	};

	g_array_append_vals(entries, recording, G_N_ELEMENTS(recording));
}

/* The options that every program has. */
static void add_common_options(GArray *entries, KmtTopOptions *o)
{
	const GOptionEntry common[] = {
		KMT_CLI_OPTION_HELP(&o->help),
		KMT_CLI_OPTION_VERSION(&o->version),
	};

	g_array_append_vals(entries, common, G_N_ELEMENTS(common));
}

GOptionContext *kmt_top_options_parse(char **argv, KmtTopOptions *o,
				      GError **error)
{
	g_autoptr(GArray) entries =
		g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
	g_autoptr(GOptionContext) context = new_context();
	g_auto(GStrv) words = NULL;
	char **command;

	add_view_options(entries, o);
	add_data_options(entries, o);
	add_recording_options(entries);
	add_common_options(entries, o);
	parsed = o;
	o->daemon_args = g_ptr_array_new_with_free_func(g_free);
	words = kmt_cli_parse(context, (GOptionEntry *)entries->data, argv,
			      error);
	if (!words)
		return NULL;
	if (o->help || o->version)
		return g_steal_pointer(&context);
	command = words + 1;
	if (*command && strcmp(*command, "--") != 0)
		g_ptr_array_add(o->daemon_args, g_strdup("--"));
	for (; *command; command++)
		g_ptr_array_add(o->daemon_args, g_strdup(*command));
	if (!parse_values(o, error))
		return NULL;
	set_engine(o);
	return g_steal_pointer(&context);
}

void kmt_top_options_clear(KmtTopOptions *options)
{
	char **const strings[] = {
		&given.delay,	    &given.iterations, &given.lines,
		&given.by,	    &given.kind,       &given.sort,
		&given.max_objects, &given.memory,     &given.clock_tolerance,
		&options->read,	    &options->match,   &options->capture,
		&options->vmlinux,  &options->tree,    &options->debug_dir};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(strings); i++)
		g_clear_pointer(strings[i], g_free);
	g_clear_pointer(&options->daemon_args, g_ptr_array_unref);
}
