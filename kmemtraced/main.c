// SPDX-License-Identifier: GPL-2.0-or-later
/* kmemtraced: parses the options and prints all messages. See kmemtraced(8). */
#include "config.h"

#include <fcntl.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/out-of-memory.h"
#include "lib/recovery/recovery.h"
#include "kmemtraced/error-advice.h"
#include "kmemtraced/tracefs-instance.h"
#include "kmemtraced/capture-session.h"
#include "kmemtraced/initramfs.h"
#include "lib/capture/zstd-encoder.h"
#include "lib/cli/signals.h"
#include "kmemtraced/snapshot-capture.h"

#define PROGRAM "kmemtraced"

#define OUT_OF_MEMORY                                                          \
	"records that were written before are kept; free some memory, or "     \
	"raise the limits of 'ulimit'"

/* Upper limit of -w: the time in microseconds must fit into a gint64. */
#define SECONDS_MAX 1e9

/*
 * Upper limit of -b in kilobytes: 1 TB. The kernel decides whether it accepts a
 * smaller value.
 */
#define BUFFER_MAX_KB 1073741824

/* Most callers of a stack, as with kmemtrace.stack_depth=. */
#define STACK_DEPTH_MAX 64

static gboolean quiet;
static gboolean has_command;

static void print_warning(const char *text)
{
	kmt_color_warn(PROGRAM, text);
}

static void print_note(const char *text)
{
	if (!quiet)
		fprintf(stderr, PROGRAM ": %s\n", text);
}

static void print_error(const GError *error, gboolean captured)
{
	const char *hint = kmtd_error_advice(error);
	const char *state = kmtd_error_capture_state(error);

	if (state && !captured)
		state = "nothing was recorded";
	fprintf(stderr, "%s" PROGRAM ":%s %s%s%s%s%s\n",
		kmt_color_begin(stderr, KMT_COLOR_ERROR), kmt_color_end(stderr),
		error->message, hint ? "; " : "", hint ? hint : "",
		state ? "; " : "", state ? state : "");
}

static guint64 memory_bytes(void)
{
	return (guint64)sysconf(_SC_PHYS_PAGES) *
	       (guint64)sysconf(_SC_PAGESIZE);
}

/* Runs at exit, so that it covers the output of --help too. */
static void check_stdout(void)
{
	if (kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS) != EXIT_SUCCESS)
		_exit(has_command ? KMTD_COMMAND_FAILED : EXIT_FAILURE);
}

static void print_summary(const KmtdSummary *summary, const char *directory,
			  FILE *to)
{
	g_autofree char *line = kmtd_summary_line(summary);
	g_autofree char *lost = kmtd_summary_advice(summary, memory_bytes());
	g_autofree char *next =
		directory ? kmtd_summary_commands(summary, directory) : NULL;

	if (lost)
		print_warning(lost);
	if (quiet)
		return;
	if (!directory)
		fprintf(to, PROGRAM ": %s\n", line);
	else
		fprintf(to, PROGRAM ": %s\n\nNext:\n%s", line, next);
}

static void fail_usage(const char *format, ...)
	G_GNUC_PRINTF(1, 2) G_GNUC_NORETURN;

static void fail_usage(const char *format, ...)
{
	g_autofree char *message = NULL;
	va_list args;

	va_start(args, format);
	message = g_strdup_vprintf(format, args);
	va_end(args);
	kmt_cli_fail_usage(PROGRAM, message);
	g_clear_pointer(&message, g_free);
	exit(has_command ? KMTD_COMMAND_FAILED : EXIT_FAILURE);
}

static double parse_seconds(const char *text)
{
	char *end;
	double seconds = g_ascii_strtod(text, &end);

	if (end == text || *end || !(seconds > 0 && seconds <= SECONDS_MAX))
		fail_usage("-w '%s' is not a time in seconds", text);
	return seconds;
}

static guint64 parse_buffer(const char *text)
{
	guint64 kb = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 1, BUFFER_MAX_KB, &kb, NULL))
		fail_usage("-b '%s' is not a number of kilobytes from 1 to %d",
			   text, BUFFER_MAX_KB);
	return kb;
}

