// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: pages: the out-of-line hooks of the page allocator, the probes, and
 * their switches.  <linux/kmemtrace.h> documents each hook.
 */

#include <linux/kernel.h>
#include <linux/kmemtrace.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/mm.h>

#include "compat.h"
#include "features.h"
#include "operation.h"
#include "probe.h"
#include "record.h"
#include "session.h"

/* --- Hooks ----------------------------------------------------------------------- */

static void kmemtrace_range(struct kmemtrace_operation *op, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags)
{
	while (bytes_req) {
		size_t bytes = min_t(size_t, bytes_req, PAGE_SIZE);

		kmemtrace_part(op, kmemtrace_report_pages(op->call_site, page,
							bytes, PAGE_SIZE,
							gfp_flags,
							NUMA_NO_NODE));
		page = kmemtrace_page_at(page, 1);
		bytes_req -= bytes;
	}
}

void __kmemtrace_page_range(unsigned long call_site, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };

	kmemtrace_range(&op, page, bytes_req, gfp_flags);
}

void __kmemtrace_page_contig(unsigned long call_site, struct page *page,
			     unsigned long nr_pages, gfp_t gfp_flags)
{
	size_t bytes = (size_t)nr_pages << PAGE_SHIFT;

	if (gfp_flags & __GFP_COMP)
		kmemtrace_report_pages(call_site, page, bytes, bytes, gfp_flags,
				       NUMA_NO_NODE);
	else
		__kmemtrace_page_range(call_site, page, bytes, gfp_flags);
}

void __kmemtrace_page_alloc_array(unsigned long call_site, struct page **pages,
				  unsigned long nr, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	unsigned long i;

	for (i = 0; i < nr; i++)
		kmemtrace_part(&op, kmemtrace_report_pages(call_site, pages[i],
							 PAGE_SIZE, PAGE_SIZE,
							 gfp_flags,
							 NUMA_NO_NODE));
}

void __kmemtrace_page_alloc_part(struct kmemtrace_operation *op,
				 struct page *page, unsigned int order,
				 gfp_t gfp_flags, int node)
{
	kmemtrace_part(op, kmemtrace_page_alloc(op->call_site, page, order,
						gfp_flags, node));
}

void __kmemtrace_page_free_part(struct kmemtrace_operation *op,
				struct page *page)
{
	kmemtrace_part(op, trace_kmemtrace_page_free(op->call_site, page));
}

void __kmemtrace_page_free_folios(unsigned long call_site,
				  struct folio_batch *folios)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	unsigned int i;

	if (in_kmemtrace_wrapper(call_site))
		return;
	for (i = 0; i < folio_batch_count(folios); i++)
		kmemtrace_part(&op,
			       trace_kmemtrace_page_free(call_site,
							 folio_page(folios->folios[i], 0)));
}

void __kmemtrace_page_split(unsigned long call_site, struct page *page,
			    unsigned int order, unsigned int new_order)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	unsigned long i;

	kmemtrace_test_enter(KMEMTRACE_TEST_SPLIT);
	kmemtrace_part(&op, trace_kmemtrace_page_free(call_site, page));
	for (i = 0; i < 1UL << order; i += 1UL << new_order) {
		kmemtrace_part(&op, kmemtrace_page_alloc(call_site, page,
							 new_order,
							 (__force gfp_t)0,
							 NUMA_NO_NODE));
		page = kmemtrace_page_at(page, 1UL << new_order);
	}
	kmemtrace_test_leave(KMEMTRACE_TEST_SPLIT);
}

/* --- Probes ---------------------------------------------------------------------- */

static void probe_page_alloc(void *data, unsigned long call_site,
			     struct page *page, size_t bytes_req,
			     size_t bytes_alloc, gfp_t gfp_flags, int node)
{
	/* The tracepoint passes the local node also if the caller requested no node. */
	if (node == numa_mem_id())
		node = NUMA_NO_NODE;
	kmemtrace_record_alloc(KMEMTRACE_TYPE_PAGES, call_site,
			       kmemtrace_page(page), bytes_req, bytes_alloc,
			       gfp_flags, node, KMEMTRACE_CACHE_NONE, false);
}
NOKPROBE_SYMBOL(probe_page_alloc);

static void probe_page_free(void *data, unsigned long call_site,
			    struct page *page)
{
	kmemtrace_record_free(KMEMTRACE_TYPE_PAGES, call_site,
			      kmemtrace_page(page), KMEMTRACE_CACHE_NONE);
}
NOKPROBE_SYMBOL(probe_page_free);

KMEMTRACE_ONLY_PROBE(kmemtrace_page_free, probe_page_free);
KMEMTRACE_ONLY_PROBE(kmemtrace_page_alloc, probe_page_alloc);

static struct kmemtrace_event_source kmemtrace_pages_sources[] = {
	KMEMTRACE_EVENT_SOURCE("page_alloc", ALLOC, PAGES,
			       kmemtrace_page_alloc_probes),
	KMEMTRACE_EVENT_SOURCE("page_free", FREE, PAGES,
			       kmemtrace_page_free_probes),
};

KMEMTRACE_SOURCES_FEATURE(kmemtrace_pages);
