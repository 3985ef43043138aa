// SPDX-License-Identifier: GPL-2.0-only
/* The page allocator. */
#include "kmt_gap.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
/* For struct folio_batch: the name of its own header depends on the version. */
#include <linux/writeback.h>

static struct page *pages[N];
static void *objects[N];

static noinline void gap_alloc_page(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	for (i = 0; i < N; i++)
		__free_page(pages[i]);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_alloc_pages_node(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_pages_node(0, GFP_KERNEL, 1);
	for (i = 0; i < N; i++)
		__free_pages(pages[i], 1);
	say_alloc("pages", N, N * PAGE_SIZE * 2, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_alloc_pages_compound(void)
{
	unsigned long i;

	for (i = 0; i < 8; i++)
		pages[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, 4);
	for (i = 0; i < 8; i++)
		__free_pages(pages[i], 4);
	say_alloc("pages", 8, 8 * PAGE_SIZE * 16, GFP_KERNEL | __GFP_COMP);
	say_freed("pages", 8, __func__);
}

static noinline void gap_get_free_pages(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = (void *)__get_free_pages(GFP_KERNEL, 1);
	for (i = 0; i < N; i++)
		free_pages((unsigned long)objects[i], 1);
	say_alloc("pages", N, N * PAGE_SIZE * 2, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_get_zeroed_page(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		objects[i] = (void *)get_zeroed_page(GFP_KERNEL);
	for (i = 0; i < N; i++)
		free_page((unsigned long)objects[i]);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL | __GFP_ZERO);
	say_freed("pages", N, __func__);
}

/* Each call allocates 8 pages and returns 3: the trace has the other 5. */
static noinline void gap_alloc_pages_exact(void)
{
	unsigned long i;

	for (i = 0; i < 10; i++)
		objects[i] = alloc_pages_exact(4 * PAGE_SIZE + 100, GFP_KERNEL);
	for (i = 0; i < 10; i++)
		free_pages_exact(objects[i], 4 * PAGE_SIZE + 100);
	say_alloc("pages", 50, 10 * (4 * PAGE_SIZE + 100), GFP_KERNEL);
	say_freed("pages", 50, __func__);
}

/* Records of the allocation, and then of the 4 pages into which it is split. */
static noinline void gap_split_page(void)
{
	unsigned long i, k;

	for (i = 0; i < 10; i++) {
		pages[i] = alloc_pages(GFP_KERNEL, 2);
		split_page(pages[i], 2);
	}
	for (i = 0; i < 10; i++)
		for (k = 0; k < 4; k++)
			__free_page(pages[i] + k);
	pr_info("alloc %s pages 50 %lu -\n", __func__, 80 * PAGE_SIZE);
	say_freed("pages", 50, __func__);
}

/*
 * Another user holds a reference to the first page: the allocation of four
 * pages is recorded as live until that reference is released.
 */
static noinline void gap_free_pages_held(void)
{
	unsigned long i;

	for (i = 0; i < 10; i++) {
		pages[i] = alloc_pages(GFP_KERNEL, 2);
		get_page(pages[i]);
		__free_pages(pages[i], 2);
		put_page(pages[i]);
	}
	say_alloc("pages", 10, 40 * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", 10, "gap_free_pages_held|folio_put");
}

/*
 * Allocate a page for each entry of the array pages that is NULL, and free the
 * pages of all entries. Inline, so that the caller is the call site.
 */
static __always_inline void gap_fill_bulk(void)
{
	unsigned long i, n = 0, got;

	while (n < BULK) {
		got = alloc_pages_bulk(GFP_KERNEL, BULK, pages);
		if (got == n)
			break;
		n = got;
	}
	for (i = 0; i < n; i++)
		__free_page(pages[i]);
}

static noinline void gap_alloc_pages_bulk_array(void)
{
	memset(pages, 0, sizeof(pages));
	gap_fill_bulk();
	say_alloc("pages", BULK, BULK * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", BULK, __func__);
}

/* Until Linux 6.13 there is a function for lists. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
static noinline void gap_alloc_pages_bulk_list(void)
{
	unsigned long n = 0, got;
	LIST_HEAD(list);

	while (n < BULK) {
		got = alloc_pages_bulk_list(GFP_KERNEL, BULK - n, &list);
		if (!got)
			break;
		n += got;
	}
	put_pages_list(&list);
	say_alloc("pages", BULK, BULK * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", BULK, __func__);
}
#else
static void gap_alloc_pages_bulk_list(void)
{
}
#endif

static noinline void gap_put_page(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	for (i = 0; i < N; i++)
		put_page(pages[i]);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, "gap_put_page|folio_put");
}

static noinline void gap_release_pages(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		pages[i] = alloc_page(GFP_KERNEL);
	release_pages(pages, N);
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, __func__);
}

static noinline void gap_folio_alloc(void)
{
	struct folio *folio;
	unsigned long i;

	for (i = 0; i < N; i++) {
		folio = folio_alloc(GFP_KERNEL, 0);
		folio_put(folio);
	}
	say_alloc("pages", N, N * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, "gap_folio_alloc|folio_put");
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
/* Allowed in any context. An allocation that cannot take a lock fails. */
static noinline void gap_alloc_pages_nolock(void)
{
	unsigned long i, n = 0;

	for (i = 0; i < N; i++) {
		pages[n] = alloc_pages_nolock(0, NUMA_NO_NODE, 0);
		n += !!pages[n];
	}
	for (i = 0; i < n; i++)
		__free_page(pages[i]);
	say_alloc("pages", n, n * PAGE_SIZE, 0);
	say_freed("pages", n, __func__);
}
#else
static void gap_alloc_pages_nolock(void)
{
}
#endif

/* alloc_pages_bulk() fills only the entries of the array that are NULL. */
static noinline void gap_alloc_pages_bulk_partly(void)
{
	memset(pages, 0, sizeof(pages));
	pages[0] = alloc_page(GFP_KERNEL);
	pages[BULK / 2] = alloc_page(GFP_KERNEL);
	gap_fill_bulk();
	say_alloc("pages", BULK, BULK * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", BULK, __func__);
}

/* The folios of a batch, of orders 0 to 3, go to the free lists together. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
static noinline void gap_folios_put(void)
{
	struct folio_batch batch;
	unsigned long i, n = 0;

	folio_batch_init(&batch);
	for (i = 0; i < 10; i++) {
		folio_batch_add(&batch, folio_alloc(GFP_KERNEL, i & 3));
		n += PAGE_SIZE << (i & 3);
	}
	folios_put(&batch);
	pr_info("alloc %s pages 10 %lu -\n", __func__, n);
	say_freed("pages", 10, "gap_folios_put|folios_put");
}
#else
static void gap_folios_put(void)
{
}
#endif

void gap_pages(void)
{
	gap_path(gap_alloc_page());
	gap_path(gap_alloc_pages_node());
	gap_path(gap_alloc_pages_compound());
	gap_path(gap_get_free_pages());
	gap_path(gap_get_zeroed_page());
	gap_path(gap_alloc_pages_exact());
	gap_path(gap_split_page());
	gap_path(gap_free_pages_held());
	gap_path(gap_alloc_pages_bulk_array());
	gap_path(gap_alloc_pages_bulk_list());
	gap_path(gap_alloc_pages_bulk_partly());
	gap_path(gap_put_page());
	gap_path(gap_release_pages());
	gap_path(gap_folio_alloc());
	gap_path(gap_folios_put());
	gap_path(gap_alloc_pages_nolock());
}
