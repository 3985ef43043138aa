/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: hooks for the memory allocators.
 *
 * The allocators call these where no kmem tracepoint tells of an allocation or
 * a free.  An allocation is told after the memory was taken and a free before
 * it is given back; otherwise another CPU's allocation of the same memory could
 * be recorded before its free.
 *
 * Context: any but NMI, any locks held, interrupts on or off.  Where kmemtrace
 * is off each hook is the no-op of a tracepoint.
 */
#ifndef _LINUX_KMEMTRACE_H
#define _LINUX_KMEMTRACE_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/types.h>

#ifdef CONFIG_KMEMTRACE

#include <trace/events/kmemtrace.h>

/*
 * A function that allocates pages, or frees lists of them, on behalf of its
 * caller and tells kmemtrace itself, with the caller's address.  What is told
 * below it is left out: by the address that it returns to.  So a page has one
 * record, from the outermost wrapper, and while kmemtrace is off the caller's
 * address need not be handed down.  Always with noinline: inlined, the address
 * would be another's.
 */
#define __kmemtrace_wrapper	__section(".text..kmemtrace")

void __init kmemtrace_init(void);

void __kmemtrace_page_range(unsigned long call_site, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags);
void __kmemtrace_page_split(unsigned long call_site, struct page *page,
			    unsigned int order);
void __kmemtrace_page_alloc_list(unsigned long call_site,
				 struct list_head *pages, gfp_t gfp_flags);
void __kmemtrace_page_free_list(unsigned long call_site,
				struct list_head *pages);

/* krealloc() left the object where it is. */
static inline void kmemtrace_krealloc(unsigned long call_site, const void *ptr,
				      size_t bytes_req, size_t bytes_alloc,
				      gfp_t gfp_flags)
{
	trace_kmemtrace_kfree(call_site, ptr);
	trace_kmemtrace_kmalloc(call_site, ptr, bytes_req, bytes_alloc,
				gfp_flags);
}

/* nr objects of cache s were allocated at once. */
static inline void kmemtrace_cache_alloc_bulk(unsigned long call_site,
					      struct kmem_cache *s,
					      gfp_t gfp_flags, size_t nr,
					      void **p)
{
	size_t i;

	if (!trace_kmemtrace_cache_alloc_enabled())
		return;
	for (i = 0; i < nr; i++)
		trace_kmemtrace_cache_alloc(call_site, p[i], s, gfp_flags);
}

/* nr objects are about to be freed at once; s is NULL for kfree_bulk(). */
static inline void kmemtrace_free_bulk(unsigned long call_site,
				       struct kmem_cache *s, size_t nr,
				       void **p)
{
	size_t i;

	if (!trace_kmemtrace_kfree_enabled())
		return;
	for (i = 0; i < nr; i++) {
		if (s)
			trace_kmemtrace_cache_free(call_site, p[i]);
		else
			trace_kmemtrace_kfree(call_site, p[i]);
	}
}

/* 1 << order pages were allocated.  page may be NULL. */
static inline void kmemtrace_page_alloc(unsigned long call_site,
					struct page *page, unsigned int order,
					gfp_t gfp_flags, int node)
{
	trace_kmemtrace_page_alloc(call_site, page, PAGE_SIZE << order,
				   PAGE_SIZE << order, gfp_flags, node);
}

/*
 * Single pages for bytes_req bytes were allocated, to be freed one by one.  The
 * last one carries what bytes_req lacks to whole pages as its waste.
 */
static inline void kmemtrace_page_range(unsigned long call_site,
					struct page *page, size_t bytes_req,
					gfp_t gfp_flags)
{
	if (trace_kmemtrace_page_alloc_enabled())
		__kmemtrace_page_range(call_site, page, bytes_req, gfp_flags);
}

/* The single pages of a list linked through page->lru were allocated. */
static inline void kmemtrace_page_alloc_list(unsigned long call_site,
					     struct list_head *pages,
					     gfp_t gfp_flags)
{
	if (trace_kmemtrace_page_alloc_enabled())
		__kmemtrace_page_alloc_list(call_site, pages, gfp_flags);
}

/* Likewise those of an array. */
static inline void kmemtrace_page_alloc_array(unsigned long call_site,
					      struct page **pages,
					      unsigned long nr,
					      gfp_t gfp_flags)
{
	unsigned long i;

	if (!trace_kmemtrace_page_alloc_enabled())
		return;
	for (i = 0; i < nr; i++)
		kmemtrace_page_alloc(call_site, pages[i], 0, gfp_flags,
				     NUMA_NO_NODE);
}

/* The last reference to page is gone and it is about to be freed. */
static inline void kmemtrace_page_free(unsigned long call_site,
				       struct page *page)
{
	trace_kmemtrace_page_free(call_site, page);
}

/* Likewise for each page of a list, unless a wrapper has told of them. */
static inline void kmemtrace_page_free_list(unsigned long call_site,
					    struct list_head *pages)
{
	if (trace_kmemtrace_page_free_enabled())
		__kmemtrace_page_free_list(call_site, pages);
}

/*
 * An allocation of 1 << order pages is about to become as many single pages:
 * told as its free and their allocation, because they are freed one by one.
 */
static inline void kmemtrace_page_split(unsigned long call_site,
					struct page *page, unsigned int order)
{
	if (trace_kmemtrace_page_alloc_enabled())
		__kmemtrace_page_split(call_site, page, order);
}

#else /* !CONFIG_KMEMTRACE */

#define __kmemtrace_wrapper

static inline void kmemtrace_init(void)
{
}

static inline void kmemtrace_krealloc(unsigned long call_site, const void *ptr,
				      size_t bytes_req, size_t bytes_alloc,
				      gfp_t gfp_flags)
{
}

static inline void kmemtrace_cache_alloc_bulk(unsigned long call_site,
					      struct kmem_cache *s,
					      gfp_t gfp_flags, size_t nr,
					      void **p)
{
}

static inline void kmemtrace_free_bulk(unsigned long call_site,
				       struct kmem_cache *s, size_t nr,
				       void **p)
{
}

static inline void kmemtrace_page_alloc(unsigned long call_site,
					struct page *page, unsigned int order,
					gfp_t gfp_flags, int node)
{
}

static inline void kmemtrace_page_range(unsigned long call_site,
					struct page *page, size_t bytes_req,
					gfp_t gfp_flags)
{
}

static inline void kmemtrace_page_alloc_list(unsigned long call_site,
					     struct list_head *pages,
					     gfp_t gfp_flags)
{
}

static inline void kmemtrace_page_alloc_array(unsigned long call_site,
					      struct page **pages,
					      unsigned long nr,
					      gfp_t gfp_flags)
{
}

static inline void kmemtrace_page_free(unsigned long call_site,
				       struct page *page)
{
}

static inline void kmemtrace_page_free_list(unsigned long call_site,
					    struct list_head *pages)
{
}

static inline void kmemtrace_page_split(unsigned long call_site,
					struct page *page, unsigned int order)
{
}

#endif /* CONFIG_KMEMTRACE */

#endif /* _LINUX_KMEMTRACE_H */