/*
 * Append the process numbers in a list such as "12,34" to @pids. Exit on a
 * mistake.
 */
static void parse_pids(const char *text, GArray *pids)
{
	g_auto(GStrv) words = g_strsplit(text, ",", -1);

	for (char **word = words; *word; word++) {
		gint64 n;
		gint pid;

		if (!g_ascii_string_to_signed(*word, 10, 1, G_MAXINT, &n, NULL))
			fail_usage("-p '%s' is not the number of a process",
				   *word);
		pid = (gint)n;
		g_array_append_val(pids, pid);
	}
}

/* Options on the command line; NULL, FALSE or 0: not given. */
static struct {
	char *directory, *source, *debugfs, *tracefs, *proc, *sys;
	char *seconds, *buffer, *filter, *reader, *initramfs, *stream, *color;
	char **pid_lists, **cgroups;
	gboolean children, keep_own, no_recover, stacks, force, snapshot,
		version;
	guint stack_depth;
	int compress_level;
} given;

/* GOptionArgFunc of --stacks[=DEPTH]. An empty text selects the default. */
static gboolean parse_stacks(const char *name, const char *text, gpointer data,
			     GError **error)
{
	guint64 depth = 0;

	given.stacks = TRUE;
	if (*text && !g_ascii_string_to_unsigned(text, 10, 1, STACK_DEPTH_MAX,
						 &depth, NULL)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--stacks '%s' is not a number of callers from 1 "
			    "to %d",
			    text, STACK_DEPTH_MAX);
		return FALSE;
	}
	given.stack_depth = (guint)depth;
	return TRUE;
}

/* GOptionArgFunc of --compress[=LEVEL]. */
static gboolean parse_compress(const char *name, const char *text,
			       gpointer data, GError **error)
{
	return kmt_zstd_parse_level(text, &given.compress_level, error);
}

static const GOptionEntry entries[] = {
	{"directory", 'D', 0, G_OPTION_ARG_FILENAME, &given.directory,
	 "Write the capture to DIR (default: .)", "DIR"},
	{"source", 's', 0, G_OPTION_ARG_STRING, &given.source,
	 "Record from relay (a kernel with kmemtrace), bpf (programs in any "
	 "kernel with BTF) or ftrace (any kernel); default: the first that "
	 "this kernel has",
	 "SOURCE"},
	{"debugfs", 'r', 0, G_OPTION_ARG_FILENAME, &given.debugfs,
	 "Use the debugfs mounted at DEBUGFS (default: /sys/kernel/debug); "
	 "implies relay",
	 "DEBUGFS"},
	{"tracefs", 't', 0, G_OPTION_ARG_FILENAME, &given.tracefs,
	 "Use the tracefs mounted at TRACEFS (default: /sys/kernel/tracing); "
	 "implies ftrace",
	 "TRACEFS"},
	{"buffer", 'b', 0, G_OPTION_ARG_STRING, &given.buffer,
	 "ftrace, bpf: set the buffer of each CPU to KB kilobytes (default: "
	 "up to 16384)",
	 "KB"},
	{"pid", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &given.pid_lists,
	 "Record only these processes", "PID[,PID...]"},
	{"children", 'c', 0, G_OPTION_ARG_NONE, &given.children,
	 "Record the child processes as well", NULL},
	{"filter", 'F', 0, G_OPTION_ARG_STRING, &given.filter,
	 "relay, bpf: record only allocations that match FILTER, such as "
	 "'cache=dentry', 'size=4096-', 'sample=10'",
	 "FILTER"},
	{"cgroup", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.cgroups,
	 "relay, bpf: record only the allocations of tasks in the control "
	 "groups whose path matches GLOB, such as '/system.slice'",
	 "GLOB"},
	{"reader", 'R', 0, G_OPTION_ARG_STRING, &given.reader,
	 "relay: read the buffers by READER: mmap (without a copy) or read "
	 "(default: mmap if the kernel has it)",
	 "READER"},
	{"stacks", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
	 (gpointer)parse_stacks,
	 "Record the call stack of each event, with at most DEPTH callers "
	 "(default: 32)",
	 "DEPTH"},
	{"compress", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK,
	 (gpointer)parse_compress,
	 "Compress the records by zstd with LEVEL from 1 to 19 (default: 1), "
	 "into cpu<n>.out.zst",
	 "LEVEL"},
	{"no-recover", 0, 0, G_OPTION_ARG_NONE, &given.no_recover,
	 "bpf: only count the events that the kernel skips; an event then "
	 "takes less time",
	 NULL},
	{"seconds", 'w', 0, G_OPTION_ARG_STRING, &given.seconds,
	 "Stop after SECONDS (default: at Ctrl+C)", "SECONDS"},
	{"initramfs", 0, 0, G_OPTION_ARG_FILENAME, &given.initramfs,
	 "Record in the background, and follow the boot from the initramfs to "
	 "the root file system; write the process number to FILE",
	 "FILE"},
	{"snapshot", 'S', 0, G_OPTION_ARG_NONE, &given.snapshot,
	 "Save the snapshot that the kernel has taken, and exit", NULL},
	{"stream", 0, 0, G_OPTION_ARG_STRING, &given.stream,
	 "Write a stream to the open descriptor FD, for another program, "
	 "instead of a capture",
	 "FD"},
	{"force", 'f', 0, G_OPTION_ARG_NONE, &given.force,
	 "Replace an existing capture when the new one is complete", NULL},
	KMT_COLOR_OPTION(&given.color),
	{"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet,
	 "Print only errors and warnings", NULL},
	KMT_CLI_OPTION_VERSION(&given.version),
	{"proc", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &given.proc,
	 NULL, NULL},
	{"keep-own", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE,
	 &given.keep_own, NULL, NULL},
	{"sys", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &given.sys,
	 NULL, NULL},
	G_OPTION_ENTRY_NULL,
};

