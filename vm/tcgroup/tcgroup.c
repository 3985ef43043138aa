// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Usage: tcgroup MOUNT
 *
 * Moves processes and threads between cgroups below MOUNT (cgroup2), and makes a
 * known number of allocations in each cgroup by vm/storm. Prints a line
 * "ALLOCATIONS CGROUP" for each place. At last a thread that is not the first of
 * its process calls exec(), in another cgroup than that of the first thread.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *mount;
static pthread_barrier_t barrier;
static pid_t thread_id;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Write text to a file with one write(). */
static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

/* Write text to a file of a cgroup. */
static void put_cgroup(const char *cgroup, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s/%s", mount, cgroup, file);
	put(path, text);
}

static void make_cgroup(const char *cgroup)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", mount, cgroup);
	if (mkdir(path, 0755))
		fail(path);
}

static void allocate(const char *n)
{
	put("/proc/kmt_storm", n);
}

static void allocate_in(const char *cgroup, const char *n)
{
	allocate(n);
	printf("%s %s\n", n, cgroup);
}

/* Create a child directly in a cgroup, and let it allocate. */
static void clone_into(const char *cgroup, const char *n)
{
	struct clone_args args = {.flags = CLONE_INTO_CGROUP,
				  .exit_signal = SIGCHLD};
	char path[256];
	int fd, status;
	pid_t child;

	make_cgroup(cgroup);
	snprintf(path, sizeof(path), "%s%s", mount, cgroup);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		fail(path);
	args.cgroup = (uint64_t)fd;
	child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (child < 0)
		fail("clone3");
	if (child == 0) {
		allocate(n);
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		fail("child");
	close(fd);
	printf("%s %s\n", n, cgroup);
}

static void *thread(void *unused)
{
	thread_id = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&barrier); /* the thread exists */
	pthread_barrier_wait(&barrier); /* the process is in /whole */
	allocate_in("/whole", "330");
	pthread_barrier_wait(&barrier); /* the process can leave */
	pthread_barrier_wait(&barrier); /* the process is in /t */
	put_cgroup("/t/one", "cgroup.threads", "0");
	allocate_in("/t/one", "340");
	pthread_barrier_wait(&barrier); /* the thread can be moved */
	pthread_barrier_wait(&barrier); /* the thread is in /t/two */
	allocate_in("/t/two", "360");
	printf("380 /t/two\n");
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "echo 380 >/proc/kmt_storm", NULL);
	fail("exec");
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id;
	char text[16];

	if (argc != 2)
		return 2;
	mount = argv[1];
	clone_into("/clone", "370");
	make_cgroup("/whole");
	make_cgroup("/t");
	make_cgroup("/t/one");
	make_cgroup("/t/two");
	put_cgroup("/t/one", "cgroup.type", "threaded");
	put_cgroup("/t/two", "cgroup.type", "threaded");
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&id, NULL, thread, NULL))
		fail("thread");
	pthread_barrier_wait(&barrier);
	allocate_in("/", "310");
	put_cgroup("/whole", "cgroup.procs", "0");
	pthread_barrier_wait(&barrier);
	allocate_in("/whole", "320");
	pthread_barrier_wait(&barrier);
	put_cgroup("/t", "cgroup.procs", "0");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	allocate_in("/t", "350");
	snprintf(text, sizeof(text), "%d", thread_id);
	put_cgroup("/t/two", "cgroup.threads", text);
	pthread_barrier_wait(&barrier);
	pthread_join(id, NULL);
	return 1;
}
