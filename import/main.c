// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kmemtrace-import: main function, options, messages, and the child process.
 * See kmemtrace-import(1).
 */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/cli.h"
#include "lib/cli/color.h"
#include "lib/cli/out-of-memory.h"
#include "lib/cli/progress.h"
#include "lib/recovery/recovery.h"
#include "import/byte-span.h"
#include "import/import.h"
#include "import/import-options.h"
#include "import/input-file.h"
#include "import/import-symbols.h"
#include "lib/capture/error.h"
#include "lib/cli/signals.h"

#define PROGRAM "kmemtrace-import"

#define OUT_OF_MEMORY                                                          \
	"raise the limit (ulimit -v, or that of the control group), or record" \
	" and import a shorter time"
/* A capture was written although a part of the input is damaged. */
#define EXIT_PARTIAL 2

/*
 * Limits for a reader that makes no progress: processor time, and real time.
 * The second limit is longer because a reader may wait for a slow disk.
 */
#define STALL_CPU_SECONDS 60
#define STALL_SECONDS	  600

/*
 * Return advice on an error of the output directory, or NULL. The string is
 * static.
 */
static const char *advice(const GError *error)
{
	if (error->domain != KMT_DAEMON_ERROR)
		return NULL;
	switch (error->code) {
	case KMT_DAEMON_ERROR_EXISTS:
		return "choose another directory, or replace that capture "
		       "with -f";
	case KMT_DAEMON_ERROR_DIRECTORY:
		return "choose a directory that can be written and whose "
		       "parent exists";
	case KMT_DAEMON_ERROR_UNSAFE:
		return "choose a directory of your own, or the name of a new "
		       "one in a directory of your own";
	case KMT_DAEMON_ERROR_FOREIGN:
		return "choose another directory, or move that file away";
	case KMT_DAEMON_ERROR_DIRECTORY_BUSY:
		return "choose another one";
	case KMT_DAEMON_ERROR_RESOURCES:
		return "free some memory, or raise the limits of 'ulimit': "
		       "each CPU of the recording takes 80 KB and an open file";
	case KMT_DAEMON_ERROR_NO_ZSTD:
		return "install libzstd1 (libzstd; to build kmemtrace-import, "
		       "libzstd-dev or libzstd-devel), or import without "
		       "--compress";
	case KMT_DAEMON_ERROR_DISK_FULL:
		return "make room there, or choose a directory on another "
		       "file system";
	default:
		return NULL;
	}
}

static int fail(const GError *error)
{
	const char *what_to_do = advice(error);
	g_autofree char *message =
		what_to_do ? g_strconcat(error->message, ": ", what_to_do, NULL)
			   : g_strdup(error->message);

	return kmt_cli_fail(PROGRAM, message);
}

static void print_summary(const KmtImportFigures *f, const char *note,
			  const char *out)
{
	g_autofree char *quoted = g_shell_quote(out);

	printf(PROGRAM ": %" G_GUINT64_FORMAT " events of %u CPU%s", f->records,
	       f->cpus, f->cpus == 1 ? "" : "s");
	if (f->lost_more)
		printf(", an unknown number lost");
	else if (f->not_reported)
		printf("; whether events were lost is not known");
	else
		printf(", %" G_GUINT64_FORMAT " lost", f->lost);
	printf("\n");
	if (f->no_memory)
		printf("left out: %" G_GUINT64_FORMAT
		       " events without memory (failed allocations, frees of "
		       "NULL)\n",
		       f->no_memory);
	if (f->duplicates)
		printf("left out: %" G_GUINT64_FORMAT
		       " events of a large kmalloc() that the kernel reported "
		       "twice\n",
		       f->duplicates);
	if (f->other)
		printf("left out: %" G_GUINT64_FORMAT
		       " events of other tracepoints\n",
		       f->other);
	if (f->backwards)
		printf("%" G_GUINT64_FORMAT
		       " times were before the time of the previous event and "
		       "were set to that time\n",
		       f->backwards);
	for (gsize i = 0; f->incomplete[i]; i++)
		printf("%swarning:%s incomplete: %s\n",
		       kmt_color_begin(stdout, KMT_COLOR_WARNING),
		       kmt_color_end(stdout), f->incomplete[i]);
	for (gsize i = 0; f->notes[i]; i++)
		printf("note: %s\n", f->notes[i]);
	if (note)
		printf("note: %s\n", note);
	printf("\nNext:\nkmemtrace-check %s\nkmemtrace-report %s\n", quoted,
	       quoted);
}