/*
 * Return the descriptor of --stream, which no command inherits. Exit on a
 * mistake. Whether it can be written is checked later, as for a directory.
 */
static int parse_stream(const char *text)
{
	guint64 fd = 0;

	if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT, &fd, NULL))
		fail_usage("--stream '%s' is not the number of a descriptor",
			   text);
	if (fd == STDERR_FILENO)
		fail_usage("--stream '%s' is the descriptor of the messages",
			   text);
	if (has_command && fd <= STDOUT_FILENO)
		fail_usage("--stream '%s' is a descriptor of the command",
			   text);
	if (given.directory || given.force || given.snapshot ||
	    given.initramfs || given.compress_level)
		fail_usage("--stream writes no capture, and excludes -D, -f, "
			   "-S, --compress and --initramfs");
	(void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
	return (int)fd;
}

/* Check which options can be combined. Exit on a mistake. */
static void check_options(gboolean pids)
{
	const char *reader = given.reader, *source = given.source;

	if (given.children && !pids && !has_command)
		fail_usage("-c needs -p or a command");
	if (given.initramfs && has_command)
		fail_usage("--initramfs and a command exclude each other");
	if (given.snapshot &&
	    (given.initramfs || given.tracefs || given.buffer ||
	     given.seconds || pids || given.children || has_command ||
	     given.filter || given.cgroups || reader || given.keep_own ||
	     given.no_recover || given.stacks ||
	     (source && !g_str_equal(source, "relay"))))
		fail_usage("-S saves a snapshot of kmemtrace, and takes no "
			   "other options than -D, -r, -f, --compress and -q");
	for (char **glob = given.cgroups; glob && *glob; glob++)
		if (**glob != '/' || strpbrk(*glob, ", \t\n"))
			fail_usage("--cgroup '%s' does not match paths: a glob "
				   "begins with '/', and has '?' in place of a "
				   "blank or a comma",
				   *glob);
	if (reader && !g_str_equal(reader, "mmap") &&
	    !g_str_equal(reader, "read"))
		fail_usage("-R '%s' is neither mmap nor read", reader);
}

