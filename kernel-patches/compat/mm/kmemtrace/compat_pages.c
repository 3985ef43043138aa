// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the hooks for lists of single pages, which Linux 6.10 replaces by batches
 * of folios.  <linux/kmemtrace_compat.h> declares the hooks.
 */

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)

#include <linux/kmemtrace.h>
#include <linux/list.h>
#include <linux/mm.h>

#include "operation.h"

void __kmemtrace_page_alloc_list(unsigned long call_site,
				 struct list_head *pages, gfp_t gfp_flags)
{
	struct kmemtrace_operation op = { .call_site = call_site };
	struct page *page;

	list_for_each_entry(page, pages, lru)
		kmemtrace_part(&op, kmemtrace_page_alloc(call_site, page, 0,
							 gfp_flags,
							 NUMA_NO_NODE));
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

#endif
