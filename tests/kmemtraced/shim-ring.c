// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files cpu<n> of a fake debugfs that can be mapped: SHIM_MAP in shim.c. The
 * records are in a ring file beside cpu<n>.
 */
/* Defines the size of file offsets, and so the names of functions, as in the
 * programs. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <kmemtrace_abi.h>
#include <kmemtrace_ioctl.h>

#include "tests/kmemtraced/shim.h"

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