/*
 * Return the source that the options select, or NULL for the best one. Without
 * -s, a mount point for one source but not for the other selects that source,
 * and -R, which only relay has, selects relay.
 */
static const char *chosen_source(void)
{
	if (given.source)
		return given.source;
	if (given.tracefs && !given.debugfs)
		return "ftrace";
	if (given.reader || (given.debugfs && !given.tracefs))
		return "relay";
	return NULL;
}

/*
 * Parse the options into *options and @pids. Exit on a mistake, and for --help
 * and --version.
 */
static void parse_options(char **argv, GArray *pids,
			  KmtdSessionOptions *options)
{
	g_autoptr(GOptionContext) context =
		g_option_context_new("[-- COMMAND [ARG...]]");
	g_auto(GStrv) rest = NULL;
	g_autoptr(GError) error = NULL;

	/* Stop at the first argument that is not an option: the options of a
	 * command without "--" do not belong to kmemtraced. */
	g_option_context_set_strict_posix(context, TRUE);
	g_option_context_set_summary(
		context, "Record the allocations and frees of kernel memory "
			 "into cpu<n>.out, until Ctrl+C.");
	g_option_context_set_description(
		context,
		"With a COMMAND, record the whole machine until the command "
		"exits.\n\nExit status: 0 on success, 1 on error. With a "
		"COMMAND: the status of the command,\n126 if it cannot be run, "
		"127 if it was not found, 125 if kmemtraced failed.");
	rest = kmt_cli_parse(context, entries, argv, &error);
	if (!rest || !kmt_color_set_up(given.color, &error))
		fail_usage("%s", error->message);
	if (given.version) {
		printf(PROGRAM " " PACKAGE_VERSION "\n");
		exit(EXIT_SUCCESS);
	}
	if (rest[0] && rest[1])
		fail_usage("'%s' is one argument too many: a command comes "
			   "after '--'",
			   rest[1]);
	if (given.seconds)
		options->seconds = parse_seconds(given.seconds);
	if (given.buffer)
		options->buffer_kb = parse_buffer(given.buffer);
	for (char **list = given.pid_lists; list && *list; list++)
		parse_pids(*list, pids);
	check_options(pids->len > 0);
	options->reader = given.reader;
	options->source = chosen_source();
	options->filter = given.filter;
	options->cgroups = given.cgroups;
	options->tracefs = given.tracefs;
	options->children = given.children;
	options->keep_own = given.keep_own;
	options->no_recover = given.no_recover;
	options->stacks = given.stacks;
	options->stack_depth = given.stack_depth;
	options->stream_fd = given.stream ? parse_stream(given.stream) : -1;
	options->directory = given.directory ? given.directory : ".";
	options->has_directory = given.directory != NULL;
	options->debugfs = given.debugfs;
	options->proc = given.proc ? given.proc : "/proc";
	options->sys = given.sys ? given.sys : "/sys";
	options->force = given.force;
	options->snapshot = given.snapshot;
	options->compress_level = given.compress_level;
	options->quiet = quiet;
}

/*
 * Cut argv at "--". Return the words of the command that follow, or NULL if
 * there is no "--". Exit if the command is missing.
 */
static char **split_command(char **argv)
{
	for (char **word = argv + 1; *word; word++) {
		if (!g_str_equal(*word, "--"))
			continue;
		has_command = TRUE;
		if (!word[1])
			fail_usage("there is no command after '--'");
		*word = NULL;
		return word + 1;
	}
	return NULL;
}

/*
 * Remove the instance in tracefs that remains of a kmemtraced that was killed
 * together with its cleanup process. Any mode of this program removes the
 * instance. With -r but not -t, the machine's own tracefs is not searched.
 */
static void remove_stale_instance(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (given.debugfs && !given.tracefs)
		return;
	if (kmtd_instance_remove_stale(given.tracefs, &error))
		print_warning(KMTD_INSTANCE_REMOVED);
	if (!error)
		return;
	text = g_strdup_printf("%s; %s", error->message,
			       kmtd_error_advice(error));
	print_warning(text);
}

