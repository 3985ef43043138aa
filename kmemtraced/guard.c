// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmemtraced/error.h"
#include "kmemtraced/guard.h"
#include "kmemtraced/output.h"

/* Not "kmemtraced", so that pkill and killall leave it alone. */
#define GUARD_NAME "kmemtrace-guard"

struct kmt_guard {
	pid_t pid;
	int pipe_fd; /* the child sees its end */
};

static void make_whole(int dir_fd, const char *name, guint record_bytes)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return;
	/* Nobody is left to be told of an error; the check will. */
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size % record_bytes)
		(void)!ftruncate(fd, st.st_size - st.st_size % record_bytes);
	close(fd);
}

static void G_GNUC_NORETURN guard_main(int dir_fd, KmtSource *source,
				       int pipe_fd)
{
	const struct dirent *entry;
	char byte;
	ssize_t n;
	DIR *dir;

	prctl(PR_SET_NAME, GUARD_NAME);
	do
		n = read(pipe_fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n > 0) /* ended in good order */
		_exit(0);
	dir = fdopendir(dup(dir_fd));
	while (dir && (entry = readdir(dir)))
		if (kmt_output_is_cpu_file(entry->d_name))
			make_whole(dir_fd, entry->d_name, source->record_bytes);
	if (source->class->clean_up)
		source->class->clean_up(source);
	_exit(0);
}

KmtGuard *kmt_guard_start(int dir_fd, KmtSource *source, GError **error)
{
	g_autofree KmtGuard *guard = g_new0(KmtGuard, 1);
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "cannot make a pipe");
		return NULL;
	}
	guard->pid = fork();
	if (guard->pid == 0) {
		close(fds[1]);
		g_free(g_steal_pointer(&guard));
		guard_main(dir_fd, source, fds[0]);
	}
	if (guard->pid < 0) {
		kmt_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
			      "cannot start a process");
		close(fds[0]);
		close(fds[1]);
		return NULL;
	}
	close(fds[0]);
	guard->pipe_fd = fds[1];
	return g_steal_pointer(&guard);
}

void kmt_guard_end(KmtGuard *guard)
{
	ssize_t n;

	if (!guard)
		return;
	n = write(guard->pipe_fd, "", 1);
	close(guard->pipe_fd);
	if (n == 1)
		while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
			;
	g_free(guard);
}
