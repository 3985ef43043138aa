// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a command and print its cost.
 *
 * Peak resident memory includes pages of mapped files, which the kernel can
 * reclaim at any time; anonymous memory is the memory that the command needs.
 * The kernel keeps no peak of anonymous memory. This program therefore samples
 * the anonymous memory, and reads it once more when the command ends: ptrace
 * stops the command before its memory is freed.
 */
#include "config.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/cli.h"

#define PROGRAM	  "measure"
#define SAMPLE_NS 5000000

typedef struct {
	double seconds;
	double user, system;
	guint64 max_rss, max_anon; /* bytes */
	guint64 instructions;
	gboolean has_instructions;
	int status;
} Cost;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/*
 * Return the content of a file of /proc/PID, or NULL if it cannot be read. The
 * caller frees the text.
 */
static char *read_proc(pid_t pid, const char *name)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/%s", pid, name);
	char *text = NULL;

	g_file_get_contents(path, &text, NULL, NULL);
	return text;
}

static void sample(pid_t pid, Cost *cost)
{
	g_autofree char *text = read_proc(pid, "statm");
	guint64 resident, shared, page = (guint64)sysconf(_SC_PAGESIZE);

	if (text &&
	    sscanf(text, "%*u %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT,
		   &resident, &shared) == 2 &&
	    resident > shared)
		cost->max_anon =
			MAX(cost->max_anon, (resident - shared) * page);
}

/*
 * Read the peak resident memory of the command itself. ru_maxrss also includes
 * the memory that the child shared with this program before exec().
 */
static void sample_peak(pid_t pid, Cost *cost)
{
	g_autofree char *text = read_proc(pid, "status");
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", 0);
	guint i;

	for (i = 0; lines[i]; i++)
		if (g_str_has_prefix(lines[i], "VmHWM:"))
			cost->max_rss =
				g_ascii_strtoull(lines[i] + 6, NULL, 10) * 1024;
}

/*
 * Open a counter of the instructions of a process, its threads and its
 * children. Return -1 if there is no such counter, or if the kernel refuses it.
 */
static int open_counter(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* Wait on fd until the parent is ready, then execute the command. */
static void G_GNUC_NORETURN run_child(int fd, const sigset_t *mask, char **argv)
{
	char byte;
	ssize_t n;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	fprintf(stderr, PROGRAM ": cannot run %s: %s\n", argv[0],
		g_strerror(errno));
	_exit(127);
}

/*
 * Sample until the command has ended. Return its status in the form of
 * waitpid(), or -1 on error.
 */
static int watch(pid_t pid, const sigset_t *child, Cost *cost,
		 struct rusage *usage)
{
	const struct timespec interval = {0, SAMPLE_NS};
	int status;

	for (;;) {
		pid_t got = wait4(pid, &status, WNOHANG, usage);

		if (got < 0 && errno != EINTR)
			return -1;
		if (got <= 0) {
			sigtimedwait(child, NULL, &interval);
			sample(pid, cost);
			continue;
		}
		if (!WIFSTOPPED(status))
			return status;
		if (status >> 16 == PTRACE_EVENT_EXIT) {
			sample(pid, cost);
			sample_peak(pid, cost);
		}
		/* Continue, and deliver the signal that stopped the command. */
		ptrace(PTRACE_CONT, pid, NULL,
		       status >> 16 ? 0L : (long)WSTOPSIG(status));
	}
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

/*
 * Run the command and measure its cost. Return FALSE if no process could be
 * created. If the process cannot execute the command, cost->status is 127.
 */
static gboolean measure(char **argv, Cost *cost)
{
	struct rusage usage = {0};
	sigset_t child, old;
	int fds[2], counter, status;
	double start;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &old);
	if (pipe(fds) != 0)
		return FALSE;
	pid = fork();
	if (pid < 0)
		return FALSE;
	if (!pid) {
		close(fds[1]);
		run_child(fds[0], &old, argv);
	}
	close(fds[0]);
	counter = open_counter(pid);
	ptrace(PTRACE_SEIZE, pid, NULL, (long)PTRACE_O_TRACEEXIT);
	start = now();
	close(fds[1]);
	status = watch(pid, &child, cost, &usage);
	cost->seconds = now() - start;
	cost->user = seconds(usage.ru_utime);
	cost->system = seconds(usage.ru_stime);
	/* If ptrace is forbidden, use ru_maxrss, which also includes the memory
	 * of the child before exec(). */
	if (!cost->max_rss)
		cost->max_rss = (guint64)usage.ru_maxrss * 1024;
	cost->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					   : WEXITSTATUS(status);
	cost->has_instructions =
		counter >= 0 && read(counter, &cost->instructions,
				     sizeof(guint64)) == sizeof(guint64);
	return TRUE;
}

static gboolean write_cost(const Cost *cost, const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return FALSE;
	fprintf(out,
		"{\"seconds\": %.6f, \"user\": %.6f, \"system\": %.6f, "
		"\"max_rss\": %" G_GUINT64_FORMAT
		", \"max_anon\": %" G_GUINT64_FORMAT ", \"status\": %d, "
		"\"instructions\": ",
		cost->seconds, cost->user, cost->system, cost->max_rss,
		cost->max_anon, cost->status);
	if (cost->has_instructions)
		fprintf(out, "%" G_GUINT64_FORMAT "}\n", cost->instructions);
	else
		fputs("null}\n", out);
	return fclose(out) == 0;
}

int main(int argc, char **argv)
{
	Cost cost = {0};

	if (argc < 3 || argv[1][0] == '-') {
		fputs("Usage: " PROGRAM " RESULT COMMAND [ARGUMENT...]\n"
		      "Runs the command and writes as JSON to the file RESULT "
		      "what it cost.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (!measure(argv + 2, &cost) || !write_cost(&cost, argv[1])) {
		g_autofree char *message =
			g_strdup_printf("cannot measure %s, or not write %s: "
					"%s",
					argv[2], argv[1], g_strerror(errno));

		return kmt_cli_fail(PROGRAM, message);
	}
	return cost.status;
}