static KmtdCommand *create_command(char **argv, const KmtCliSignals *signals,
				   GArray *pids,
				   const KmtdSessionOptions *options,
				   GPtrArray *errors)
{
	GError *error = NULL;
	KmtdCommand *command = kmtd_command_new(argv, signals, &error);
	gint pid;

	if (!command) {
		g_ptr_array_add(errors, error);
		return NULL;
	}
	/* Without -c, the command only determines the duration of the
	 * recording. */
	pid = (gint)kmtd_command_pid(command);
	if (options->children)
		g_array_append_val(pids, pid);
	return command;
}

/* Continue in the background. Exit if that is not possible. */
static KmtdInitramfs *start_in_background(char **argv, const char *proc)
{
	g_autoptr(GError) error = NULL;
	KmtdInitramfs *initramfs =
		kmtd_initramfs_start(argv, given.initramfs, proc, &error);

	if (initramfs)
		return initramfs;
	print_error(error, FALSE);
	exit(EXIT_FAILURE);
}

/*
 * Return the exit status for a recording with a command. Wait for the command
 * if it still runs: the recording may end before the command does. The capture
 * must have been saved.
 */
static int command_status(KmtdCommand *command, const KmtCliSignals *signals,
			  gboolean failed)
{
	if (kmtd_command_runs(command)) {
		print_note("recording has ended; waiting for the command");
		fflush(stdout);
		/* From now on, a signal ends kmemtraced as it ends any other
		 * program. */
		kmt_cli_signals_release(signals);
		kmtd_command_poll(command, TRUE);
	}
	return failed && kmtd_command_was_started(command)
		       ? KMTD_COMMAND_FAILED
		       : kmtd_command_status(command);
}

int main(int argc, char **argv)
{
	const KmtdSessionUi ui = {.warning = print_warning, .note = print_note};
	g_autoptr(GPtrArray) errors =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_error_free);
	g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(gint));
	KmtdSessionOptions options = {0};
	KmtdSummary summary;
	KmtCliSignals signals;
	char **argv_command;
	gboolean captured = FALSE;
	int status;

	kmt_cli_occupy_standard_descriptors();
	setlocale(LC_ALL, "");
	atexit(check_stdout);
	argv_command = split_command(argv);
	kmt_cli_exit_on_out_of_memory(PROGRAM, OUT_OF_MEMORY,
				      has_command ? KMTD_COMMAND_FAILED
						  : EXIT_FAILURE);
	parse_options(argv, pids, &options);
	if (given.initramfs)
		options.initramfs = start_in_background(argv, options.proc);
	kmt_cli_signals_block(&signals);
	options.signals = &signals;
	/* A killed kmemtraced of an older version left no recovery note, so
	 * search for its instance as well. */
	if (kmt_recovery_run(PROGRAM))
		remove_stale_instance();

	kmtd_summary_init(&summary);
	if (argv_command)
		options.command = create_command(argv_command, &signals, pids,
						 &options, errors);
	options.pids = (const gint *)pids->data;
	options.n_pids = pids->len;
	if (errors->len == 0)
		captured = (options.snapshot ? kmtd_snapshot_save
					     : kmtd_session_run)(
			&options, &ui, &summary, errors);
	for (guint i = 0; i < errors->len; i++)
		print_error(errors->pdata[i], captured);
	if (captured)
		print_summary(&summary,
			      summary.directory	      ? summary.directory
			      : options.stream_fd < 0 ? options.directory
						      : NULL,
			      argv_command || options.stream_fd >= 0 ? stderr
								     : stdout);
	kmtd_summary_clear(&summary);
	status = errors->len == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	if (options.command)
		status = command_status(options.command, &signals,
					errors->len > 0);
	else if (argv_command)
		status = KMTD_COMMAND_FAILED;
	g_clear_pointer(&options.command, kmtd_command_free);
	g_clear_pointer(&options.initramfs, kmtd_initramfs_free);
	return status;
}
