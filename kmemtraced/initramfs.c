// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmemtraced/initramfs.h"
#include "lib/capture/error.h"

/* How long the boot waits for the recording to begin. */
#define READY_WAIT_MS (120 * 1000)

/* How long the boot waits for a child process that failed to end. */
#define EXIT_WAIT_MS (10 * 1000)
#define EXIT_POLL_US (10 * 1000)

/* The root directory of process 1, relative to the mount point of proc. */
#define ROOT_OF_INIT "1/root"

struct kmtd_initramfs {
	int ready_fd; /* pipe to the parent process, or -1 */
	int proc_fd;  /* remains valid when proc is moved below the new root */
};

/* Return the exit status of a child process that has begun to end. */
static int end_status(pid_t child, int exit_ms)
{
	gint64 deadline = g_get_monotonic_time() + exit_ms * 1000LL;
	int status;
	pid_t ended;

	while ((ended = waitpid(child, &status, WNOHANG)) == 0 &&
	       g_get_monotonic_time() < deadline)
		g_usleep(EXIT_POLL_US);
	if (ended == 0) {
		fprintf(stderr,
			"kmemtraced: the recording has failed, but process "
			"%ld has not ended after %d s; it is killed\n",
			(long)child, exit_ms / 1000);
		kill(child, SIGKILL);
	}
	/* The child has printed the reason of its failure. */
	if (ended == child && WIFEXITED(status))
		return WEXITSTATUS(status);
	return EXIT_FAILURE;
}

int kmtd_initramfs_wait(pid_t child, int ready_fd, int ready_ms, int exit_ms)
{
	struct pollfd fd = {.fd = ready_fd, .events = POLLIN};
	char byte;
	int r;

	do
		r = poll(&fd, 1, ready_ms);
	while (r < 0 && errno == EINTR);
	if (r == 0) {
		fprintf(stderr,
			"kmemtraced: warning: the recording has not begun "
			"after %d s; process %ld continues in the background\n",
			ready_ms / 1000, (long)child);
		return EXIT_SUCCESS;
	}
	if (read(ready_fd, &byte, 1) == 1)
		return EXIT_SUCCESS;
	return end_status(child, exit_ms);
}

static gboolean write_pid(const char *path, GError **error)
{
	g_autofree char *text = g_strdup_printf("%ld\n", (long)getpid());
	g_autoptr(GError) problem = NULL;

	if (g_file_set_contents(path, text, -1, &problem))
		return TRUE;
	g_set_error_literal(error, KMT_DAEMON_ERROR, KMT_DAEMON_ERROR_WRITE,
			    problem->message);
	return FALSE;
}

KmtdInitramfs *kmtd_initramfs_start(char **argv, const char *pid_file,
				    const char *proc, GError **error)
{
	KmtdInitramfs *initramfs;
	int fds[2];
	int proc_fd = open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC);
	pid_t child;

	if (proc_fd < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot open %s", proc);
		return NULL;
	}
	if (pipe2(fds, O_CLOEXEC) < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot make a pipe");
		close(proc_fd);
		return NULL;
	}
	child = fork();
	if (child > 0) {
		close(fds[1]);
		_exit(kmtd_initramfs_wait(child, fds[0], READY_WAIT_MS,
					  EXIT_WAIT_MS));
	}
	close(fds[0]);
	if (child < 0) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot start a process");
		close(fds[1]);
		close(proc_fd);
		return NULL;
	}
	setsid();
	argv[0][0] = '@';
	initramfs = g_new0(KmtdInitramfs, 1);
	initramfs->ready_fd = fds[1];
	initramfs->proc_fd = proc_fd;
	if (write_pid(pid_file, error))
		return initramfs;
	kmtd_initramfs_free(initramfs);
	return NULL;
}

void kmtd_initramfs_ready(KmtdInitramfs *initramfs)
{
	char byte = 0;

	/* SIGPIPE is ignored, and the parent may have exited. */
	(void)!write(initramfs->ready_fd, &byte, 1);
	close(initramfs->ready_fd);
	initramfs->ready_fd = -1;
}

/* Change to the directory of @fd as root directory and working directory. */
static gboolean change_root(int fd)
{
	return fchdir(fd) == 0 && chroot(".") == 0;
}

gboolean kmtd_initramfs_follow_root(KmtdInitramfs *initramfs, GError **error)
{
	struct stat own, its;
	gboolean ok = FALSE;
	int fd;

	if (initramfs->proc_fd < 0)
		return TRUE;
	if (stat("/", &own) == 0 &&
	    fstatat(initramfs->proc_fd, ROOT_OF_INIT, &its, 0) == 0 &&
	    own.st_dev == its.st_dev && own.st_ino == its.st_ino)
		return TRUE;
	fd = openat(initramfs->proc_fd, ROOT_OF_INIT,
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		ok = change_root(fd);
	if (!ok) {
		kmt_capture_set_errno(error, KMT_DAEMON_ERROR_RESOURCES, errno,
				      "cannot change to the root directory of "
				      "process 1");
		close(initramfs->proc_fd);
		initramfs->proc_fd = -1;
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

void kmtd_initramfs_free(KmtdInitramfs *initramfs)
{
	if (!initramfs)
		return;
	if (initramfs->ready_fd >= 0)
		close(initramfs->ready_fd);
	if (initramfs->proc_fd >= 0)
		close(initramfs->proc_fd);
	g_free(initramfs);
}
