// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "import/watch.h"

/*
 * Memory limit of the reader process: a base for programs, libraries, names,
 * and waiting records, and a multiple of the input size.
 */
#define BASE_BYTES	(G_GUINT64_CONSTANT(1) << 30)
#define BYTES_PER_INPUT 8

#define POLL_MS	    200
#define US_PER_S    ((gint64)G_USEC_PER_SEC)
#define MAX_DEPTH   5
#define MAX_ENTRIES 100000

struct KmtImportWatch {
	/* Progress counter, which the reader process increments. The parent
	 * only compares the value with earlier values, so relaxed memory order
	 * suffices. */
	atomic_ulong ticks;
	atomic_bool ended; /* no time limit applies any more */
	int pipe_fds[2];   /* a pipe; the reader process holds the write end */
};

KmtImportWatch *kmt_import_watch_new(void)
{
	KmtImportWatch *watch =
		mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (watch == MAP_FAILED)
		return NULL;
	if (pipe2(watch->pipe_fds, O_CLOEXEC) == 0)
		return watch;
	munmap(watch, sizeof(*watch));
	return NULL;
}

void kmt_import_watch_free(KmtImportWatch *watch)
{
	munmap(watch, sizeof(*watch));
}

void kmt_import_watch_begin(KmtImportWatch *watch)
{
	close(watch->pipe_fds[0]);
}

void kmt_import_watch_tick(KmtImportWatch *watch)
{
	atomic_fetch_add_explicit(&watch->ticks, 1, memory_order_relaxed);
}

void kmt_import_watch_end(KmtImportWatch *watch)
{
	atomic_store_explicit(&watch->ended, TRUE, memory_order_relaxed);
}

/*
 * AddressSanitizer reserves terabytes of address space, so RLIMIT_AS cannot be
 * used.
 */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

guint64 kmt_import_watch_limit_memory(guint64 input_bytes)
{
#ifndef HAS_ASAN
	struct rlimit limit;
	guint64 bytes;

	if (__builtin_mul_overflow(input_bytes, BYTES_PER_INPUT, &bytes) ||
	    __builtin_add_overflow(bytes, BASE_BYTES, &bytes) ||
	    getrlimit(RLIMIT_AS, &limit) < 0 || limit.rlim_cur <= bytes)
		return 0;
	limit.rlim_cur = bytes;
	return setrlimit(RLIMIT_AS, &limit) == 0 ? bytes : 0;
#else
	return 0;
#endif
}

/*
 * Return the processor time of a process in us, or 0 if it is unknown or the
 * process has ended.
 */
static gint64 cpu_time(pid_t pid)
{
	clockid_t clock;
	struct timespec t;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t) < 0)
		return 0;
	return t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

/*
 * Wait for the process and reap it. WNOWAIT leaves the ended process as a
 * zombie, so its process ID is not reused. The second wait returns at once and
 * can therefore run with all signals blocked.
 */
static void reap(volatile pid_t *reader, int *status)
{
	sigset_t all, before;
	siginfo_t info;
	pid_t reaped;
	int saved_errno;

	while (waitid(P_PID, (id_t)*reader, &info, WEXITED | WNOWAIT) < 0 &&
	       errno == EINTR)
		;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	reaped = waitpid(*reader, status, 0);
	saved_errno = errno;
	*reader = 0;
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (reaped < 0)
		*status = KMT_IMPORT_WATCH_NO_STATUS;
	errno = saved_errno;
}

gboolean kmt_import_watch_wait(KmtImportWatch *watch, volatile pid_t *reader,
			       guint cpu_seconds, guint seconds, int *status)
{
	struct pollfd end = {.fd = watch->pipe_fds[0]};
	unsigned long before = 0;
	gint64 cpu_since = 0, since = g_get_monotonic_time();
	gboolean alive = TRUE;

	close(watch->pipe_fds[1]);
	/* The kernel closes the write end of the pipe when the reader process
	 * ends, which wakes poll(). */
	while (alive && poll(&end, 1, POLL_MS) <= 0) {
		unsigned long ticks = atomic_load_explicit(
			&watch->ticks, memory_order_relaxed);
		gint64 cpu = cpu_time(*reader), now = g_get_monotonic_time();

		if (ticks != before ||
		    atomic_load_explicit(&watch->ended, memory_order_relaxed)) {
			before = ticks;
			cpu_since = cpu;
			since = now;
		}
		alive = cpu - cpu_since <= cpu_seconds * US_PER_S &&
			now - since <= seconds * US_PER_S;
	}
	if (!alive)
		kill(*reader, SIGKILL);
	close(watch->pipe_fds[0]);
	reap(reader, status);
	return alive;
}

static guint64 add_bytes(const char *path, guint depth, guint *entries)
{
	g_autoptr(GDir) dir = NULL;
	GStatBuf st;
	const char *name;
	guint64 sum = 0;

	if (g_stat(path, &st) < 0)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return S_ISREG(st.st_mode) ? (guint64)st.st_size : 0;
	dir = depth ? g_dir_open(path, 0, NULL) : NULL;
	while (dir && (name = g_dir_read_name(dir)) &&
	       ++*entries < MAX_ENTRIES) {
		g_autofree char *below = g_build_filename(path, name, NULL);

		sum += add_bytes(below, depth - 1, entries);
	}
	return sum;
}

guint64 kmt_import_watch_input_bytes(const char *path)
{
	guint entries = 0;

	return add_bytes(path, MAX_DEPTH, &entries);
}
