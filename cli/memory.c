// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program's own malloc(), and the functions like it: those of the C library
 * but for what they do when they fail.  The dynamic linker takes them for all
 * libraries, so that g_malloc() never sees a failure.
 *
 * A C library without __libc_malloc() and the sanitizers, which have a malloc()
 * of their own, keep what they have: there the program aborts.
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/memory.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
	__has_feature(memory_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

#if defined(HAVE___LIBC_MALLOC) && !defined(HAS_SANITIZER)

/* Constant once the program has threads. */
static char *message; /* NULL: failures are returned */
static gsize message_bytes;
static int exit_status;

void kmt_cli_guard_memory(const char *program, const char *advice, int status)
{
	message = g_strdup_printf("%s: out of memory: %s\n", program, advice);
	message_bytes = strlen(message);
	exit_status = status;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

/* Returns p, which is NULL if an allocation failed. */
static void *check(void *p)
{
	if (G_LIKELY(p || !message))
		return p;
	/* Where even that fails the exit status is all there is. */
	if (write(STDERR_FILENO, message, message_bytes) < 0)
		_exit(exit_status);
	_exit(exit_status);
}

void *malloc(size_t size)
{
	return check(__libc_malloc(size));
}

void *calloc(size_t n, size_t size)
{
	return check(__libc_calloc(n, size));
}

void *realloc(void *old, size_t size)
{
	void *p = __libc_realloc(old, size);

	/* Nothing of no bytes is no failure. */
	return size ? check(p) : p;
}

void *memalign(size_t alignment, size_t size)
{
	return check(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	if (alignment % sizeof(void *) || alignment & (alignment - 1) ||
	    !alignment)
		return EINVAL;
	*p = memalign(alignment, size);
	return *p ? 0 : ENOMEM;
}

#else

void kmt_cli_guard_memory(const char *program, const char *advice, int status)
{
}

#endif