/*
 * Print the figures, and a warning about damage even with --quiet. Returns the
 * exit status.
 */
static int finish(const KmtImportOptions *o, const KmtImportFigures *figures,
		  const char *note, const char *out)
{
	g_autofree char *warning = NULL;

	if (!o->quiet)
		print_summary(figures, note, out);
	if (!figures->damaged)
		return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
	warning = g_strdup_printf(
		"%s is damaged: imported the undamaged parts, and recorded a "
		"loss at each damaged part; copy it again, or record again",
		o->operands[0]);
	kmt_color_warn(PROGRAM, warning);
	return kmt_cli_close_stdout(PROGRAM, EXIT_PARTIAL);
}

/*
 * Discard GLib's messages. If memory runs out, kmt_cli_exit_on_out_of_memory()
 * prints the message; only under AddressSanitizer, GLib aborts, and the parent
 * process reports this failure.
 */
static GLogWriterOutput discard_log(G_GNUC_UNUSED GLogLevelFlags level,
				    G_GNUC_UNUSED const GLogField *fields,
				    G_GNUC_UNUSED gsize n_fields,
				    G_GNUC_UNUSED gpointer user)
{
	return G_LOG_WRITER_HANDLED;
}

/*
 * Limit the memory of this process. The import sets this limit itself, so the
 * message that is printed when memory runs out must not advise to raise a
 * ulimit or the limit of a control group.
 */
static void limit_memory(char *const *paths)
{
	g_autofree char *advice = NULL;
	guint64 bytes = 0, limit;

	for (guint i = 0; paths[i]; i++)
		bytes = kmt_add_saturating(
			bytes, kmt_import_watch_input_bytes(paths[i]));
	limit = kmt_import_watch_limit_memory(bytes);
	if (!limit)
		return;
	advice = g_strdup_printf(
		"cannot import %s: it needs more than the %" G_GUINT64_FORMAT
		" MB that the import allows itself for input of this size, so "
		"it is probably damaged: copy it again, or record again, for "
		"a shorter time",
		paths[0], limit >> 20);
	kmt_cli_exit_on_out_of_memory(PROGRAM, advice, EXIT_FAILURE);
}

/* Message for the signal handler, which must not allocate memory. */
static char *truncation_message;

/*
 * SIGBUS handler: an access behind the end of a truncated mapped file raises
 * SIGBUS.
 */
static void report_truncation(int number, siginfo_t *info,
			      G_GNUC_UNUSED void *context)
{
	if (info->si_code == BUS_ADRERR &&
	    write(STDERR_FILENO, truncation_message,
		  strlen(truncation_message)) > 0)
		_exit(EXIT_FAILURE);
	/* The handler returns, and the repeated access ends the process. */
	signal(number, SIG_DFL);
}

static void handle_truncation(const char *path)
{
	struct sigaction action = {.sa_sigaction = report_truncation,
				   .sa_flags = SA_SIGINFO};

	truncation_message = g_strdup_printf(
		PROGRAM ": cannot import %s: it became shorter while it was "
			"read: import it when it is complete\n",
		path);
	sigaction(SIGBUS, &action, NULL);
}

static gboolean end_watch(KmtImportWatch *watch)
{
	kmt_import_watch_end(watch);
	kmt_progress_end();
	return TRUE;
}

/*
 * Read the input and write the capture. Runs in a child process; returns its
 * exit status.
 */
