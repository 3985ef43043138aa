// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call each function of the malloc family with and without free memory
 * (lib/cli/out-of-memory.c).
 */
#include "config.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cli/out-of-memory.h"

#define STATUS 42

/*
 * More than there is. Half a gigabyte may exist on a 32-bit machine, where only
 * a size above PTRDIFF_MAX is always refused. Volatile, because the compiler
 * warns of a constant that is so large.
 */
static volatile gsize too_much = sizeof(gsize) > 4 ? (gsize)PTRDIFF_MAX / 4
						   : (gsize)PTRDIFF_MAX + 1;
#define TOO_MUCH too_much

/* Prevent the compiler from removing an allocation. */
static void *volatile used;

static void *keep(void *p)
{
	used = p;
	return used;
}

static void test_family(void)
{
	void *p;

	free(NULL);
	for (gsize size = 1; size < 100000; size *= 3) {
		p = keep(malloc(size));
		g_assert_cmpuint(malloc_usable_size(p), >=, size);
		memset(p, 1, size);
		p = keep(realloc(p, 2 * size));
		g_assert_cmpint(((char *)p)[size - 1], ==, 1);
		p = keep(reallocarray(p, 3, size));
		g_assert_cmpint(((char *)p)[size - 1], ==, 1);
		free(p);
		p = keep(calloc(3, size));
		g_assert_cmpint(((char *)p)[3 * size - 1], ==, 0);
		free(p);
	}
	for (gsize alignment = 16; alignment <= 65536; alignment *= 2) {
		void *blocks[] = {memalign(alignment, 5),
				  aligned_alloc(alignment, alignment), NULL};

		g_assert_cmpint(posix_memalign(&blocks[2], alignment, 7), ==,
				0);
		for (gsize i = 0; i < G_N_ELEMENTS(blocks); i++) {
			g_assert_nonnull(blocks[i]);
			g_assert_cmpuint((uintptr_t)blocks[i] % alignment, ==,
					 0);
			free(blocks[i]);
		}
	}
	p = keep(valloc(1));
	g_assert_nonnull(p);
	free(p);
	p = keep(pvalloc(1));
	g_assert_nonnull(p);
	free(p);
	g_assert_cmpuint(malloc_usable_size(NULL), ==, 0);
}

/* EINVAL for an invalid argument must not be handled as a lack of memory. */
static void test_refused(void)
{
	void *p = NULL;

	g_assert_cmpint(posix_memalign(&p, 3, 8), ==, EINVAL);
	g_assert_cmpint(
		posix_memalign(&p, sizeof(p), TOO_MUCH | ~(G_MAXSIZE / 2)), !=,
		0);
}

static void test_try(void)
{
	gpointer p = g_try_malloc(10);

	g_assert_nonnull(p);
	p = g_try_realloc(p, 20);
	g_assert_nonnull(p);
	g_assert_null(g_try_realloc(p, 0));
	p = g_try_malloc0(10);
	g_assert_cmpint(((char *)p)[9], ==, 0);
	g_assert_null(g_try_realloc(p, TOO_MUCH));
	g_free(p);
	g_assert_null(g_try_malloc(TOO_MUCH));
	g_assert_null(g_try_malloc0(TOO_MUCH));
	g_assert_null(g_try_malloc_n(TOO_MUCH, 1));
	g_assert_null(g_try_malloc_n(TOO_MUCH, 16));
	g_assert_null(g_try_malloc0_n(TOO_MUCH, 1));
	g_assert_null(g_try_realloc_n(NULL, TOO_MUCH, 1));
	g_assert_null(g_try_new(guint64, TOO_MUCH / 8));
}

/*
 * Call one of the functions with a size that cannot be allocated, which ends
 * the process.
 */
static void exhaust(int which)
{
	void *p = NULL;

	kmt_cli_exit_on_out_of_memory("unit", "buy some", STATUS);
	switch (which) {
	case 0:
		keep(malloc(TOO_MUCH));
		break;
	case 1:
		keep(calloc(2, TOO_MUCH));
		break;
	case 2:
		keep(realloc(malloc(1), TOO_MUCH));
		break;
	case 3:
		keep(reallocarray(NULL, 2, TOO_MUCH));
		break;
	case 4:
		keep(memalign(64, TOO_MUCH));
		break;
	case 5:
		(void)!posix_memalign(&p, 64, TOO_MUCH);
		keep(p);
		break;
	case 6:
		keep(aligned_alloc(64, TOO_MUCH));
		break;
	case 7:
		keep(valloc(TOO_MUCH));
		break;
	case 8:
		keep(pvalloc(TOO_MUCH));
		break;
	case 9:
		keep(g_malloc(TOO_MUCH));
		break;
	default:
		keep(g_new0(guint64, TOO_MUCH / 8));
	}
}

static void test_exhausted(gconstpointer data)
{
	if (g_test_subprocess()) {
		exhaust(GPOINTER_TO_INT(data));
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_stderr("unit: out of memory: buy some\n");
	g_assert_false(g_test_trap_has_passed());
}

/*
 * After kmt_cli_return_allocation_failures(), the functions return failures to
 * the process that called it, and do not end the process.
 */
static void test_released(void)
{
	if (g_test_subprocess()) {
		kmt_cli_exit_on_out_of_memory("unit", "buy some", STATUS);
		kmt_cli_return_allocation_failures();
		g_assert_null(keep(malloc(TOO_MUCH)));
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_passed();
}

/* AddressSanitizer replaces the functions under test. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SKIPPED 77
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SKIPPED 77
#endif

int main(int argc, char **argv)
{
#ifdef SKIPPED
	return SKIPPED;
#endif
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/memory/family", test_family);
	g_test_add_func("/memory/refused", test_refused);
	g_test_add_func("/memory/try", test_try);
	g_test_add_func("/memory/released", test_released);
	for (int i = 0; i <= 10; i++) {
		g_autofree char *path =
			g_strdup_printf("/memory/exhausted/%d", i);

		g_test_add_data_func(path, GINT_TO_POINTER(i), test_exhausted);
	}
	return g_test_run();
}
