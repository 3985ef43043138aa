// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Test the limits of import/watch.c with processes that spin, sleep, make
 * progress, allocate, or end.
 */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "import/watch.h"

/* Limit in seconds that no test reaches. */
#define FOREVER 600

typedef void (*Reader)(KmtImportWatch *watch);

static gint64 cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
}

static void spin(G_GNUC_UNUSED KmtImportWatch *watch)
{
	for (;;)
		cpu_us();
}

static void wait_for_nothing(G_GNUC_UNUSED KmtImportWatch *watch)
{
	for (;;)
		pause();
}

/* Use three times the limit of CPU time, and report progress all the time. */
static void progress(KmtImportWatch *watch)
{
	while (cpu_us() < 3 * G_USEC_PER_SEC)
		kmt_import_watch_tick(watch);
}

/*
 * Use three times the limit of CPU time without progress, after the end of
 * reading.
 */
static void finish(KmtImportWatch *watch)
{
	kmt_import_watch_end(watch);
	while (cpu_us() < 3 * G_USEC_PER_SEC)
		;
}

static void end_at_once(G_GNUC_UNUSED KmtImportWatch *watch)
{
}

#ifndef __SANITIZE_ADDRESS__
/*
 * Map memory until the limit for an input of 0 bytes is reached. Fail if 4 GiB
 * can be mapped.
 */
static void allocate(G_GNUC_UNUSED KmtImportWatch *watch)
{
	gsize step = 64U << 20, all = 0;

	kmt_import_watch_limit_memory(0);
	while (mmap(NULL, step, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED)
		if ((all += step) > (gsize)4 << 30)
			_exit(EXIT_FAILURE);
}
#endif

/* Return whether the process exited with success before a limit was reached. */
static gboolean ends(Reader reader, guint cpu_seconds, guint seconds)
{
	KmtImportWatch *watch = kmt_import_watch_new();
	gboolean ended;
	int status;
	pid_t pid;

	g_assert_nonnull(watch);
	pid = fork();
	g_assert_cmpint(pid, >=, 0);
	if (pid == 0) {
		kmt_import_watch_begin(watch);
		reader(watch);
		_exit(EXIT_SUCCESS);
	}
	ended = kmt_import_watch_wait(watch, &pid, cpu_seconds, seconds,
				      &status);
	g_assert_cmpint(pid, ==, 0);
	kmt_import_watch_free(watch);
	if (ended)
		g_assert_true(WIFEXITED(status) &&
			      WEXITSTATUS(status) == EXIT_SUCCESS);
	else
		g_assert_true(WIFSIGNALED(status));
	return ended;
}

static void test_bounds(void)
{
	g_assert_false(ends(spin, 1, FOREVER));
	g_assert_false(ends(wait_for_nothing, FOREVER, 1));
	g_assert_true(ends(progress, 1, FOREVER));
	g_assert_true(ends(finish, 1, FOREVER));
	g_assert_true(ends(end_at_once, 1, 1));
}

/*
 * If SIGCHLD is ignored, waitpid() returns no status. The missing status must
 * not count as success.
 */
static void test_no_status(void)
{
	KmtImportWatch *watch = kmt_import_watch_new();
	int status = 0;
	pid_t pid;

	g_assert_nonnull(watch);
	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	g_assert_cmpint(pid, >=, 0);
	if (pid == 0)
		_exit(EXIT_SUCCESS);
	g_assert_true(
		kmt_import_watch_wait(watch, &pid, FOREVER, FOREVER, &status));
	signal(SIGCHLD, SIG_DFL);
	kmt_import_watch_free(watch);
	g_assert_cmpint(pid, ==, 0);
	g_assert_cmpint(status, ==, KMT_IMPORT_WATCH_NO_STATUS);
	g_assert_false(WIFEXITED(status));
}

static void test_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
	g_test_skip("AddressSanitizer needs all addresses");
#else
	if (g_getenv("KMT_EMULATED"))
		g_test_skip("QEMU does not enforce RLIMIT_AS");
	else
		g_assert_true(ends(allocate, FOREVER, FOREVER));
#endif
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/import/watch/bounds", test_bounds);
	g_test_add_func("/import/watch/no-status", test_no_status);
	g_test_add_func("/import/watch/memory", test_memory);
	return g_test_run();
}
