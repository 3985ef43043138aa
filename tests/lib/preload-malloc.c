// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A preloaded allocator that recognizes its own memory. A pointer from another
 * source, such as a second allocator in the process, ends the process with a
 * message.
 *
 * PRELOAD_FAIL_IF=PATH: each request fails while the file PATH exists.
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC		  0x6b6d656d74726163
#define HEAD		  64
#define ROUND_UP(n, unit) (((n) + (unit)-1) / (unit) * (unit))

/* Header of a block; the memory of the caller follows. */
typedef struct {
	uint64_t magic;
	size_t size;
} Head;

static char *free_bytes;
static size_t n_free;
static volatile char locked;

static Head *head_of(void *p)
{
	Head *head = (Head *)p - 1;

	if (head->magic != MAGIC) {
		static const char text[] =
			"preload-malloc: memory of another allocator\n";

		(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
		_exit(99);
	}
	return head;
}

static int must_fail(void)
{
	const char *path = getenv("PRELOAD_FAIL_IF");
	int errnum = errno, fail;

	fail = path && access(path, F_OK) == 0;
	/* A successful malloc() must not change errno. */
	errno = errnum;
	return fail;
}

/*
 * Allocate memory from parts of at least 16 MB that mmap() returns. Freed
 * memory is never used again.
 */
static void *allocate(size_t size, size_t alignment)
{
	const size_t part = (size_t)16 << 20;
	size_t n;
	uintptr_t at;

	if (size > PTRDIFF_MAX / 2 || must_fail()) {
		errno = ENOMEM;
		return NULL;
	}
	n = ROUND_UP(size, 16) + alignment + HEAD;
	while (__atomic_test_and_set(&locked, __ATOMIC_ACQUIRE))
		;
	if (n > n_free) {
		n_free = n > part ? n : part;
		free_bytes = mmap(NULL, n_free, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (free_bytes == MAP_FAILED)
			n_free = 0;
	}
	at = n_free ? ROUND_UP((uintptr_t)free_bytes + sizeof(Head), alignment)
		    : 0;
	if (at) {
		n_free -= at + ROUND_UP(size, 16) - (uintptr_t)free_bytes;
		free_bytes = (char *)at + ROUND_UP(size, 16);
		((Head *)at)[-1] = (Head){MAGIC, size};
	}
	__atomic_clear(&locked, __ATOMIC_RELEASE);
	if (!at)
		errno = ENOMEM;
	return (void *)at;
}

void *malloc(size_t size)
{
	return allocate(size, 16);
}

void *calloc(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return allocate(bytes, 16);
}

void free(void *p)
{
	if (p)
		head_of(p)->magic = MAGIC;
}

void *realloc(void *old, size_t size)
{
	void *p;
	size_t n;

	if (old && !size)
		return NULL;
	p = allocate(size, 16);
	if (p && old) {
		n = head_of(old)->size;
		memcpy(p, old, n < size ? n : size);
	}
	return p;
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

void *memalign(size_t alignment, size_t size)
{
	return allocate(size, alignment < 16 ? 16 : alignment);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	if (!alignment || alignment % sizeof(void *) ||
	    alignment & (alignment - 1))
		return EINVAL;
	*p = memalign(alignment, size);
	return *p ? 0 : ENOMEM;
}

void *valloc(size_t size)
{
	return memalign(4096, size);
}

void *pvalloc(size_t size)
{
	return memalign(4096, ROUND_UP(size, 4096));
}

size_t malloc_usable_size(void *p)
{
	return p ? head_of(p)->size : 0;
}
