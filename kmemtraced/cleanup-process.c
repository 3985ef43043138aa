// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/out-of-memory.h"
#include "lib/capture/error.h"
#include "kmemtraced/cleanup-process.h"
#include "lib/capture/capture-writer.h"

/*
 * The name differs from "kmemtraced", so that 'pkill kmemtraced' and 'killall
 * kmemtraced' do not kill the process.
 */
#define PROCESS_NAME "kmemtrace-guard"

struct kmtd_cleanup {
	int dir_fd;
	KmtdSource *source;
	pid_t pid;   /* -1: no child exists */
	int link_fd; /* socket; the child wakes when this end is closed */
};

static void make_whole(int dir_fd, const char *name, guint record_bytes)
{
	int fd = openat(dir_fd, name,
			O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	/*
	 * Do not change a file with several names (hard links): the user may
	 * have linked another file to cpu<n>.out. If the last record is
	 * incomplete, kmemtrace_check reports that.
	 */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
	    st.st_size % record_bytes)
		(void)!ftruncate(fd, st.st_size - st.st_size % record_bytes);
	close(fd);
}

static void G_GNUC_NORETURN cleanup_main(int dir_fd, KmtdSource *source,
					 int link_fd)
{
	const struct dirent *entry;
	/* Open the directory now. After this, the process needs no more memory,
	 * which may be exhausted. */
	DIR *dir = fdopendir(dup(dir_fd));
	char byte = 0;

	setsid();
	kmt_cli_return_allocation_failures();
	if (source->class->close_inherited)
		source->class->close_inherited(source);
	prctl(PR_SET_NAME, PROCESS_NAME);
	/* Report readiness to kmemtraced. If kmemtraced has already ended,
	 * read() returns at once. */
	(void)!send(link_fd, &byte, 1, MSG_NOSIGNAL);
	while (read(link_fd, &byte, 1) < 0 && errno == EINTR)
		;
	/* Restore the kernel first, because the disk may hang. */
	if (source->class->clean_up)
		source->class->clean_up(source);
	kmt_recovery_remove(source->recovery);
	if (dir)
		rewinddir(dir);
	while (dir && (entry = readdir(dir)))
		if (kmt_capture_writer_is_cpu_file(entry->d_name))
			make_whole(dir_fd, entry->d_name, source->record_bytes);
	_exit(0);
}

/*
 * Wait for the child's report. Return FALSE if the child ended without a
 * report.
 */
static gboolean wait_ready(int link_fd)
{
	char byte;
	ssize_t n;

	do
		n = read(link_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Fork with all signals blocked. The child never unblocks them. */
static pid_t fork_blocked(void)
{
	sigset_t all, before;
	pid_t pid;
	int errnum;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	errnum = errno;
	if (pid != 0)
		sigprocmask(SIG_SETMASK, &before, NULL);
	errno = errnum;
	return pid;
}

/* Kill and reap the child, if there is one, and close the socket. */
static void stop(KmtdCleanup *cleanup)
{
	if (cleanup->pid > 0) {
		kill(cleanup->pid, SIGKILL);
		while (waitpid(cleanup->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (cleanup->link_fd >= 0)
		close(cleanup->link_fd);
	cleanup->pid = cleanup->link_fd = -1;
}

static gboolean start(KmtdCleanup *cleanup, GError **error)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot make a pair of sockets");
		return FALSE;
	}
	cleanup->link_fd = fds[0];
	cleanup->pid = fork_blocked();
	if (cleanup->pid == 0) {
		close(fds[0]);
		cleanup_main(cleanup->dir_fd, cleanup->source, fds[1]);
	}
	if (cleanup->pid < 0)
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot start a process");
	close(fds[1]);
	if (cleanup->pid > 0 && wait_ready(cleanup->link_fd))
		return TRUE;
	if (cleanup->pid > 0)
		g_set_error(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_RESOURCES,
			    "the cleanup process was killed while it started");
	stop(cleanup);
	return FALSE;
}

KmtdCleanup *kmtd_cleanup_start(int dir_fd, KmtdSource *source, GError **error)
{
	g_autoptr(KmtdCleanup) cleanup = g_new0(KmtdCleanup, 1);

	cleanup->dir_fd = dir_fd;
	cleanup->source = source;
	cleanup->pid = cleanup->link_fd = -1;
	return start(cleanup, error) ? g_steal_pointer(&cleanup) : NULL;
}

gboolean kmtd_cleanup_restart(KmtdCleanup *cleanup, GError **error)
{
	if (cleanup->pid > 0) {
		if (waitpid(cleanup->pid, NULL, WNOHANG) != cleanup->pid)
			return TRUE;
		cleanup->pid = -1;
		stop(cleanup);
	}
	return start(cleanup, error);
}

/* SIGKILL ends even a stopped child. */
void kmtd_cleanup_end(KmtdCleanup *cleanup)
{
	if (!cleanup)
		return;
	stop(cleanup);
	g_free(cleanup);
}
