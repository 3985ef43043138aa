// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Wrappers of malloc() and all related functions. Each wrapper calls the next
 * definition, which belongs to the C library or to an allocator in LD_PRELOAD,
 * and only adds the handling of a failure; reallocarray() calls the wrapper of
 * realloc(). The dynamic linker uses these wrappers for all libraries, so
 * g_malloc() sees no failure while a message is set.
 *
 * The set of wrappers must be complete: memory of one allocator must never
 * reach free() of another allocator.
 *
 * g_try_malloc() and its variants are redefined to return NULL on failure,
 * because their callers handle a failure. Calls inside GLib do not use these
 * definitions, so such a failure ends the program with the message.
 *
 * AddressSanitizer, ThreadSanitizer, and MemorySanitizer replace malloc()
 * themselves. Under one of them, or without RTLD_NEXT, the functions of this
 * file do nothing, and the sanitizer or GLib ends the program on failure.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/fatal-exit.h"
#include "lib/cli/out-of-memory.h"
#include "lib/cli/pager.h"

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||     \
	__has_feature(memory_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

#if defined(RTLD_NEXT) && !defined(HAS_SANITIZER)

/* Set before the program creates threads. After that, only a child process
 * changes message. */
static const char *message; /* NULL: failures are returned to the caller */
static gsize message_bytes;
static int exit_status;

void kmt_cli_exit_on_out_of_memory(const char *program, const char *advice,
				   int status)
{
	static char text[512]; /* needs no memory when the program starts */

	g_snprintf(text, sizeof(text), "%s: out of memory: %s\n", program,
		   advice);
	message = text;
	message_bytes = strlen(text);
	exit_status = status;
}

void kmt_cli_return_allocation_failures(void)
{
	message = NULL;
}

/* ---- the next definitions ---- */

/*
 * Size of the memory that serves dlsym() during the lookup of the next
 * definitions, in bytes.
 */
#define EARLY_BYTES 8192

static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	size_t (*malloc_usable_size)(void *);
	void (*free)(void *);
} next;

static gboolean has_next; /* the lookup of next is complete */
static gboolean in_lookup;
static _Alignas(max_align_t) char early[EARLY_BYTES];
static size_t early_used;

/* Return whether @p is in the memory of early_alloc(). */
static gboolean is_early(const void *p)
{
	return (uintptr_t)p - (uintptr_t)early < EARLY_BYTES;
}

/* Allocate zeroed memory that is never freed. Return NULL if it is used up. */
static void *early_alloc(size_t size)
{
	const size_t unit = _Alignof(max_align_t);
	void *p = early + early_used;

	if (size > EARLY_BYTES - unit - early_used) {
		errno = ENOMEM;
		return NULL;
	}
	early_used += (size + unit - 1) / unit * unit;
	return p;
}

/* ISO C has no conversion from an object pointer to a function pointer. */
static void look_up_symbol(void *function, const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(function, &found, sizeof(found));
}

/*
 * Look up the next definitions on the first call. Return FALSE during the
 * lookup, because dlsym() may call an allocation function. The first call
 * occurs before main(), when the process has one thread.
 */
static gboolean find_next(void)
{
	if (G_LIKELY(has_next))
		return TRUE;
	if (in_lookup)
		return FALSE;
	in_lookup = TRUE;
	look_up_symbol(&next.malloc, "malloc");
	look_up_symbol(&next.calloc, "calloc");
	look_up_symbol(&next.realloc, "realloc");
	look_up_symbol(&next.memalign, "memalign");
	look_up_symbol(&next.aligned_alloc, "aligned_alloc");
	look_up_symbol(&next.posix_memalign, "posix_memalign");
	look_up_symbol(&next.valloc, "valloc");
	look_up_symbol(&next.pvalloc, "pvalloc");
	look_up_symbol(&next.malloc_usable_size, "malloc_usable_size");
	look_up_symbol(&next.free, "free");
	in_lookup = FALSE;
	has_next = TRUE;
	return TRUE;
}

/* Return @p. If @p is NULL and a message is set, end the program. */
static void *check(void *p)
{
	if (G_LIKELY(p || !message))
		return p;
	kmt_pager_abandon();
	/* If write() fails too, only the exit status reports the error. */
	kmt_cli_call_fatal_exit();
	if (write(STDERR_FILENO, message, message_bytes) < 0)
		_exit(exit_status);
	_exit(exit_status);
}

/* Variant of check() for functions that reject some alignments with EINVAL. */
static void *check_aligned(void *p)
{
	return !p && errno == EINVAL ? p : check(p);
}

static void *reallocate(void *old, size_t size)
{
	void *p;

	if (G_LIKELY(!is_early(old)))
		return next.realloc(old, size);
	p = next.malloc(size);
	if (p)
		memcpy(p, old,
		       MIN(size, (size_t)(early + EARLY_BYTES - (char *)old)));
	return p;
}

/* ---- wrappers of the C library ---- */

void *malloc(size_t size)
{
	return find_next() ? check(next.malloc(size)) : early_alloc(size);
}

void *calloc(size_t n, size_t size)
{
	return find_next() ? check(next.calloc(n, size))
			   : early_alloc(n * size);
}

void *realloc(void *old, size_t size)
{
	void *p;

	if (!find_next())
		return early_alloc(size);
	p = reallocate(old, size);
	/* realloc(old, 0) may free @old and return NULL on success. */
	return size ? check(p) : p;
}

void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return check(NULL);
	}
	return realloc(old, bytes);
}

void free(void *p)
{
	if (p && !is_early(p) && find_next())
		next.free(p);
}

void *memalign(size_t alignment, size_t size)
{
	return find_next() ? check_aligned(next.memalign(alignment, size))
			   : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return find_next() ? check_aligned(next.aligned_alloc(alignment, size))
			   : NULL;
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
	int errnum =
		find_next() ? next.posix_memalign(p, alignment, size) : ENOMEM;

	if (errnum == ENOMEM)
		check(NULL);
	return errnum;
}

void *valloc(size_t size)
{
	return find_next() ? check(next.valloc(size)) : NULL;
}

void *pvalloc(size_t size)
{
	return find_next() && next.pvalloc ? check(next.pvalloc(size)) : NULL;
}

size_t malloc_usable_size(void *p)
{
	return p && !is_early(p) && find_next() ? next.malloc_usable_size(p)
						: 0;
}

/* ---- wrappers of GLib's functions that may fail ---- */

gpointer g_try_malloc(gsize size)
{
	return size && find_next() ? next.malloc(size) : NULL;
}

gpointer g_try_malloc0(gsize size)
{
	return size && find_next() ? next.calloc(1, size) : NULL;
}

gpointer g_try_realloc(gpointer old, gsize size)
{
	if (size)
		return find_next() ? reallocate(old, size) : NULL;
	free(old);
	return NULL;
}

gpointer(g_try_malloc_n)(gsize n, gsize size)
{
	gsize bytes;

	return g_size_checked_mul(&bytes, n, size) ? g_try_malloc(bytes) : NULL;
}

gpointer(g_try_malloc0_n)(gsize n, gsize size)
{
	gsize bytes;

	return g_size_checked_mul(&bytes, n, size) ? g_try_malloc0(bytes)
						   : NULL;
}

gpointer(g_try_realloc_n)(gpointer old, gsize n, gsize size)
{
	gsize bytes;

	return g_size_checked_mul(&bytes, n, size) ? g_try_realloc(old, bytes)
						   : NULL;
}

#else

void kmt_cli_exit_on_out_of_memory(const char *program, const char *advice,
				   int status)
{
}

void kmt_cli_return_allocation_failures(void)
{
}

#endif
