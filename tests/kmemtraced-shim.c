// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into kmemtraced by its tests: makes calls of libc behave as a
 * kernel or a disk in trouble would.  What to do comes from the environment:
 *
 *   SHIM_ON_ENABLE	a shell command, run when 1 is written to "enabled",
 *			before the write returns
 *   SHIM_ON_DISABLE	likewise for 0
 *   SHIM_ENABLE_ERRNO	writing 1 to "enabled" fails
 *   SHIM_DISABLE_ERRNO	likewise for 0
 *   SHIM_WRITE_FILE	the file that the next ones mean: the end of its name
 *   SHIM_WRITE_LIMIT	bytes that fit into it; a write over that is short, the
 *			next fails with SHIM_WRITE_ERRNO (ENOSPC)
 *   SHIM_WRITE_SHORT	the most bytes that one write takes
 *   SHIM_WRITE_KILL	a write past so many bytes is cut there, and the process
 *			kills itself
 *   SHIM_WRITE_IF	all this only while this file exists
 *   SHIM_WRITE_WAIT	a FIFO; a write waits for a byte from it, and
 *			makes a file of that name and .waits before
 *   SHIM_DIRECT	whatever the file system: "refuse": O_DIRECT cannot be
 *			set; "fail": it can, and writes fail; "require": as a
 *			disk would have it, writes are whole blocks of 4096
 *   SHIM_READ_FILE, SHIM_READ_ERRNO  reading the file fails
 *   SHIM_POLL_FILE	poll() waits for ever for that one
 *   SHIM_OPEN_FILE, SHIM_OPEN_ERRNO  opening the file fails
 *   SHIM_FSYNC_FILE, SHIM_FSYNC_ERRNO  fsync() of the file fails
 *   SHIM_DEBUGFS	every file system is a debugfs
 *   SHIM_INSTANCE	a directory that is made is filled with a copy of that
 *			one, and removed with all that is in it, as in tracefs
 *   SHIM_RMDIR_ERRNO	directories cannot be removed
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BLOCK_BYTES 4096

/* Descriptors that have O_DIRECT for all the program knows. */
static char is_direct[1024];

/* The next definition of the function, with its type. */
#define NEXT(function) ((__typeof__(&function))next(#function))

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (!function)
		abort();
	return function;
}

