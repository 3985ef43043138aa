// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmemtraced/initramfs.h"
#include "lib/capture/error.h"

/* How long the boot waits for the recording to begin. */
#define READY_WAIT_MS (120 * 1000)

/* The root directory of process 1, relative to the mount point of proc. */
#define ROOT_OF_INIT "1/root"

struct kmtd_initramfs {
	int ready_fd; /* pipe to the parent process, or -1 */
	int proc_fd;  /* remains valid when proc is moved below the new root */
};

/* Wait for the child's report and exit. */
static void G_GNUC_NORETURN wait_and_exit(pid_t child, int ready_fd)
{
	struct pollfd fd = {.fd = ready_fd, .events = POLLIN};
	char byte;
	int status, r;

	do
		r = poll(&fd, 1, READY_WAIT_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0) {
		fprintf(stderr,
			"kmemtraced: warning: the recording has not begun "
			"after %d s; process %ld continues in the background\n",
			READY_WAIT_MS / 1000, (long)child);
		_exit(EXIT_SUCCESS);
	}
	if (read(ready_fd, &byte, 1) == 1)
		_exit(EXIT_SUCCESS);
	/* The child has ended, and has printed the reason. */
	if (waitpid(child, &status, 0) == child && WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	_exit(EXIT_FAILURE);
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
		wait_and_exit(child, fds[0]);
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
