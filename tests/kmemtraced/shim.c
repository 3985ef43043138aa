// SPDX-License-Identifier: GPL-2.0-or-later
/* clang-format off */
/*
 * A library that is preloaded into kmemtraced by its tests: calls of libc
 * behave as with a faulty kernel or disk.  One unit: the wrapped calls share
 * state.  The environment selects the behaviour.  The value of a SHIM_*_FILE is
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
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kmemtrace_abi.h>
#include <kmemtrace_ioctl.h>

#define BLOCK_BYTES 4096

/*
 * is_direct[fd] is 1 while the program believes that it has set O_DIRECT for
 * fd; with SHIM_DIRECT the kernel never gets the flag from fcntl().
 */
static char is_direct[1024];

/*
 * NEXT(function) is the definition of the function in the next library, usually
 * libc, with the type of the function.
 */
#define NEXT(function) ((__typeof__(&function))next(#function))

static void *next(const char *name)
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

static long number(const char *variable, long otherwise)
{
	const char *text = getenv(variable);

	return text ? strtol(text, NULL, 10) : otherwise;
}

static void log_line(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void log_line(const char *format, ...)
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

static int ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), n_end = strlen(end);

	return n >= n_end && strcmp(text + n - n_end, end) == 0;
}

/* Return whether the path of fd ends with name. */
static int is_named(int fd, const char *name)
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

/*
 * Return whether the path of fd ends with the value of an environment variable.
 */
static int is_selected_file(int fd, const char *variable)
{
	const char *name = getenv(variable);

	return name && is_named(fd, name);
}

