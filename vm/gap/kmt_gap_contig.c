// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contiguous pages, pages of a CMA area, and frozen pages, whose reference
 * count is 0. Without __GFP_COMP each page of a range has a record; with
 * __GFP_COMP the range has one record.
 */
#include "kmt_gap.h"

#include <linux/cma.h>
#include <linux/gfp.h>
#include <linux/mm.h>

#define CANDIDATES 20

static struct page *pages[N];

#ifdef CONFIG_CONTIG_ALLOC
/* Find ranges: allocate blocks, store their addresses, and free the blocks. */
static noinline void contig_candidates(void)
{
	int i;

	for (i = 0; i < CANDIDATES; i++)
		/* Not movable memory, which could belong to the CMA area. */
		pages[i] = alloc_pages(GFP_KERNEL | __GFP_COMP, MAX_PAGE_ORDER);
	for (i = 0; i < CANDIDATES; i++)
		if (pages[i])
			__free_pages(pages[i], MAX_PAGE_ORDER);
}

/*
 * If another allocation used a page of the range meanwhile, the call fails, and
 * the next range is tried.
 */
static noinline void gap_alloc_contig_range(void)
{
	const unsigned long nr = 40;
	unsigned long pfn;
	int i;

	contig_candidates();
	for (i = 0; i < CANDIDATES; i++) {
		if (!pages[i])
			continue;
		pfn = page_to_pfn(pages[i]) + 10;
		if (alloc_contig_range(pfn, pfn + nr, ACR_FLAGS_NONE,
				       GFP_KERNEL))
			continue;
		free_contig_range(pfn, nr);
		say_within(pfn_to_page(pfn), nr);
		say_alloc("pages", nr, nr * PAGE_SIZE, GFP_KERNEL);
		say_freed("pages", nr, __func__);
		return;
	}
	pr_info("no contiguous range was free\n");
}

static noinline void gap_alloc_contig_pages(void)
{
	struct page *(*allocate)(unsigned long nr_pages, gfp_t gfp, int node,
				 nodemask_t *nodes) =
		gap_symbol(KMT_NOPROF("alloc_contig_pages"));
	const unsigned long nr = 50;
	struct page *first;

	if (!allocate)
		return;
	first = allocate(nr, GFP_KERNEL, 0, NULL);
	if (!first) {
		pr_info("no contiguous pages were free\n");
		return;
	}
	free_contig_range(page_to_pfn(first), nr);
	say_within(first, nr);
	say_alloc("pages", nr, nr * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", nr, __func__);
}

/*
 * Since Linux 6.12 a range can be a compound page, if the range is one block of
 * the free lists or several blocks of the largest order. Since Linux 7.0 the
 * reference count of this page is 0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
static noinline void gap_alloc_contig_compound(void)
{
	struct page *first;

	first = alloc_contig_frozen_pages(MAX_ORDER_NR_PAGES,
					  GFP_KERNEL | __GFP_COMP, 0, NULL);
	if (!first) {
		pr_info("no contiguous pages were free\n");
		return;
	}
	free_contig_frozen_range(page_to_pfn(first), MAX_ORDER_NR_PAGES);
	say_within(first, (unsigned long)MAX_ORDER_NR_PAGES);
	say_alloc("pages", 1, MAX_ORDER_NR_PAGES * PAGE_SIZE,
		  GFP_KERNEL | __GFP_COMP);
	say_freed("pages", 1, __func__);
}
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
static noinline void gap_alloc_contig_compound(void)
{
	struct page *(*allocate)(unsigned long nr_pages, gfp_t gfp, int node,
				 nodemask_t *nodes) =
		gap_symbol("alloc_contig_pages_noprof");
	struct page *first;

	first = allocate ?
		allocate(MAX_ORDER_NR_PAGES, GFP_KERNEL | __GFP_COMP, 0, NULL) :
		NULL;
	if (!first) {
		pr_info("no contiguous pages were free\n");
		return;
	}
	__free_pages(first, MAX_PAGE_ORDER);
	say_within(first, (unsigned long)MAX_ORDER_NR_PAGES);
	say_alloc("pages", 1, MAX_ORDER_NR_PAGES * PAGE_SIZE,
		  GFP_KERNEL | __GFP_COMP);
	say_freed("pages", 1, __func__);
}
#else
static void gap_alloc_contig_compound(void)
{
}
#endif
#endif

#ifdef CONFIG_CMA
/*
 * Allocate from the first CMA area, if hugetlb_cma= on the command line made
 * one.
 */
static noinline void gap_cma(void)
{
	struct page *(*allocate)(struct cma *cma, unsigned long count,
				 unsigned int align, bool no_warn) =
		gap_symbol("cma_alloc");
	bool (*release)(struct cma *cma, const struct page *first,
			unsigned long count) = gap_symbol("cma_release");
	unsigned int *n_areas = gap_symbol("cma_area_count");
	struct cma *area = gap_symbol("cma_areas");
	/* hugetlb_cma= divides its area into units of up to a huge page. */
	unsigned long nr = PMD_SIZE / PAGE_SIZE;
	struct page *first;

	if (!allocate || !release || !n_areas || !area)
		return;
	if (!*n_areas) {
		pr_info("no CMA area\n");
		return;
	}
	first = allocate(area, nr, 0, true);
	if (!first) {
		pr_info("no pages of the CMA area were free\n");
		return;
	}
	pr_info("range %#llx %lu\n", kmt_page_address(first), nr);
	release(area, first, nr);
}
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
struct page *__alloc_frozen_pages_noprof(gfp_t gfp, unsigned int order, int node,
					 nodemask_t *nodes,
					 unsigned int alloc_flags);
#define gap_alloc_frozen(gfp, order)	\
	__alloc_frozen_pages_noprof(gfp, order, 0, NULL, 0)
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
struct page *__alloc_frozen_pages_noprof(gfp_t gfp, unsigned int order, int node,
					 nodemask_t *nodes);
#define gap_alloc_frozen(gfp, order)	\
	__alloc_frozen_pages_noprof(gfp, order, 0, NULL)
#endif

#ifdef gap_alloc_frozen
static noinline void gap_frozen_pages(void)
{
	void (*free)(struct page *page, unsigned int order) =
		gap_symbol("free_frozen_pages");
	unsigned long i;

	if (!free)
		return;
	for (i = 0; i < N; i++)
		pages[i] = gap_alloc_frozen(GFP_KERNEL, i & 1);
	for (i = 0; i < N; i++)
		free(pages[i], i & 1);
	say_alloc("pages", N, N / 2 * 3 * PAGE_SIZE, GFP_KERNEL);
	say_freed("pages", N, __func__);
}
#endif

void gap_contig(void)
{
#ifdef CONFIG_CONTIG_ALLOC
	gap_path(gap_alloc_contig_range());
	gap_path(gap_alloc_contig_pages());
	gap_path(gap_alloc_contig_compound());
#endif
#ifdef CONFIG_CMA
	gap_path(gap_cma());
#endif
#ifdef gap_alloc_frozen
	gap_path(gap_frozen_pages());
#endif
}