static int run_worker(const KmtImportOptions *o, guint cpus,
		      KmtCaptureWriter *output, KmtImportWatch *watch)
{
	guint n = g_strv_length(o->operands);
	const char *out = o->operands[n - 1];
	g_autofree char **paths =
		g_memdup2(o->operands, n * sizeof(*o->operands));
	const KmtImportSymbolFiles files = {
		o->kallsyms, o->modules, o->proc ? o->proc : "/proc",
		o->sys ? o->sys : "/sys", o->build_id_dir};
	g_autoptr(KmtImport) import =
		kmt_import_new(output, o->abi && *o->abi == '1' ? 1 : 2);
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	KmtImportFigures figures;

	paths[n - 1] = NULL;
	kmt_import_set_cpus(import, cpus);
	kmt_import_set_symbol_files(import, &files);
	kmt_import_set_watch(import, watch);
	kmt_import_watch_begin(watch);
	g_log_set_writer_func(discard_log, NULL, NULL);
	limit_memory(paths);
	kmt_cli_raise_file_limit();
	handle_truncation(paths[0]);
	if (kmt_import_read(import, paths, o->buffer, &error) &&
	    end_watch(watch) &&
	    kmt_import_symbols_copy(import, output, &files, &note, &error) &&
	    kmt_import_finish(import, &figures, &error))
		return finish(o, &figures, note, out);
	if (error->domain != KMT_DAEMON_ERROR)
		g_prefix_error(&error, "cannot import %s: ", paths[0]);
	return fail(error);
}

static volatile sig_atomic_t caught_signal;
static volatile pid_t worker;

static void kill_worker(int number)
{
	caught_signal = number;
	if (worker > 0)
		kill(worker, SIGKILL);
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/*
 * Set the action of the signals that end the import. A signal that was ignored
 * on entry, as nohup(1) does with SIGHUP, stays ignored.
 */
static void handle_signals(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	for (gsize i = 0; i < G_N_ELEMENTS(ending_signals); i++)
		if (!kmt_cli_signals_is_ignored(ending_signals[i]))
			sigaction(ending_signals[i], &action, NULL);
}

/* End this process with the signal that it caught. */
static int end_by_signal(int number)
{
	signal(number, SIG_DFL);
	raise(number);
	return EXIT_FAILURE;
}

/*
 * Move the finished capture into OUTDIR. Called after the worker has written a
 * capture. Return EXIT_SUCCESS, or the exit status after an error.
 */
static int publish(KmtCaptureWriter *output)
{
	g_autoptr(GError) error = NULL;

	if (kmt_capture_writer_publish(output, &error))
		return EXIT_SUCCESS;
	kmt_capture_writer_undo(output);
	return fail(error);
}

/*
 * Wait for the worker and return the exit status. Libraries of other projects
 * read untrusted files in the worker, so a crash in such a library ends only
 * the worker.
 */
static int wait_for_worker(const KmtImportOptions *o, KmtCaptureWriter *output,
			   KmtImportWatch *watch)
{
	guint64 cpu_seconds = STALL_CPU_SECONDS, seconds = STALL_SECONDS;
	g_autofree char *message = NULL;
	gboolean ended;
	int status;

	if (o->stall)
		cpu_seconds = seconds = g_ascii_strtoull(o->stall, NULL, 10);
	ended = kmt_import_watch_wait(watch, &worker, (guint)cpu_seconds,
				      (guint)seconds, &status);
	if (WIFEXITED(status))
		kmt_progress_end();
	else
		kmt_progress_end_of_child();
	if (!ended && !caught_signal) {
		kmt_capture_writer_undo(output);
		message = g_strdup_printf(
			"cannot import %s: the reader made no progress and was "
			"stopped, so the file is cut off or damaged: copy it "
			"again, or record again",
			o->operands[0]);
		return kmt_cli_fail(PROGRAM, message);
	}
	if (status == KMT_IMPORT_WATCH_NO_STATUS) {
		message = g_strdup_printf(
			"cannot import %s: the exit status of the process that "
			"read it is not available (%s): import it again",
			o->operands[0], g_strerror(errno));
		kmt_capture_writer_undo(output);
		return kmt_cli_fail(PROGRAM, message);
	}
	if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_SUCCESS ||
				  WEXITSTATUS(status) == EXIT_PARTIAL)) {
		int published = publish(output);

		return published ? published : WEXITSTATUS(status);
	}
	kmt_capture_writer_undo(output);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (caught_signal)
		return end_by_signal(caught_signal);
	message = g_strdup_printf(
		"cannot import %s: the reader crashed (%s) or needed too much "
		"memory, so the file is cut off or damaged: copy it again, or "
		"record again",
		o->operands[0], strsignal(WTERMSIG(status)));
	return kmt_cli_fail(PROGRAM, message);
}