static int is_enabled_file(int fd)
{
	return is_named(fd, "/kmemtrace/enabled");
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

/*
 * Run a shell command and return its wait status. system() is no alternative:
 * it ignores SIGINT and SIGQUIT while the command runs, and a pending signal
 * would be lost. The shell runs without LD_PRELOAD: a shell of another
 * architecture would print an error, because it cannot load this library.
 */
static int shell(const char *command)
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

/*
 * Return the name "cpu<n>" if fd is such a file of the fake debugfs, otherwise
 * NULL. The name points into path, which has room for n_path bytes.
 */
static const char *cpu_name(int fd, char *path, size_t n_path)
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

/* ---- mapping of the files cpu<n> ---- */

/* Header of a ring file. The sub-buffers begin at the offset BLOCK_BYTES. */
struct ring {
	__u64 generation;
	__u64 consumed; /* position of the reader, in bytes of records since the
			 * start, as KMEMTRACE_IOC_TAKE uses */
	__u64 filled;	/* position of the writer in the same unit; may be in
			 * the middle of a record */
	__u64 subbufs, subbuf_size, record_size;
};

/*
 * fd is a cpu<n> of debugfs. Return the number in the file NAME that is in the
 * same directory, or 0 if there is no such file.
 */
static __u64 number_beside(int fd, const char *name)
{
	char path[4096], text[32] = "", *end;
	int from;

	if (!cpu_name(fd, path, sizeof(path)))
		abort();
	end = strrchr(path, '/') + 1;
	snprintf(end, sizeof(path) - (size_t)(end - path), "%s", name);
	from = NEXT(open)(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return 0;
	if (NEXT(read)(from, text, sizeof(text) - 1) < 0)
		abort();
	close(from);
	return strtoull(text, NULL, 10);
}

/* Store the path of the file ".<what>-cpu<n>" in the directory of cpu<n>. */
static void hidden_path(int fd, const char *what, char *to, size_t n_to)
{
	char path[4096];
	const char *name = cpu_name(fd, path, sizeof(path));

	if (!name)
		abort();
	snprintf(to, n_to, "%.*s.%s-%s", (int)(name - path), path, what, name);
}

/*
 * Open the ring file of a CPU, create the file if there is none, and read its
 * header into *ring. Returns the descriptor; close_ring() writes the header and
 * closes the descriptor.
 */
static int open_ring(int fd, struct ring *ring)
{
	char path[4200];
	int file;

	hidden_path(fd, "ring", path, sizeof(path));
	file = NEXT(open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		abort();
	if (NEXT(pread)(file, ring, sizeof(*ring), 0) == sizeof(*ring))
		return file;
	ring->generation = 1;
	ring->consumed = ring->filled = 0;
	ring->subbufs = number_beside(fd, "subbufs");
	ring->subbuf_size = number_beside(fd, "subbuf_size");
	ring->record_size = number_beside(fd, "record_size");
	if (!ring->record_size)
		ring->record_size = number_beside(fd, "abi_version") == 1
					    ? KMEMTRACE_EVENT_SIZE_V1
					    : KMEMTRACE_EVENT_SIZE_V2;
	if (ftruncate(file, (off_t)(BLOCK_BYTES +
				    ring->subbufs * ring->subbuf_size)) < 0)
		abort();
	return file;
}

static void close_ring(int file, const struct ring *ring)
{
	if (NEXT(pwrite)(file, ring, sizeof(*ring), 0) != sizeof(*ring))
		abort();
	close(file);
}

/*
 * Return the bytes of records in a full sub-buffer: a record never crosses the
 * end of a sub-buffer.
 */
static __u64 usable_bytes(const struct ring *ring)
{
	return ring->subbuf_size - ring->subbuf_size % ring->record_size;
}

/*
 * Return the offset in the ring's data of a position in the stream of records.
 */
static __u64 ring_offset(const struct ring *ring, __u64 position)
{
	return position / usable_bytes(ring) % ring->subbufs *
		       ring->subbuf_size +
	       position % usable_bytes(ring);
}

/*
 * Move bytes from the FIFO to the ring while the ring has room, as the kernel's
 * writer would.
 */
static void fill(int fd, int file, struct ring *ring)
{
	char block[65536];
	ssize_t n;

	for (;;) {
		__u64 left =
			usable_bytes(ring) - ring->filled % usable_bytes(ring);
		__u64 first = ring->consumed / usable_bytes(ring);

		if (ring->filled / usable_bytes(ring) - first >= ring->subbufs)
			return;
		if (left > sizeof(block))
			left = sizeof(block);
		n = NEXT(read)(fd, block, left);
		if (n <= 0)
			return;
		if (NEXT(pwrite)(file, block, (size_t)n,
				 (off_t)(BLOCK_BYTES +
					 ring_offset(ring, ring->filled))) != n)
			abort();
		ring->filled += (__u64)n;
	}
}

static void take_lost(int fd, struct kmemtrace_ioctl_take *take)
{
	char path[4200];
	unsigned long long events;
	long long since, timestamp;
	FILE *from;

	hidden_path(fd, "lost", path, sizeof(path));
	from = fopen(path, "re");
	if (!from)
		return;
	if (fscanf(from, "%llu %lld %lld", &events, &since, &timestamp) != 3)
		abort();
	fclose(from);
	take->lost_events = events;
	take->lost_since = since;
	take->lost_timestamp = timestamp;
}

static int ring_take(int fd, int file, struct ring *ring,
		     struct kmemtrace_ioctl_take *take)
{
	__u64 whole, rest;

	if (is_selected_file(fd, "SHIM_READ_FILE"))
		return (int)number("SHIM_READ_ERRNO", EIO);
	if (take->generation != ring->generation)
		return ESTALE;
	fill(fd, file, ring);
	whole = ring->filled - ring->filled % ring->record_size;
	rest = usable_bytes(ring) - ring->consumed % usable_bytes(ring);
	take->position = ring->consumed;
	take->offset = ring_offset(ring, ring->consumed);
	take->bytes = whole - ring->consumed;
	if (take->bytes > rest)
		take->bytes = rest;
	take->lost_events = 0;
	if (take->bytes)
		take_lost(fd, take);
	return 0;
}

static int ring_give(int fd, struct ring *ring,
		     const struct kmemtrace_ioctl_give *give)
{
	static int was_faster;
	long again = number("SHIM_GIVE_EAGAIN", -1);
	char path[4200];

	if (give->bytes % ring->record_size ||
	    give->position + give->bytes > ring->filled)
		return EINVAL;
	if (give->position != ring->consumed)
		return EAGAIN;
	ring->consumed += give->bytes;
	hidden_path(fd, "lost", path, sizeof(path));
	NEXT(unlink)(path);
	if (again < 0 || was_faster || give->position < (__u64)again)
		return 0;
	was_faster = 1;
	return EAGAIN;
}

static int ring_ioctl(int fd, unsigned long request, void *arg)
{
	struct ring ring;
	int file = open_ring(fd, &ring), errnum = ENOTTY;

	if (request == KMEMTRACE_IOC_INFO) {
		*(struct kmemtrace_ioctl_info *)arg =
			(struct kmemtrace_ioctl_info){
				.map_bytes = ring.subbufs * ring.subbuf_size,
				.generation = ring.generation,
				.subbufs = (__u32)ring.subbufs,
				.subbuf_size = (__u32)ring.subbuf_size,
				.record_size = (__u32)ring.record_size,
			};
		errnum = 0;
	} else if (request == KMEMTRACE_IOC_TAKE) {
		errnum = ring_take(fd, file, &ring, arg);
	} else if (request == KMEMTRACE_IOC_GIVE) {
		errnum = ring_give(fd, &ring, arg);
	}
	close_ring(file, &ring);
	errno = errnum;
	return errnum ? -1 : 0;
}

int ioctl(int fd, unsigned long request, ...)
{
	char path[4096];
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (getenv("SHIM_MAP") && cpu_name(fd, path, sizeof(path)))
		return ring_ioctl(fd, request, arg);
	return NEXT(ioctl)(fd, request, arg);
}

/*
 * Map by the system call, because dlsym() may call mmap() before the pointer to
 * the next mmap() is known.
 */
static void *map(void *at, size_t n, int protection, int flags, int fd,
		 off_t offset)
{
#ifdef __s390x__
	/* The system call takes the address of its arguments. */
	unsigned long args[] = {
		(unsigned long)at,	   n,
		(unsigned long)protection, (unsigned long)flags,
		(unsigned long)fd,	   (unsigned long)offset};

	return (void *)syscall(SYS_mmap, args);
#elif defined(SYS_mmap2)
	return (void *)syscall(SYS_mmap2, at, n, protection, flags, fd,
			       offset / 4096);
#else
	return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
#endif
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	char path[4096];
	struct ring ring;
	void *start;
	int file;

	if (fd < 0 || !getenv("SHIM_MAP") || !cpu_name(fd, path, sizeof(path)))
		return map(at, n, protection, flags, fd, offset);
	file = open_ring(fd, &ring);
	start = map(at, n, protection, flags, file, BLOCK_BYTES + offset);
	close_ring(file, &ring);
	return start;
}

uid_t geteuid(void)
{
	return (uid_t)number("SHIM_EUID", NEXT(geteuid)());
}

/* The first directories that this process made, if SHIM_EUID is set. */
static struct stat made_directories[8];

static void remember_made(int dir_fd, const char *path)
{
	for (int i = 0; i < 8; i++)
		if (!made_directories[i].st_ino) {
			if (fstatat(dir_fd, path, &made_directories[i],
				    AT_SYMLINK_NOFOLLOW) < 0)
				abort();
			return;
		}
}

static struct stat *find_made(const struct stat *st)
{
	for (int i = 0; i < 8; i++)
		if (made_directories[i].st_ino == st->st_ino &&
		    made_directories[i].st_dev == st->st_dev)
			return &made_directories[i];
	return NULL;
}

int fstat(int fd, struct stat *st)
{
	int r = NEXT(fstat)(fd, st);

	if (r == 0 && getenv("SHIM_EUID") && find_made(st))
		st->st_uid = (uid_t)number("SHIM_EUID", 0);
	return r;
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	const char *log = getenv("SHIM_CHOWN");
	char link[64], path[4096], line[4200];
	ssize_t n;
	int to;

	if (!log)
		return NEXT(fchown)(fd, uid, gid);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	to = NEXT(open)(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (n < 0 || to < 0)
		abort();
	path[n] = '\0';
	snprintf(line, sizeof(line), "%u %u %s\n", uid, gid, path);
	if (NEXT(write)(to, line, strlen(line)) < 0)
		abort();
	close(to);
	return 0;
}

/* Kill the process if SHIM_KILL_AT names this call of the function. */
static void kill_at(const char *function)
{
	const char *at = getenv("SHIM_KILL_AT");
	size_t n = strlen(function);
	static long n_calls;

	if (!at || strncmp(at, function, n) != 0 || at[n] != ' ' ||
	    ++n_calls != strtol(at + n, NULL, 10))
		return;
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	/* Count no renames of hidden files, such as that of a recovery note in
	 * /run. */
	if (*from != '.')
		kill_at("renameat");
	return NEXT(renameat)(from_fd, from, to_fd, to);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to,
	      unsigned int flags)
{
	kill_at("renameat2");
	if (getenv("SHIM_NO_RENAMEAT2")) {
		errno = EINVAL;
		return -1;
	}
	return NEXT(renameat2)(from_fd, from, to_fd, to, flags);
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

int fsync(int fd)
{
	if (is_selected_file(fd, "SHIM_FSYNC_FILE")) {
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

/*
 * Return the value of SHIM_INSTANCE if dir_fd is the directory of tracefs
 * instances, otherwise NULL.
 */
static const char *instance(int dir_fd)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = '\0';
	return ends_with(path, "/instances") ? getenv("SHIM_INSTANCE") : NULL;
}

static int make_directory(int dir_fd, const char *path, mode_t mode)
{
	const char *command = getenv("SHIM_ON_MKDIR");
	static int was_run;
	int r = NEXT(mkdirat)(dir_fd, path, mode);

	if (r == 0 && getenv("SHIM_EUID"))
		remember_made(dir_fd, path);
	if (r == 0 && command && !was_run) {
		was_run = 1;
		if (shell(command) != 0)
			abort();
	}
	return r;
}

/*
 * Make a directory. An instance of tracefs appears and disappears with all its
 * files, so the copy is made two levels above the directory of instances and
 * renamed. A signal therefore never meets an instance with only some of its
 * files.
 */
int mkdirat(int dir_fd, const char *path, mode_t mode)
{
	const char *from = instance(dir_fd);
	char command[8192], made[64];

	if (!from)
		return make_directory(dir_fd, path, mode);
	snprintf(made, sizeof(made), "../../made.%d", (int)getpid());
	snprintf(command, sizeof(command), "cp -r %s /proc/%d/fd/%d/%s", from,
		 (int)getpid(), dir_fd, made);
	if (faccessat(dir_fd, path, F_OK, 0) == 0) {
		errno = EEXIST;
		return -1;
	}
	if (shell(command) != 0)
		abort();
	return NEXT(renameat)(dir_fd, made, dir_fd, path);
}

int unlinkat(int dir_fd, const char *path, int flags)
{
	char command[8192], gone[64];

	kill_at("unlinkat");
	if (flags & AT_REMOVEDIR && getenv("SHIM_RMDIR_ERRNO") &&
	    instance(dir_fd)) {
		errno = (int)number("SHIM_RMDIR_ERRNO", EBUSY);
		return -1;
	}
	if (!(flags & AT_REMOVEDIR) || !instance(dir_fd))
		return NEXT(unlinkat)(dir_fd, path, flags);
	snprintf(gone, sizeof(gone), "../../gone.%d", (int)getpid());
	if (NEXT(renameat)(dir_fd, path, dir_fd, gone) < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -r /proc/%d/fd/%d/%s",
		 (int)getpid(), dir_fd, gone);
	if (shell(command) != 0)
		abort();
	return 0;
}
