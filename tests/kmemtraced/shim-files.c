// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls on single files; see shim.c. */
/* Defines the size of file offsets, and so the names of functions, as in the
 * programs. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tests/kmemtraced/shim.h"

/*
 * is_direct[fd] is 1 while the program believes that it has set O_DIRECT for
 * fd; with SHIM_DIRECT the kernel never gets the flag from fcntl().
 */
static char is_direct[1024];

static int is_enabled_file(int fd)
{
	return is_named(fd, "/kmemtrace/enabled");
}

static void run(const char *variable)
{
	const char *command = getenv(variable);

	if (!command)
		return;
	unsetenv("LD_PRELOAD");
	if (shell(command) != 0) {
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
	if (!on)
		log_line("off\n");
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

/*
 * Fail for the file of SHIM_WRITE_FILE if SHIM_WRITE_LIMIT is 0. The program
 * writes small files with one write(), and cpu<n>.out with pwrite(), which
 * limited_write() handles. Also run SHIM_ON_TRACING.
 */
ssize_t write(int fd, const void *data, size_t n)
{
	ssize_t r;

	if (is_selected_file(fd, "SHIM_WRITE_FILE") &&
	    (!getenv("SHIM_WRITE_IF") ||
	     access(getenv("SHIM_WRITE_IF"), F_OK) == 0) &&
	    number("SHIM_WRITE_LIMIT", -1) == 0) {
		errno = (int)number("SHIM_WRITE_ERRNO", ENOSPC);
		return -1;
	}
	r = NEXT(write)(fd, data, n);
	if (getenv("SHIM_ON_TRACING") && n && *(const char *)data == '1' &&
	    is_named(fd, "/tracing_on"))
		run("SHIM_ON_TRACING");
	return r;
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
	if (is_selected_file(fd, "SHIM_WRITE_FILE") &&
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

static ssize_t read_signal(int fd, void *data, size_t n)
{
	ssize_t r = NEXT(read)(fd, data, n);
	int errnum = errno;

	if (r == (ssize_t)n)
		log_line("signal %u\n",
			 ((struct signalfd_siginfo *)data)->ssi_signo);
	errno = errnum;
	return r;
}

ssize_t read(int fd, void *data, size_t n)
{
	char path[4096];
	const char *cpu =
		getenv("SHIM_LOG") ? cpu_name(fd, path, sizeof(path)) : NULL;

	if (cpu)
		log_line("read %s\n", cpu);
	else if (n == sizeof(struct signalfd_siginfo) && getenv("SHIM_LOG"))
		return read_signal(fd, data, n);
	if (is_selected_file(fd, "SHIM_READ_FILE")) {
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
		if (is_selected_file(fds[i].fd, "SHIM_POLL_FILE"))
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

	if (!name || !ends_with(path, name) ||
	    (getenv("SHIM_OPEN_IF") &&
	     access(getenv("SHIM_OPEN_IF"), F_OK) != 0))
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

/*
 * Names of open() and openat() in programs that were compiled with
 * _FORTIFY_SOURCE, as those of Debian's packages, if the compiler does not know
 * the flags.
 */
int __open_2(const char *path, int flags);
int __openat_2(int dir_fd, const char *path, int flags);

int __open_2(const char *path, int flags)
{
	return refuses_open(path) ? -1 : NEXT(open)(path, flags, 0);
}

int __openat_2(int dir_fd, const char *path, int flags)
{
	return refuses_open(path) ? -1 : NEXT(openat)(dir_fd, path, flags, 0);
}

int fsync(int fd)
{
	if (is_selected_file(fd, "SHIM_FSYNC_FILE")) {
		errno = (int)number("SHIM_FSYNC_ERRNO", EIO);
		return -1;
	}
	return NEXT(fsync)(fd);
}