static long number(const char *variable, long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* Does the variable name the file of fd? */
static int is_file(int fd, const char *variable)
{
	const char *name = getenv(variable);
	char link[64], path[4096];
	ssize_t n;

	if (!name)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return ends_with(path, name);
}

static int is_enabled_file(int fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return ends_with(path, "/kmemtrace/enabled");
}

static void run(const char *variable)
{
	const char *command = getenv(variable);
	char preload[4096];

	if (!command)
		return;
	snprintf(preload, sizeof(preload), "unset LD_PRELOAD; %s", command);
	unsetenv("LD_PRELOAD");
	if (system(preload) != 0) {
		fprintf(stderr, "shim: '%s' failed\n", command);
		abort();
	}
}

static ssize_t switch_tracing(int fd, const char *text, size_t n, off_t offset)
{
	int on = text[0] == '1';
	long error = number(on ? "SHIM_ENABLE_ERRNO" : "SHIM_DISABLE_ERRNO", 0);
	ssize_t r;

	if (error) {
		errno = (int)error;
		return -1;
	}
	r = NEXT(pwrite)(fd, text, n, offset);
	run(on ? "SHIM_ON_ENABLE" : "SHIM_ON_DISABLE");
	return r;
}

static void wait_for_byte(void)
{
	const char *path = getenv("SHIM_WRITE_WAIT");
	char byte, waits[4096];
	int fd;

	if (!path)
		return;
	snprintf(waits, sizeof(waits), "%s.waits", path);
	fd = NEXT(open)(waits, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	close(fd);
	fd = NEXT(open)(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || NEXT(read)(fd, &byte, 1) != 1)
		abort();
	close(fd);
}

static ssize_t limited_write(int fd, const void *data, size_t n, off_t offset)
{
	long limit = number("SHIM_WRITE_LIMIT", -1);
	long kill_at = number("SHIM_WRITE_KILL", -1);
	long most = number("SHIM_WRITE_SHORT", -1);

	wait_for_byte();
	if (limit >= 0 && offset >= limit) {
		errno = (int)number("SHIM_WRITE_ERRNO", ENOSPC);
		return -1;
	}
	if (limit >= 0 && (size_t)(limit - offset) < n)
		n = (size_t)(limit - offset);
	if (most >= 0 && (size_t)most < n)
		n = (size_t)most;
	if (kill_at >= 0 && offset + (off_t)n > kill_at) {
		n = kill_at > offset ? (size_t)(kill_at - offset) : 0;
		NEXT(fcntl)(fd, F_SETFL, 0);
		if (NEXT(pwrite)(fd, data, n, offset) < 0)
			abort();
		kill(getpid(), SIGKILL);
		for (;;)
			pause();
	}
	return NEXT(pwrite)(fd, data, n, offset);
}

/* For files that are written once and whole. */
ssize_t write(int fd, const void *data, size_t n)
{
	if (is_file(fd, "SHIM_WRITE_FILE") &&
	    number("SHIM_WRITE_LIMIT", -1) == 0) {
		errno = (int)number("SHIM_WRITE_ERRNO", ENOSPC);
		return -1;
	}
	return NEXT(write)(fd, data, n);
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
	const char *direct = getenv("SHIM_DIRECT");

	if (is_enabled_file(fd))
		return switch_tracing(fd, data, n, offset);
	if (direct && is_direct[fd]) {
		int aligned = (size_t)data % BLOCK_BYTES == 0 &&
			      n % BLOCK_BYTES == 0 && offset % BLOCK_BYTES == 0;

		if (strcmp(direct, "fail") == 0 ||
		    (strcmp(direct, "require") == 0 && !aligned)) {
			if (strcmp(direct, "require") == 0)
				fprintf(stderr, "shim: write off the blocks\n");
			errno = EINVAL;
			return -1;
		}
	}
	if (is_file(fd, "SHIM_WRITE_FILE") &&
	    (!getenv("SHIM_WRITE_IF") ||
	     access(getenv("SHIM_WRITE_IF"), F_OK) == 0))
		return limited_write(fd, data, n, offset);
	return NEXT(pwrite)(fd, data, n, offset);
}

int fcntl(int fd, int command, ...)
{
	const char *direct = getenv("SHIM_DIRECT");
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if (direct && command == F_SETFL) {
		int wanted = ((long)arg & O_DIRECT) != 0;

		if (wanted && strcmp(direct, "refuse") == 0) {
			errno = EINVAL;
			return -1;
		}
		is_direct[fd] = (char)wanted;
		arg = (void *)((long)arg & ~(long)O_DIRECT);
	}
	return NEXT(fcntl)(fd, command, arg) |
	       (direct && command == F_GETFL && is_direct[fd] ? O_DIRECT : 0);
}

ssize_t read(int fd, void *data, size_t n)
{
	if (is_file(fd, "SHIM_READ_FILE")) {
		errno = (int)number("SHIM_READ_ERRNO", EIO);
		return -1;
	}
	return NEXT(read)(fd, data, n);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	struct pollfd seen[8];
	int r;

	if (n > 8)
		abort();
	for (nfds_t i = 0; i < n; i++) {
		seen[i] = fds[i];
		if (is_file(fds[i].fd, "SHIM_POLL_FILE"))
			seen[i].fd = -1;
	}
	r = NEXT(poll)(seen, n, timeout_ms);
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = seen[i].revents;
	return r;
}

static int refuses_open(const char *path)
{
	const char *name = getenv("SHIM_OPEN_FILE");

	if (!name || !ends_with(path, name))
		return 0;
	errno = (int)number("SHIM_OPEN_ERRNO", EACCES);
	return 1;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return refuses_open(path) ? -1 : NEXT(open)(path, flags, mode);
}

int openat(int dir_fd, const char *path, int flags, ...)
{
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	return refuses_open(path) ? -1
				  : NEXT(openat)(dir_fd, path, flags, mode);
}

int fsync(int fd)
{
	if (is_file(fd, "SHIM_FSYNC_FILE")) {
		errno = (int)number("SHIM_FSYNC_ERRNO", EIO);
		return -1;
	}
	return NEXT(fsync)(fd);
}

int statfs(const char *path, struct statfs *fs)
{
	int r = NEXT(statfs)(path, fs);

	if (getenv("SHIM_DEBUGFS"))
		fs->f_type = DEBUGFS_MAGIC;
	return r;
}

/* A new instance of tracefs is full of files. */
int mkdirat(int dir_fd, const char *path, mode_t mode)
{
	const char *from = getenv("SHIM_INSTANCE");
	int r = NEXT(mkdirat)(dir_fd, path, mode);
	char command[8192];

	if (r == 0 && from) {
		snprintf(command, sizeof(command),
			 "unset LD_PRELOAD; cp -r %s/. /proc/%d/fd/%d/%s", from,
			 (int)getpid(), dir_fd, path);
		if (system(command) != 0)
			abort();
	}
	return r;
}

int unlinkat(int dir_fd, const char *path, int flags)
{
	char command[8192];

	if (flags & AT_REMOVEDIR && getenv("SHIM_RMDIR_ERRNO")) {
		errno = (int)number("SHIM_RMDIR_ERRNO", EBUSY);
		return -1;
	}
	if (flags & AT_REMOVEDIR && getenv("SHIM_INSTANCE")) {
		snprintf(command, sizeof(command),
			 "unset LD_PRELOAD; rm -rf /proc/%d/fd/%d/%s/*",
			 (int)getpid(), dir_fd, path);
		if (system(command) != 0)
			abort();
	}
	return NEXT(unlinkat)(dir_fd, path, flags);
}
