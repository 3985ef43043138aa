// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run a command and print the nanoseconds for which the only processor of the
 * guest was busy meanwhile, for bench/workloads.  In a guest of vm/run --icount
 * each nanosecond is one instruction.
 *
 * A child of the lowest priority runs whenever the processor would be idle. The
 * busy time is the elapsed time less the processor time of this child.  It
 * therefore includes the kernel and all processes of tracers, and is more exact
 * than the accounting by timer ticks.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		die("clock_gettime");
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static pid_t start_idler(void)
{
	const struct sched_param param = {0};
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		return pid;
	if (sched_setscheduler(0, SCHED_IDLE, &param) != 0)
		die("sched_setscheduler");
	for (;;)
		__asm__ volatile("" ::: "memory");
}

static int run(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		execvp(argv[0], argv);
		die(argv[0]);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int main(int argc, char **argv)
{
	long long elapsed, idle;
	clockid_t idle_clock;
	pid_t idler;
	int status;

	if (argc < 2) {
		fputs("Usage: meter COMMAND [ARGUMENT]...\n", stderr);
		return 1;
	}
	idler = start_idler();
	if (clock_getcpuclockid(idler, &idle_clock) != 0)
		die("clock_getcpuclockid");
	/* Wait until the child has lowered its own priority. */
	sleep(1);
	elapsed = now(CLOCK_MONOTONIC_RAW);
	idle = now(idle_clock);
	status = run(argv + 1);
	elapsed = now(CLOCK_MONOTONIC_RAW) - elapsed;
	idle = now(idle_clock) - idle;
	kill(idler, SIGKILL);
	fprintf(stderr, "meter: %lld\n", elapsed - idle);
	return status;
}
