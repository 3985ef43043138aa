// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the hooks of the allocators, out of line, called where a tracepoint
 * of <trace/events/kmemtrace.h> is on.  <linux/kmemtrace.h> documents each hook.
 */

#include <linux/align.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#define CREATE_TRACE_POINTS
#include <linux/kmemtrace.h>

#include "internal.h"

/*
 * Make one record as a part of operation @op.  The first record of the operation
 * unwinds the stack, and the others use the same number.
 */
#define kmemtrace_part(op, record)					\
	do {								\
		kmemtrace_operation_enter(op);				\
		(record);						\
		kmemtrace_operation_leave(op);				\
	} while (0)

void __kmemtrace_krealloc(unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };

	kmemtrace_part(&op, trace_kmemtrace_kfree(call_site, ptr));
	kmemtrace_part(&op, trace_kmemtrace_kmalloc(call_site, ptr, bytes_req,
						    bytes_alloc, gfp_flags));
}

void __kmemtrace_cache_alloc_bulk(unsigned long call_site,
				  struct kmem_cache *s, gfp_t gfp_flags,
				  size_t nr, void **p)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	size_t i;

	for (i = 0; i < nr; i++)
		kmemtrace_part(&op, trace_kmemtrace_cache_alloc(call_site, p[i],
								s, gfp_flags));
}

void __kmemtrace_free_bulk(unsigned long call_site, struct kmem_cache *s,
			   size_t nr, void **p)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	size_t i;

	for (i = 0; i < nr; i++) {
		kmemtrace_operation_enter(&op);
		if (s)
			trace_kmemtrace_cache_free(call_site, p[i], s);
		else
			trace_kmemtrace_kfree(call_site, p[i]);
		kmemtrace_operation_leave(&op);
	}
}

static void kmemtrace_range(struct kmemtrace_operation *op, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags)
{
	while (bytes_req) {
		size_t bytes = min_t(size_t, bytes_req, PAGE_SIZE);

		kmemtrace_part(op, kmemtrace_tell_pages(op->call_site, page,
							bytes, PAGE_SIZE,
							gfp_flags,
							NUMA_NO_NODE));
		page = nth_page(page, 1);
		bytes_req -= bytes;
	}
}

void __kmemtrace_page_range(unsigned long call_site, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };

	kmemtrace_range(&op, page, bytes_req, gfp_flags);
}

void __kmemtrace_page_alloc_list(unsigned long call_site,
				 struct list_head *pages, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	struct page *page;

	list_for_each_entry(page, pages, lru)
		kmemtrace_part(&op, kmemtrace_tell_pages(call_site, page,
							 PAGE_SIZE, PAGE_SIZE,
							 gfp_flags,
							 NUMA_NO_NODE));
}

void __kmemtrace_page_alloc_array(unsigned long call_site, struct page **pages,
				  unsigned long nr, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	unsigned long i;

	for (i = 0; i < nr; i++)
		kmemtrace_part(&op, kmemtrace_tell_pages(call_site, pages[i],
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

void __kmemtrace_page_free_list(unsigned long call_site,
				struct list_head *pages)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	struct page *page;

	if (in_kmemtrace_wrapper(call_site))
		return;
	list_for_each_entry(page, pages, lru)
		kmemtrace_part(&op, trace_kmemtrace_page_free(call_site, page));
}

void __kmemtrace_page_split(unsigned long call_site, struct page *page,
			    unsigned int order)
{
	struct kmemtrace_operation op = { .call_site = call_site };

	kmemtrace_test_enter(KMEMTRACE_TEST_SPLIT);
	kmemtrace_part(&op, trace_kmemtrace_page_free(call_site, page));
	kmemtrace_range(&op, page, PAGE_SIZE << order, (__force gfp_t)0);
	kmemtrace_test_leave(KMEMTRACE_TEST_SPLIT);
}

void __kmemtrace_percpu_alloc(unsigned long call_site, const void __percpu *ptr,
			      size_t size, gfp_t gfp_flags)
{
	size_t bytes_alloc = ALIGN(size, PCPU_MIN_ALLOC_SIZE);

	if (ptr)
		trace_kmemtrace_percpu_alloc(call_site,
					     (__force const void *)ptr,
					     size * num_possible_cpus(),
					     bytes_alloc * num_possible_cpus(),
					     gfp_flags);
}
