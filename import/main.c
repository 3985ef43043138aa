// SPDX-License-Identifier: GPL-2.0-or-later
/* kmemtrace-import: options, and all that is said.  See kmemtrace-import(1). */
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

#include "cli/cli.h"
#include "import/import.h"
#include "import/symbols.h"
#include "kmemtraced/error.h"

#define PROGRAM "kmemtrace-import"

/* How files begin. */
#define PERF_MAGIC	   "PERFILE2"
#define PERF_MAGIC_SWAPPED "2ELIFREP"
#define TRACE_DAT_MAGIC	   "\027\010\104tracing"
#define MAGIC_BYTES	   10

typedef struct {
	gboolean help;
	gboolean version;
	gboolean quiet;
	gboolean force;
	char *abi;
	char *buffer;
	char *cpus;
	char *kallsyms;
	char *modules;
	char *proc;
	char *sys;
	char **operands;
} Options;

static void options_clear(Options *o)
{
	g_free(o->abi);
	g_free(o->buffer);
	g_free(o->cpus);
	g_free(o->kallsyms);
	g_free(o->modules);
	g_free(o->proc);
	g_free(o->sys);
	g_strfreev(o->operands);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

/* NULL: something is wrong with the options. */
static GOptionContext *parse_options(char **argv, Options *o, GError **error)
{
	const GOptionEntry entries[] = {
		{"buffer", 'B', 0, G_OPTION_ARG_STRING, &o->buffer,
		 "trace.dat: of the instance NAME (default: the first with "
		 "events of memory)",
		 "NAME"},
		{"abi", 0, 0, G_OPTION_ARG_STRING, &o->abi,
		 "Version of the records: 1 or 2 (default: 2)", "VERSION"},
		{"cpus", 0, 0, G_OPTION_ARG_STRING, &o->cpus,
		 "CPUs that the recorded machine can have (default: as the "
		 "file tells)",
		 "N"},
		{"kallsyms", 0, 0, G_OPTION_ARG_FILENAME, &o->kallsyms,
		 "The recorded machine's /proc/kallsyms", "FILE"},
		{"modules", 0, 0, G_OPTION_ARG_FILENAME, &o->modules,
		 "The recorded machine's /proc/modules", "FILE"},
		{"force", 'f', 0, G_OPTION_ARG_NONE, &o->force,
		 "Replace a capture that is in OUTDIR", NULL},
		{"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet,
		 "Print nothing but errors", NULL},
		{"help", 'h', 0, G_OPTION_ARG_NONE, &o->help,
		 "Show this help and exit", NULL},
		{"version", 'V', 0, G_OPTION_ARG_NONE, &o->version,
		 "Show the version and exit", NULL},
		{"proc", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME,
		 &o->proc, NULL, NULL},
		{"sys", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &o->sys,
		 NULL, NULL},
		{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY,
		 &o->operands, NULL,
		 "PERF.DATA|TRACE.DAT|CTF-DIRECTORY OUTDIR"},
		{NULL, 0, 0, 0, NULL, NULL, NULL},
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_auto(GStrv) rest = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_summary(
		context,
		"Makes a capture of what another tool recorded of the kernel's "
		"tracepoints:\nperf record, trace-cmd record, or one that "
		"writes CTF, as perf data convert\nand LTTng.");
	g_option_context_set_description(
		context, "OUTDIR is made if it is missing.\n\nExit status: 0 "
			 "all was imported, 1 nothing was.\n");
	rest = kmt_cli_parse(context, entries, argv, error);
	return rest ? g_steal_pointer(&context) : NULL;
}

/* Goes by how it begins. */
static gboolean read_input(KmtImport *import, const Options *o,
			   const char *path, GError **error)
{
	char head[MAGIC_BYTES] = {0};
	g_autofree char *why = NULL;
	FILE *file;
	gsize n;

	if (g_file_test(path, G_FILE_TEST_IS_DIR))
		return kmt_import_ctf(import, path, error);
	file = fopen(path, "re");
	if (!file) {
		g_set_error_literal(error, KMT_IMPORT_ERROR,
				    KMT_IMPORT_ERROR_INPUT, g_strerror(errno));
		return FALSE;
	}
	n = fread(head, 1, sizeof(head), file);
	fclose(file);
	if (n == 0)
		return kmt_import_fail(error,
				       "it is empty: copy it again, or record "
				       "again");
	if (memcmp(head, PERF_MAGIC, 8) == 0 ||
	    memcmp(head, PERF_MAGIC_SWAPPED, 8) == 0)
		return kmt_import_perf_data(import, path, error);
	if (memcmp(head, TRACE_DAT_MAGIC, MAGIC_BYTES) == 0)
		return kmt_import_trace_dat(import, path, o->buffer, error);
	return kmt_import_fail(
		error, "it is no perf.data, no trace.dat and no directory of "
		       "CTF: give one of these (a compressed one, unpacked)");
}

/* What to do about what cannot be written. */
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
	case KMT_DAEMON_ERROR_DIRECTORY_BUSY:
		return "choose another one";
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

static void say(const KmtImportFigures *f, const char *note, const char *out)
{
	g_autofree char *quoted = g_shell_quote(out);

	printf(PROGRAM ": %" G_GUINT64_FORMAT " events of %u CPU%s", f->records,
	       f->cpus, f->cpus == 1 ? "" : "s");
	if (f->lost_more)
		printf(", and nobody knows how many were lost");
	else
		printf(", %" G_GUINT64_FORMAT " lost", f->lost);
	printf("\n");
	if (f->no_memory)
		printf("left out: %" G_GUINT64_FORMAT " of no memory (failed "
		       "allocations, frees of nothing)\n",
		       f->no_memory);
	if (f->other)
		printf("left out: %" G_GUINT64_FORMAT " of other tracepoints\n",
		       f->other);
	if (f->backwards)
		printf("%" G_GUINT64_FORMAT " times were before that of the "
		       "event before and became the same\n",
		       f->backwards);
	if (note)
		printf("note: %s\n", note);
	printf("\nNext:\nkmemtrace-check %s\nkmemtrace-report %s\n", quoted,
	       quoted);
}

/* All the work, in a process of its own. */
static int work(const Options *o, guint cpus, KmtOutput *output)
{
	const char *path = o->operands[0];
	const KmtSymbolFiles files = {o->kallsyms, o->modules,
				      o->proc ? o->proc : "/proc",
				      o->sys ? o->sys : "/sys"};
	g_autoptr(KmtImport) import =
		kmt_import_new(output, o->abi && *o->abi == '1' ? 1 : 2);
	g_autoptr(GError) error = NULL;
	g_autofree char *note = NULL;
	KmtImportFigures figures;

	kmt_import_set_cpus(import, cpus);
	if (read_input(import, o, path, &error) &&
	    kmt_symbols_copy(import, output, &files, &note, &error) &&
	    kmt_import_finish(import, &figures, &error)) {
		if (!o->quiet)
			say(&figures, note, o->operands[1]);
		return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
	}
	if (error->domain != KMT_DAEMON_ERROR)
		g_prefix_error(&error, "cannot import %s: ", path);
	return fail(error);
}

static volatile sig_atomic_t caught;
static volatile pid_t worker;

static void pass_on(int number)
{
	caught = number;
	if (worker > 0)
		kill(worker, SIGKILL);
}

static void end_worker_by_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = pass_on};

	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* As the signal would have ended it. */
static int end_by(int number)
{
	signal(number, SIG_DFL);
	raise(number);
	return EXIT_FAILURE;
}

/* Other people's libraries read other people's files: should they crash, it is
 * the worker that does. */
static int wait_for_worker(const Options *o, KmtOutput *output)
{
	g_autofree char *message = NULL;
	int status;

	while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return EXIT_SUCCESS;
	kmt_output_remove(output);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (caught)
		return end_by(caught);
	message = g_strdup_printf(
		"cannot import %s: what reads it crashed (%s), so it is cut "
		"off or damaged: copy it again, or record again",
		o->operands[0], strsignal(WTERMSIG(status)));
	return kmt_cli_fail(PROGRAM, message);
}

static int run(const Options *o, guint cpus)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtOutput) output = NULL;
	sigset_t all, before;
	int status;

	output = kmt_output_open(o->operands[1], o->force, &error);
	if (!output)
		return fail(error);
	end_worker_by_signals();
	/* Until it is known whom to end. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	worker = fork();
	if (worker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		signal(SIGHUP, SIG_DFL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		status = work(o, cpus, output);
		kmt_output_close(output);
		/* Without what its parent would do at its end. */
		_exit(status);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (worker > 0)
		return wait_for_worker(o, output);
	kmt_output_remove(output);
	return kmt_cli_fail(PROGRAM, "cannot start a process: free some "
				     "memory, or see ulimit -u");
}

