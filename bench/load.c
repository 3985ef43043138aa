// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Make the kernel allocate and free in many subsystems: path names, files, page
 * cache, sockets between processes, pipes, mappings, processes.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cli/cli.h"

#define PROGRAM	    "load"
#define MAX_JOBS    256
#define MAP_BYTES   (64 << 10)
#define FORK_EVERY  32
#define EXEC_EVERY  128
#define N_MESSAGES  8
#define MAX_MESSAGE 3000

/* Ignore the result of an operation: only the number of events matters. */
static void ignore(ssize_t result)
{
	(void)result;
}

static void look_up_names(void)
{
	static const char *const names[] = {"/", "/etc/passwd",
					    "/proc/self/status",
					    "/no/such/file", "/usr/bin"};
	struct stat st;
	guint i;

	for (i = 0; i < G_N_ELEMENTS(names); i++)
		ignore(stat(names[i], &st));
}

static void read_proc(void)
{
	char buffer[512];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);

	ignore(read(fd, buffer, sizeof(buffer)));
	close(fd);
}

static void use_file(const char *path)
{
	static const char data[6000];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	ignore(write(fd, data, sizeof(data)));
	close(fd);
	unlink(path);
}

static void use_descriptors(void)
{
	static const char data[5000];
	int fds[2], poll = epoll_create1(EPOLL_CLOEXEC);
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct epoll_event want = {.events = EPOLLIN};

	epoll_ctl(poll, EPOLL_CTL_ADD, event, &want);
	close(event);
	close(poll);
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0) {
		ignore(write(fds[1], data, sizeof(data)));
		close(fds[0]);
		close(fds[1]);
	}
}

static void use_memory(void)
{
	char *map = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return;
	memset(map, 1, MAP_BYTES);
	munmap(map, MAP_BYTES);
}

/*
 * Send messages to the previous process of the ring and receive those of the
 * next one, so that many messages are freed on another CPU.
 */
static void pass_messages(int to, int from)
{
	static const char data[MAX_MESSAGE];
	char buffer[MAX_MESSAGE];
	guint i;

	for (i = 0; i < N_MESSAGES; i++)
		ignore(send(to, data, 60u << i % 6, MSG_DONTWAIT));
	while (recv(from, buffer, sizeof(buffer), MSG_DONTWAIT) > 0)
		;
}

static void have_child(gboolean other_program)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (other_program)
			execl("/bin/true", "true", NULL);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void work(guint64 rounds, const char *path, int to, int from)
{
	guint64 i;

	for (i = 0; i < rounds; i++) {
		look_up_names();
		read_proc();
		use_file(path);
		use_descriptors();
		use_memory();
		pass_messages(to, from);
		if (i % FORK_EVERY == 0)
			have_child(i % EXEC_EVERY == 0);
	}
}

/*
 * Start the jobs in a ring of sockets. Return FALSE if some could not be
 * started.
 */
static gboolean start(guint jobs, guint64 rounds, const char *directory)
{
	int pairs[MAX_JOBS][2];
	guint i;

	for (i = 0; i < jobs; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pairs[i]) != 0)
			return FALSE;
	for (i = 0; i < jobs; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return FALSE;
		if (pid == 0) {
			g_autofree char *path =
				g_strdup_printf("%s/load%u", directory, i);

			work(rounds, path, pairs[i][0],
			     pairs[(i + 1) % jobs][1]);
			_exit(0);
		}
	}
	return TRUE;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	guint64 jobs = 0, rounds = 0;
	gboolean started;

	if (argc != 4 || argv[1][0] == '-') {
		fputs("Usage: " PROGRAM " JOBS ROUNDS FOLDER\n"
		      "Makes the kernel allocate and free, some 200 times in a "
		      "round of a job.\nFiles are made in the folder.\n",
		      stderr);
		return EXIT_FAILURE;
	}
	if (!kmt_cli_parse_number(argv[1], MAX_JOBS, "JOBS", &jobs, &error) ||
	    !kmt_cli_parse_number(argv[2], G_MAXINT64, "ROUNDS", &rounds,
				  &error))
		return kmt_cli_fail(PROGRAM, error->message);
	started = start((guint)jobs, rounds, argv[3]);
	if (!started)
		perror(PROGRAM ": cannot start a job");
	while (wait(NULL) > 0 || errno == EINTR)
		;
	return started ? EXIT_SUCCESS : EXIT_FAILURE;
}
