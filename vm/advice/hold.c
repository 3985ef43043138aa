// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes many kernel objects of one kind, and holds them until it is killed:
 *
 *     hold KIND COUNT [DIRECTORY]
 *
 * Prints "held" when all objects exist.
 */
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

static const char *directory = "/tmp/hold";

static int hold_pipe(void)
{
	int fds[2];

	return pipe(fds);
}

static int hold_netlink(void)
{
	return socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
}

/* Each mount has a super block of its own. */
static int hold_mount(void)
{
	return mount("hold", directory, "tmpfs", 0, NULL);
}

static int hold_inotify(void)
{
	return inotify_init();
}

static int hold_timer(void)
{
	return timerfd_create(CLOCK_MONOTONIC, 0);
}

static int hold_epoll(void)
{
	return epoll_create(1);
}

static const struct {
	const char *name;
	int (*make)(void);
} kinds[] = {
	{"pipe", hold_pipe},   {"netlink", hold_netlink},
	{"mount", hold_mount}, {"inotify", hold_inotify},
	{"timer", hold_timer}, {"epoll", hold_epoll},
};

/* Make the objects of a kind. Return 0, or 1 after a message. */
static int hold(int (*make)(void), long count)
{
	long i;

	for (i = 0; i < count; i++) {
		if (make() < 0) {
			fprintf(stderr, "hold: object %ld: ", i);
			perror("");
			return 1;
		}
	}
	puts("held");
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	struct rlimit files = {1 << 20, 1 << 20};
	size_t i;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "Usage: hold KIND COUNT [DIRECTORY]\n");
		return 1;
	}
	if (argc == 4)
		directory = argv[3];
	if (setrlimit(RLIMIT_NOFILE, &files)) {
		perror("hold: the limit of open files");
		return 1;
	}
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			return hold(kinds[i].make, atol(argv[2]));
	fprintf(stderr, "hold: unknown kind %s\n", argv[1]);
	return 1;
}