int main(int argc, char **argv)
{
	g_auto(Options) options = {0};
	g_autoptr(GError) error = NULL;
	g_autoptr(GOptionContext) context = NULL;
	guint64 cpus = 0;
	guint n;

	setlocale(LC_ALL, "");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	context = parse_options(argv, &options, &error);
	if (!context)
		return kmt_cli_fail_usage(PROGRAM, error->message);
	if (kmt_cli_answer(PROGRAM, context, options.help, options.version))
		return kmt_cli_close_stdout(PROGRAM, EXIT_SUCCESS);
	n = options.operands ? g_strv_length(options.operands) : 0;
	if (n < 2)
		return kmt_cli_fail_usage(PROGRAM, n ? "there is no OUTDIR"
						     : "there is no file to "
						       "import");
	if (n > 2)
		return kmt_cli_fail_usage(PROGRAM,
					  "there is one operand too many");
	if (options.abi && !g_str_equal(options.abi, "1") &&
	    !g_str_equal(options.abi, "2"))
		return kmt_cli_fail_usage(PROGRAM, "--abi has to be 1 or 2");
	if (!kmt_cli_parse_number(options.cpus, KMT_IMPORT_MAX_CPUS, "--cpus",
				  &cpus, &error))
		return kmt_cli_fail_usage(PROGRAM, error->message);
	return run(&options, (guint)cpus);
}
