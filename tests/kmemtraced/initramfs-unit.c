// SPDX-License-Identifier: GPL-2.0-or-later
/* Test how long the first process of --initramfs waits for the second one. */
#include "config.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kmemtraced/initramfs.h"

#define LONG_MS (60 * 1000)

/* Start a child process that writes to the pipe or closes it, and then waits
 * for a signal or exits with @status. Return the result of the wait. */
static int wait_for_child(gboolean ready, int status, pid_t *child,
			  int ready_ms, int exit_ms)
{
	int fds[2], result;

	g_assert_no_errno(pipe(fds));
	*child = fork();
	g_assert_no_errno(*child);
	if (*child == 0) {
		if (ready && write(fds[1], "", 1) != 1)
			_exit(99);
		close(fds[0]);
		/* A limit of 0 ms needs a pipe that remains open. */
		if (ready_ms)
			close(fds[1]);
		while (status < 0)
			pause();
		_exit(status);
	}
	close(fds[1]);
	result = kmtd_initramfs_wait(*child, fds[0], ready_ms, exit_ms);
	close(fds[0]);
	return result;
}

/* Kill the child, and return whether it was still running. */
static gboolean was_running(pid_t child)
{
	gboolean running = waitpid(child, NULL, WNOHANG) == 0;

	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return running;
}

static void test_ready(void)
{
	pid_t child;

	g_assert_cmpint(wait_for_child(TRUE, -1, &child, LONG_MS, LONG_MS), ==,
			EXIT_SUCCESS);
	g_assert_true(was_running(child));
}

static void test_slow(void)
{
	pid_t child;

	g_assert_cmpint(wait_for_child(FALSE, -1, &child, 0, LONG_MS), ==,
			EXIT_SUCCESS);
	g_assert_true(was_running(child));
}

static void test_failed(void)
{
	pid_t child;

	g_assert_cmpint(wait_for_child(FALSE, 7, &child, LONG_MS, LONG_MS), ==,
			7);
}

/* A child that closed the pipe and does not end is killed. */
static void test_hung(void)
{
	pid_t child;
	int status;

	g_assert_cmpint(wait_for_child(FALSE, -1, &child, LONG_MS, 20), ==,
			EXIT_FAILURE);
	g_assert_cmpint(waitpid(child, &status, 0), ==, child);
	g_assert_true(WIFSIGNALED(status));
	g_assert_cmpint(WTERMSIG(status), ==, SIGKILL);
}

int main(int argc, char **argv)
{
	alarm(50);
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/initramfs/ready", test_ready);
	g_test_add_func("/initramfs/slow", test_slow);
	g_test_add_func("/initramfs/failed", test_failed);
	g_test_add_func("/initramfs/hung", test_hung);
	return g_test_run();
}
