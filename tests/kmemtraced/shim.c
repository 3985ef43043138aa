// SPDX-License-Identifier: GPL-2.0-or-later
/* clang-format off */
/*
 * A library that is preloaded into kmemtraced by its tests: calls of libc
 * behave as with a faulty kernel or disk.  shim-files.c wraps the calls on single
 * files, shim-directories.c those on directories and owners, and shim-ring.c
 * those on mapped buffers.  The environment selects the behaviour.  The value of a SHIM_*_FILE is
 * the end of a file name; "the file" is any file whose name ends so:
 *
 *   SHIM_ON_ENABLE	a shell command that is run when 1 is written to
 *			"enabled", before the write returns
 *   SHIM_ON_DISABLE	the same when 0 is written to "enabled"
 *   SHIM_ON_TRACING	the same when 1 was written to "tracing_on"
 *   SHIM_ENABLE_ERRNO	the error of writing 1 to "enabled"
 *   SHIM_DISABLE_ERRNO	the error of writing 0 to "enabled"
 *   SHIM_WRITE_FILE	the file that the SHIM_WRITE variables affect
 *   SHIM_WRITE_LIMIT	the number of bytes that fit into the file; a pwrite()
 *			across the limit is short; a pwrite() at or beyond the
 *			limit fails with SHIM_WRITE_ERRNO (default: ENOSPC);
 *			with the limit 0, write() fails too
 *   SHIM_WRITE_SHORT	the maximum number of bytes of one pwrite()
 *   SHIM_WRITE_KILL	the process writes the file up to this offset by
 *			pwrite() and then kills itself
 *   SHIM_WRITE_IF	writes are affected only while this file exists
 *   SHIM_WRITE_WAIT	a FIFO; each pwrite() first makes the file FIFO.waits,
 *			and then waits for a byte from the FIFO
 *   SHIM_DIRECT	the file system: "refuse": O_DIRECT cannot be set;
 *			"fail": writes with O_DIRECT fail; "require": memory,
 *			size and offset of writes with O_DIRECT must be
 *			multiples of 4096 bytes
 *   SHIM_READ_FILE, SHIM_READ_ERRNO  reading the file fails
 *   SHIM_POLL_FILE	poll() never returns for the file
 *   SHIM_OPEN_FILE, SHIM_OPEN_ERRNO  opening the file fails
 *   SHIM_OPEN_IF	opening fails only while this file exists
 *   SHIM_FSYNC_FILE, SHIM_FSYNC_ERRNO  fsync() of the file fails
 *   SHIM_DEBUGFS	every file system is a debugfs
 *   SHIM_INSTANCE	a directory that is copied to each new directory in a
 *			directory "instances"; the copy is removed with all
 *			files, as in tracefs
 *   SHIM_RMDIR_ERRNO	the error of removing an instance
 *   SHIM_EUID		the result of geteuid(), and the owner that fstat()
 *			reports for a directory that mkdirat() made
 *   SHIM_ON_MKDIR	a shell command that is run after the first successful
 *			mkdirat()
 *   SHIM_CHOWN		a file; fchown() appends "uid gid path" to the file
 *			instead of changing the owner
 *   SHIM_KILL_AT	"unlinkat 3": the process kills itself at the third call
 *			of unlinkat(); or the same with renameat or renameat2
 *   SHIM_NO_RENAMEAT2	renameat2() fails as on a file system without its flags
 *   SHIM_MAP		the files cpu<n> can be mapped, see <kmemtrace_ioctl.h>:
 *			the bytes of the FIFO go to a ring in a file
 *			.ring-cpu<n>, which outlives the process; a file
 *			.lost-cpu<n> with "EVENTS SINCE TIMESTAMP" reports a
 *			loss before the next records
 *   SHIM_GIVE_EAGAIN	a position: the first KMEMTRACE_IOC_GIVE at or after
 *			the position fails with EAGAIN, as if another reader
 *			had released the records first
 *   SHIM_CLOCK		a file with a number of seconds: the monotonic clock is
 *			1000 plus this number, and changes only with the file
 *   SHIM_NO_INOTIFY	inotify is not available
 *   SHIM_LOG		a file to which a line is appended for each flock() that
 *			fails, and for each kill(), received signal, read() of a
 *			cpu<n>, and write of 0 to "enabled"
 */
/* clang-format on */
/* Defines the size of file offsets, and so the names of functions, as in the
 * programs. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kmemtraced/shim.h"

void *next(const char *name)
{
	void *function = NULL;

#if __SIZEOF_LONG__ == 4
	/* With file offsets of 64 bits, the compiled name of open() is
	 * open64(). */
	char name64[64];

	snprintf(name64, sizeof(name64), "%s64", name);
	function = dlsym(RTLD_NEXT, name64);
#endif
	if (!function)
		function = dlsym(RTLD_NEXT, name);
	if (!function)
		abort();
	return function;
}

long number(const char *variable, long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtol(text, NULL, 10) : otherwise;
}

void log_line(const char *format, ...)
{
	const char *path = getenv("SHIM_LOG");
	char line[256];
	va_list args;
	int fd, n;

	if (!path)
		return;
	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fd = NEXT(open)(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || NEXT(write)(fd, line, (size_t)n) != n)
		abort();
	close(fd);
}

int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

int is_named(int fd, const char *name)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return 0;
	path[n] = '\0';
	return ends_with(path, name);
}

int is_selected_file(int fd, const char *variable)
{
	const char *name = getenv(variable);

	return name && is_named(fd, name);
}

/*
 * Return a copy of the environment without LD_PRELOAD. The caller frees the
 * array, but not its strings.
 */
static char **environment_of_commands(void)
{
	size_t n = 0, used = 0;
	char **copy;

	while (environ[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	if (!copy)
		abort();
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
			copy[used++] = environ[i];
	return copy;
}

int shell(const char *command)
{
	char *const argv[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
	char **env = environment_of_commands();
	int status = -1;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, env) != 0)
		abort();
	free(env);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			abort();
	return status;
}

const char *cpu_name(int fd, char *path, size_t n_path)
{
	char link[64];
	const char *name;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, n_path - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	name = strstr(path, "/kmemtrace/cpu");
	return name ? name + strlen("/kmemtrace/") : NULL;
}

int inotify_init1(int flags)
{
	if (getenv("SHIM_NO_INOTIFY")) {
		errno = EMFILE;
		return -1;
	}
	return NEXT(inotify_init1)(flags);
}

int flock(int fd, int operation)
{
	int r = NEXT(flock)(fd, operation), errnum = errno;

	if (r < 0)
		log_line("flock\n");
	errno = errnum;
	return r;
}

int kill(pid_t pid, int signal_number)
{
	log_line("kill %d\n", signal_number);
	return NEXT(kill)(pid, signal_number);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const char *path = getenv("SHIM_CLOCK");
	char text[32] = "";
	int fd;

	if (clock != CLOCK_MONOTONIC || !path)
		return NEXT(clock_gettime)(clock, now);
	fd = NEXT(open)(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || NEXT(read)(fd, text, sizeof(text) - 1) < 0)
		abort();
	close(fd);
	now->tv_sec = 1000 + strtol(text, NULL, 10);
	now->tv_nsec = 0;
	return 0;
}
