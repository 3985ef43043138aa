// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "top/frame-reader.h"

#define NAME "kmemtraced"

/* Messages of kmemtraced beyond this many bytes are not shown. */
#define MAX_MESSAGES 4096

/* The stream's descriptor in kmemtraced. */
#define CHILD_FD 3

struct KmtTopDaemon {
	pid_t pid;    /* 0: it was waited for */
	int fd;	      /* of the stream; -1: closed */
	int messages; /* unlinked file with the standard error */
	int status;
};

/*
 * Return the path of kmemtraced: in the build tree of this program, in its
 * folder, or where it is installed.
 */
static char *find_program(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
	g_autofree char *top = folder ? g_path_get_dirname(folder) : NULL;
	g_autofree char *beside =
		top ? g_build_filename(top, NAME, NAME, NULL) : NULL;
	g_autofree char *same =
		folder ? g_build_filename(folder, NAME, NULL) : NULL;

	if (beside && g_file_test(beside, G_FILE_TEST_IS_REGULAR))
		return g_steal_pointer(&beside);
	if (same && g_file_test(same, G_FILE_TEST_IS_REGULAR))
		return g_steal_pointer(&same);
	return g_build_filename(SBINDIR, NAME, NULL);
}

static char **make_argv(const char *program, const char *const *args)
{
	GPtrArray *argv = g_ptr_array_new();

	g_ptr_array_add(argv, g_strdup(program));
	g_ptr_array_add(argv, g_strdup_printf("--stream=%d", CHILD_FD));
	g_ptr_array_add(argv, g_strdup("--quiet"));
	for (; args && *args; args++)
		g_ptr_array_add(argv, g_strdup(*args));
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

/* Runs in the child; only functions that are safe after fork(). The stream gets
 * a free number above CHILD_FD first, so that no dup2() closes it. */
static void exec_program(char **argv, int stream, int messages)
{
	int devnull = open("/dev/null", O_RDWR);
	int high = fcntl(stream, F_DUPFD_CLOEXEC, CHILD_FD + 1);
	int errors = fcntl(messages, F_DUPFD_CLOEXEC, CHILD_FD + 1);
	sigset_t none;

	/* A key like ^C goes to this program, which then stops kmemtraced. */
	(void)setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (devnull >= 0 && high >= 0 && errors >= 0 &&
	    dup2(devnull, STDIN_FILENO) >= 0 &&
	    dup2(errors, STDOUT_FILENO) >= 0 &&
	    dup2(errors, STDERR_FILENO) >= 0 && dup2(high, CHILD_FD) >= 0)
		execv(argv[0], argv);
	dprintf(errors, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

KmtTopDaemon *kmt_top_daemon_new(const char *const *args, GError **error)
{
	g_autofree char *program = find_program();
	g_auto(GStrv) argv = make_argv(program, args);
	KmtTopDaemon *daemon = g_new0(KmtTopDaemon, 1);
	g_autofree char *name = NULL;
	int ends[2] = {-1, -1};

	daemon->fd = -1;
	daemon->messages =
		g_file_open_tmp("kmemtrace-top-XXXXXX", &name, error);
	if (daemon->messages < 0) {
		g_free(daemon);
		return NULL;
	}
	(void)unlink(name);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
		daemon->pid = fork();
	else
		daemon->pid = -1;
	if (daemon->pid == 0)
		exec_program(argv, ends[1], daemon->messages);
	daemon->fd = ends[0];
	if (daemon->pid < 0) {
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAEMON,
			    "cannot start %s: %s", program, g_strerror(errno));
		daemon->pid = 0;
		kmt_top_daemon_free(daemon);
		daemon = NULL;
	}
	if (ends[1] >= 0)
		close(ends[1]);
	return daemon;
}

int kmt_top_daemon_fd(const KmtTopDaemon *daemon)
{
	return daemon->fd;
}

void kmt_top_daemon_stop(KmtTopDaemon *daemon)
{
	if (daemon->pid)
		(void)kill(daemon->pid, SIGTERM);
}

void kmt_top_daemon_close(KmtTopDaemon *daemon)
{
	if (daemon->fd >= 0)
		close(daemon->fd);
	daemon->fd = -1;
}

static char *read_messages(const KmtTopDaemon *daemon)
{
	char text[MAX_MESSAGES + 1];
	gssize n = pread(daemon->messages, text, MAX_MESSAGES, 0);
	g_auto(GStrv) lines = NULL;

	text[MAX(n, 0)] = '\0';
	g_strstrip(text);
	lines = g_strsplit(text, "\n", -1);
	return g_strjoinv("; ", lines);
}

gboolean kmt_top_daemon_wait(KmtTopDaemon *daemon, GError **error)
{
	g_autofree char *messages = NULL;

	if (daemon->pid) {
		while (waitpid(daemon->pid, &daemon->status, 0) < 0 &&
		       errno == EINTR)
			;
		daemon->pid = 0;
	}
	if (WIFEXITED(daemon->status) && WEXITSTATUS(daemon->status) == 0)
		return TRUE;
	messages = read_messages(daemon);
	if (*messages)
		g_set_error_literal(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAEMON,
				    messages);
	else if (WIFSIGNALED(daemon->status))
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAEMON,
			    "kmemtraced was killed by signal %d (%s)",
			    WTERMSIG(daemon->status),
			    strsignal(WTERMSIG(daemon->status)));
	else
		g_set_error(error, KMT_TOP_ERROR, KMT_TOP_ERROR_DAEMON,
			    "kmemtraced failed with status %d",
			    WEXITSTATUS(daemon->status));
	return FALSE;
}

void kmt_top_daemon_free(KmtTopDaemon *daemon)
{
	if (!daemon)
		return;
	kmt_top_daemon_stop(daemon);
	kmt_top_daemon_close(daemon);
	(void)kmt_top_daemon_wait(daemon, NULL);
	close(daemon->messages);
	g_free(daemon);
}
