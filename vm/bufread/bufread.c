// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read kmemtrace's buffers as a program that was written from kmemtrace_ioctl.h
 * alone, correctly or incorrectly. The program shares no code with kmemtraced.
 * One unit: the commands share the checks of results.
 *
 * bufread dump FILE TO: write all unread records, read by the mapping, to TO
 *
 * bufread both FILE MAPPED READ: read the same records by TAKE and by read(),
 * and write them to MAPPED and READ
 *
 * bufread follow mmap|read FILE TO ENABLED: write the records to TO until the
 * file ENABLED contains 0
 *
 * bufread die FILE: end between TAKE and GIVE
 *
 * bufread bad FILE: make invalid calls and check their errors
 *
 * bufread keep FILE COMMAND: hold a mapping while the command runs
 *
 * bufread stale FILE COMMAND: open a file of a snapshot that the command
 * replaces, and check the errors of the calls after that
 *
 * bufread node FILE NODE: check that all pages of the mapping are on the NUMA
 * node
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmemtrace_abi.h"
#include "kmemtrace_ioctl.h"

#define READ_BYTES (1 << 16)

static int failed;

static void die(const char *what)
{
	printf("bufread: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void expect(const char *what, long is, long wanted)
{
	if (is == wanted)
		return;
	printf("bufread: %s: %ld, not %ld\n", what, is, wanted);
	failed = 1;
}

/* Check the errno of a call that must fail; wanted 0: the call must succeed. */
static void expect_errno(const char *what, long result, int wanted)
{
	expect(what, result < 0 ? errno : 0, wanted);
}

static int open_file(const char *name, int flags)
{
	int fd = open(name, flags, 0600);

	if (fd < 0)
		die(name);
	return fd;
}

static void put(int fd, const void *from, size_t n)
{
	if (write(fd, from, n) != (ssize_t)n)
		die("write");
}

static struct kmemtrace_ioctl_info info_of(int fd)
{
	struct kmemtrace_ioctl_info info;

	if (ioctl(fd, KMEMTRACE_IOC_INFO, &info))
		die("INFO");
	return info;
}

static const char *map(int fd, struct kmemtrace_ioctl_info *info)
{
	const char *start;

	*info = info_of(fd);
	start = mmap(NULL, info->map_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (start == MAP_FAILED)
		die("mmap");
	return start;
}

static int take(int fd, const struct kmemtrace_ioctl_info *info,
		struct kmemtrace_ioctl_take *taken)
{
	memset(taken, 0, sizeof(*taken));
	taken->generation = info->generation;
	return ioctl(fd, KMEMTRACE_IOC_TAKE, taken);
}

static int give(int fd, const struct kmemtrace_ioctl_take *taken, size_t bytes)
{
	struct kmemtrace_ioctl_give giving = {taken->position, bytes};

	return ioctl(fd, KMEMTRACE_IOC_GIVE, &giving);
}

static void put_lost(int to, const struct kmemtrace_ioctl_info *info,
		     const struct kmemtrace_ioctl_take *taken)
{
	char record[256] = "";
	struct kmemtrace_event_lost lost = {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = info->record_size,
		.node = KMEMTRACE_NODE_NONE,
		.events = taken->lost_events,
		.since = taken->lost_since,
		.timestamp = taken->lost_timestamp,
	};

	memcpy(record, &lost, sizeof(lost));
	if (taken->lost_events)
		put(to, record, info->record_size);
}

static void dump(const char *file, const char *name)
{
	int fd = open_file(file, O_RDONLY);
	int to = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);
	struct kmemtrace_ioctl_take taken;
	struct kmemtrace_ioctl_info info;
	const char *start = map(fd, &info);
	size_t full, subbuf, offset, left, n;

	if (take(fd, &info, &taken))
		die("TAKE");
	info = info_of(fd);
	full = info.subbuf_size - info.subbuf_size % info.record_size;
	subbuf = taken.offset / info.subbuf_size;
	offset = taken.offset % info.subbuf_size;
	put_lost(to, &info, &taken);
	for (left = info.unread; left; left -= n) {
		n = full - offset < left ? full - offset : left;
		put(to, start + subbuf * info.subbuf_size + offset, n);
		subbuf = (subbuf + 1) % info.subbufs;
		offset = 0;
	}
	printf("bufread: %s: %llu produced, %llu consumed, %llu unread, %llu "
	       "overwritten, mode %u\n",
	       file, info.produced, info.consumed, info.unread,
	       info.overwritten, info.mode);
}

static void both(const char *file, const char *mapped, const char *copied)
{
	int fd = open_file(file, O_RDONLY), other = open_file(file, O_RDONLY);
	int to[2] = {open_file(mapped, O_WRONLY | O_CREAT | O_TRUNC),
		     open_file(copied, O_WRONLY | O_CREAT | O_TRUNC)};
	struct kmemtrace_ioctl_take taken;
	struct kmemtrace_ioctl_info info;
	const char *start = map(fd, &info);
	static char buffer[READ_BYTES];
	size_t left;
	ssize_t n;

	for (;;) {
		if (take(fd, &info, &taken))
			die("TAKE");
		if (!taken.bytes)
			break;
		put_lost(to[0], &info, &taken);
		put(to[0], start + taken.offset, taken.bytes);
		left = taken.bytes + (taken.lost_events ? info.record_size : 0);
		while (left) {
			n = read(other, buffer,
				 left < READ_BYTES ? left : READ_BYTES);
			if (n <= 0)
				die("read");
			put(to[1], buffer, n);
			left -= n;
		}
		expect_errno("GIVE of what another reader was faster with",
			     give(fd, &taken, taken.bytes), EAGAIN);
	}
	expect("read() when all was read", read(other, buffer, READ_BYTES), 0);
}

static int is_enabled(const char *file)
{
	int fd = open_file(file, O_RDONLY);
	char c = '0';

	if (read(fd, &c, 1) != 1)
		die(file);
	close(fd);
	return c == '1';
}

/*
 * Write the records of one TAKE. Return their bytes; 0: there are no unread
 * records; -1: GIVE failed with EAGAIN, the written records were removed again,
 * and the caller retries.
 */
static long follow_mapping(int fd, int to, const char *start,
			   const struct kmemtrace_ioctl_info *info)
{
	struct kmemtrace_ioctl_take taken;
	off_t before = lseek(to, 0, SEEK_CUR);

	if (take(fd, info, &taken))
		die("TAKE");
	if (!taken.bytes)
		return 0;
	put_lost(to, info, &taken);
	put(to, start + taken.offset, taken.bytes);
	if (!give(fd, &taken, taken.bytes))
		return taken.bytes;
	if (errno != EAGAIN)
		die("GIVE");
	if (ftruncate(to, before) || lseek(to, before, SEEK_SET) < 0)
		die("ftruncate");
	return -1;
}

static void follow(int mapped, const char *file, const char *name,
		   const char *enabled)
{
	int fd = open_file(file, O_RDONLY);
	int to = open_file(name, O_WRONLY | O_CREAT | O_TRUNC);
	static char buffer[READ_BYTES];
	struct kmemtrace_ioctl_info info;
	const char *start = mapped ? map(fd, &info) : NULL;
	long n, again = 0, parts = 0;
	int on;

	do {
		struct pollfd pollfd = {fd, POLLIN, 0};

		on = is_enabled(enabled);
		if (on)
			poll(&pollfd, 1, 200);
		do {
			n = mapped ? follow_mapping(fd, to, start, &info)
				   : read(fd, buffer, READ_BYTES);
			if (n > 0 && !mapped)
				put(to, buffer, n);
			else if (n < 0 && !mapped)
				die("read");
			again += n < 0;
			parts += n > 0;
		} while (n);
	} while (on);
	printf("bufread: %s by %s: %ld parts, %ld taken in vain\n", file,
	       mapped ? "mmap" : "read", parts, again);
}

static void die_between(const char *file)
{
	int fd = open_file(file, O_RDONLY);
	struct kmemtrace_ioctl_take taken;
	struct kmemtrace_ioctl_info info;

	map(fd, &info);
	if (take(fd, &info, &taken) || !taken.bytes)
		die("TAKE");
	kill(getpid(), SIGKILL);
}

/* Check that a mapping fails with an errno. */
static void expect_unmapped(const char *what, size_t length, int protection,
			    int flags, int fd, off_t offset, int wanted)
{
	void *mapped = mmap(NULL, length, protection, flags, fd, offset);

	expect_errno(what, mapped == MAP_FAILED ? -1 : 0, wanted);
}

static void bad_mappings(int fd, int writable,
			 const struct kmemtrace_ioctl_info *info,
			 const char *start)
{
	expect_unmapped("PROT_WRITE", info->map_bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED, writable, 0, EACCES);
	expect_unmapped("private PROT_WRITE", info->map_bytes,
			PROT_READ | PROT_WRITE, MAP_PRIVATE, writable, 0,
			EACCES);
	expect_unmapped("private", info->map_bytes, PROT_READ, MAP_PRIVATE, fd,
			0, EINVAL);
	expect_unmapped("not from the start", 4096, PROT_READ, MAP_SHARED, fd,
			4096, EINVAL);
	expect_unmapped("too long", info->map_bytes + 4096, PROT_READ,
			MAP_SHARED, fd, 0, ENXIO);
	expect_errno("mprotect to write",
		     mprotect((void *)start, info->map_bytes,
			      PROT_READ | PROT_WRITE),
		     EACCES);
}

static void bad_calls(int fd, int writable)
{
	void *volatile nowhere = (void *)8;
	static char buffer[READ_BYTES];

	expect_errno("no such ioctl", ioctl(fd, _IO(0xBD, 9)), ENOTTY);
	expect_errno("INFO to nowhere", ioctl(fd, KMEMTRACE_IOC_INFO, nowhere),
		     EFAULT);
	expect_errno("TAKE to nowhere", ioctl(fd, KMEMTRACE_IOC_TAKE, nowhere),
		     EFAULT);
	expect_errno("read of less than a record", read(fd, buffer, 63),
		     EINVAL);
	expect_errno("read to nowhere", read(fd, nowhere, READ_BYTES), EFAULT);
	expect_errno("lseek", lseek(fd, 0, SEEK_SET), ESPIPE);
	expect_errno("write", write(writable, buffer, 64), EINVAL);
}

static void bad_gives(int fd, const struct kmemtrace_ioctl_info *info)
{
	struct kmemtrace_ioctl_take taken, wrong;
	struct kmemtrace_ioctl_info after;

	memset(&taken, 0, sizeof(taken));
	expect_errno("GIVE without TAKE", give(fd, &taken, 64), EINVAL);
	wrong = (struct kmemtrace_ioctl_take){.generation =
						      info->generation + 1};
	expect_errno("TAKE of another generation",
		     ioctl(fd, KMEMTRACE_IOC_TAKE, &wrong), ESTALE);

	expect_errno("TAKE", take(fd, info, &taken), 0);
	expect("something to take", taken.bytes > 0, 1);
	expect_errno("GIVE of more than was taken",
		     give(fd, &taken, taken.bytes + info->record_size), EINVAL);
	expect_errno("and the TAKE is over", give(fd, &taken, taken.bytes),
		     EINVAL);
	take(fd, info, &taken);
	expect_errno("GIVE of all there is", give(fd, &taken, (size_t)1 << 60),
		     EINVAL);
	take(fd, info, &taken);
	expect_errno("GIVE of half a record",
		     give(fd, &taken, info->record_size / 2), EINVAL);
	take(fd, info, &taken);
	expect_errno("GIVE of nothing", give(fd, &taken, 0), EINVAL);
	take(fd, info, &taken);
	wrong = taken;
	wrong.position += info->record_size;
	expect_errno("GIVE somewhere else",
		     give(fd, &wrong, taken.bytes - info->record_size), EINVAL);
	after = info_of(fd);
	expect("bytes consumed by all that", after.consumed, info->consumed);
	expect("bytes unread", after.unread >= info->unread, 1);

	take(fd, info, &taken);
	expect_errno("GIVE of one record", give(fd, &taken, info->record_size),
		     0);
	expect_errno("GIVE twice", give(fd, &taken, info->record_size), EINVAL);
	after = info_of(fd);
	expect("bytes consumed by that", after.consumed,
	       info->consumed + info->record_size);
}

/* Make invalid calls and check their errors. */
static void bad(const char *file)
{
	int fd = open_file(file, O_RDONLY);
	int writable = open(file, O_RDWR);
	struct kmemtrace_ioctl_info info;
	const char *start = map(fd, &info);

	/* root may open the file for writing. */
	expect_errno("open for writing and reading", writable, 0);
	bad_mappings(fd, writable, &info, start);
	bad_calls(fd, writable);
	bad_gives(fd, &info);
}

static unsigned long sum_of(const char *start, size_t n)
{
	unsigned long sum = 0;

	while (n--)
		sum = sum * 31 + (unsigned char)start[n];
	return sum;
}

static void keep(const char *file, const char *command)
{
	int fd = open_file(file, O_RDONLY);
	struct kmemtrace_ioctl_take taken;
	struct kmemtrace_ioctl_info info, now;
	const char *start = map(fd, &info);
	unsigned long sum = sum_of(start, info.map_bytes);
	int stale;

	if (take(fd, &info, &taken))
		die("TAKE");
	expect("what the command ends with", system(command), 0);
	expect("the mapping is as it was", sum == sum_of(start, info.map_bytes),
	       1);
	now = info_of(fd);
	stale = now.generation != info.generation;
	if (stale) {
		if (taken.bytes)
			expect_errno("GIVE to a buffer that is no more",
				     give(fd, &taken, taken.bytes), EAGAIN);
		expect_errno("TAKE from it", take(fd, &info, &taken), ESTALE);
	}
	map(fd, &now);
	expect_errno("TAKE from what is there now", take(fd, &now, &taken), 0);
	printf("bufread: %s: %u sub-buffers of %u, then %u of %u%s\n", file,
	       info.subbufs, info.subbuf_size, now.subbufs, now.subbuf_size,
	       stale ? ", in another buffer" : "");
}

/*
 * Start a process that exits with 0 if poll() returns POLLERR within 20
 * seconds; the timeout of poll() is longer. Returns the process ID.
 */
static pid_t wait_for_end(int fd)
{
	struct pollfd pollfd = {fd, 0, 0};
	time_t started = time(NULL);
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child)
		_exit(poll(&pollfd, 1, 30000) != 1 ||
		      pollfd.revents != POLLERR || time(NULL) >= started + 20);
	return child;
}

static void stale(const char *file, const char *command)
{
	int fd = open_file(file, O_RDONLY), status = -1;
	struct kmemtrace_ioctl_take taken;
	struct kmemtrace_ioctl_info info;
	static char buffer[READ_BYTES];
	pid_t child;

	map(fd, &info);
	expect_errno("TAKE", take(fd, &info, &taken), 0);
	child = wait_for_end(fd);
	usleep(300000);
	expect("what the command ends with", system(command), 0);
	waitpid(child, &status, 0);
	expect("poll() of who waited", status, 0);
	if (taken.bytes)
		expect_errno("GIVE to a snapshot that is no more",
			     give(fd, &taken, taken.bytes), ESTALE);
	expect_errno("TAKE from it", take(fd, &info, &taken), ESTALE);
	expect_errno("INFO", ioctl(fd, KMEMTRACE_IOC_INFO, &info), ESTALE);
	expect_errno("read", read(fd, buffer, READ_BYTES), ESTALE);
	expect_errno("mmap",
		     mmap(NULL, info.map_bytes, PROT_READ, MAP_SHARED, fd, 0) ==
				     MAP_FAILED
			     ? -1
			     : 0,
		     ESTALE);
}

static void node(const char *file, int wanted)
{
	long page_size = sysconf(_SC_PAGESIZE);
	int fd = open_file(file, O_RDONLY), status;
	struct kmemtrace_ioctl_info info;
	const char *start = map(fd, &info);
	unsigned long here = 0, n = 0;
	const void *page;
	size_t i;

	for (i = 0; i < info.map_bytes; i += (size_t)page_size, n++) {
		page = start + i;
		/* Without target nodes, move_pages() returns the node of each
		 * page. */
		if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0))
			die("move_pages");
		here += status == wanted;
	}
	printf("bufread: %s: %lu of %lu pages on node %d\n", file, here, n,
	       wanted);
	failed |= !n || here < n;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "dump") && argc == 4)
		dump(argv[2], argv[3]);
	else if (!strcmp(what, "both") && argc == 5)
		both(argv[2], argv[3], argv[4]);
	else if (!strcmp(what, "follow") && argc == 6)
		follow(!strcmp(argv[2], "mmap"), argv[3], argv[4], argv[5]);
	else if (!strcmp(what, "die"))
		die_between(argv[2]);
	else if (!strcmp(what, "bad"))
		bad(argv[2]);
	else if (!strcmp(what, "keep") && argc == 4)
		keep(argv[2], argv[3]);
	else if (!strcmp(what, "stale") && argc == 4)
		stale(argv[2], argv[3]);
	else if (!strcmp(what, "node") && argc == 4)
		node(argv[2], atoi(argv[3]));
	else
		return 2;
	return failed;
}