static void warn(const char *text)
{
	kmt_color_warn(PROGRAM, text);
}

static int run(const KmtImportOptions *o, guint cpus)
{
	/* Stage the capture, so that an incomplete capture of a failed worker
	 * can be removed. */
	const KmtCaptureDirectoryOptions directory = {
		.force = o->force, .staged = TRUE, .warning = warn};
	const KmtProgressTask progress = {
		.program = PROGRAM, .verb = "imported", .passes = 1};
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtCaptureWriter) output = NULL;
	KmtImportWatch *watch = kmt_import_watch_new();
	sigset_t all, before;
	int status;

	if (!watch)
		return kmt_cli_fail(PROGRAM, "no memory, or too many files are "
					     "open: see ulimit -n");
	output = kmt_capture_writer_open(
		o->operands[g_strv_length(o->operands) - 1], &directory,
		&error);
	if (output && o->compress_level &&
	    !kmt_capture_writer_compress(output, o->compress_level, &error)) {
		kmt_capture_writer_undo(output);
		g_clear_pointer(&output, kmt_capture_writer_close);
	}
	if (!output) {
		kmt_import_watch_free(watch);
		return fail(error);
	}
	if (!o->quiet)
		kmt_progress_begin(&progress);
	/* Block all signals until worker is set, because the signal handler
	 * kills the process that worker refers to. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	handle_signals(kill_worker);
	worker = fork();
	if (worker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		handle_signals(SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		status = run_worker(o, cpus, output, watch);
		kmt_capture_writer_close(output);
		/* Call _exit(): exit() would flush the parent's buffered
		 * streams a second time. */
		_exit(status);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (worker > 0) {
		status = wait_for_worker(o, output, watch);
		kmt_import_watch_free(watch);
		return status;
	}
	kmt_import_watch_free(watch);
	kmt_capture_writer_undo(output);
	return kmt_cli_fail(PROGRAM, "cannot start a process: free some "
				     "memory, or see ulimit -u");
}

int main(int argc, char **argv)
{
	g_auto(KmtImportOptions) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	guint64 cpus = 0;
	int status;
	guint n;

	kmt_cli_occupy_standard_descriptors();
	kmt_cli_exit_on_out_of_memory(PROGRAM, OUT_OF_MEMORY, EXIT_FAILURE);
	setlocale(LC_ALL, "");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* With SIGCHLD ignored, the worker's exit status would be lost. */
	signal(SIGCHLD, SIG_DFL);
	context = kmt_import_options_parse(argv, &options, &error);
	if (kmt_cli_must_exit(PROGRAM, context, error, options.help,
			      options.version, &status))
		return status;
	if (!kmt_color_set_up(options.color, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	(void)kmt_recovery_run(PROGRAM);
	n = options.operands ? g_strv_length(options.operands) : 0;
	if (n < 2)
		return kmt_cli_fail_usage(PROGRAM, n ? "OUTDIR is missing"
						     : "there is no file to "
						       "import");
	if (options.abi && !g_str_equal(options.abi, "1") &&
	    !g_str_equal(options.abi, "2"))
		return kmt_cli_fail_usage(PROGRAM, "--abi must be 1 or 2");
	if (!kmt_cli_parse_number(options.cpus, KMT_IMPORT_MAX_CPUS, "--cpus",
				  &cpus, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options, (guint)cpus);
}
