/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: hooks for the memory allocators.
 *
 * The allocators call these hooks where no kmem tracepoint reports an allocation or
 * a free.  An allocation is reported after the memory was allocated, and a free
 * before the memory is released; otherwise another CPU's allocation of the same
 * memory could be recorded before its free.
 *
 * Context of the hooks: any but NMI, any locks held, interrupts on or off.  While
 * tracing is off each hook is the no-op of a tracepoint.
 */
#ifndef _LINUX_KMEMTRACE_H
#define _LINUX_KMEMTRACE_H

#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct task_struct;

#ifdef CONFIG_KMEMTRACE

#include <trace/events/kmemtrace.h>

/*
 * Marks a function that allocates pages, or frees lists of pages, on behalf of its
 * caller, and reports them to kmemtrace with the address of that caller.  Reports
 * of functions below the wrapper are dropped, because they return to an address in
 * the section of the wrappers.  So a page has one record, from the outermost
 * wrapper, and while tracing is off the caller's address need not be passed down.
 * A wrapper is noinline: inlined, its return address would be that of its caller.
 */
#define __kmemtrace_wrapper	__section(".text..kmemtrace")

/* The section of all wrappers, from the linker script. */
extern char __kmemtrace_text_start[], __kmemtrace_text_end[];

/**
 * in_kmemtrace_wrapper - test for the address of a wrapper
 * @addr: return address
 *
 * Return: whether @addr is in a function that is marked as __kmemtrace_wrapper.
 */
static __always_inline bool in_kmemtrace_wrapper(unsigned long addr)
{
	return addr >= (unsigned long)__kmemtrace_text_start &&
	       addr < (unsigned long)__kmemtrace_text_end;
}

void __init kmemtrace_init(void);

/**
 * kmemtrace_snapshot - keep the records up to now
 *
 * Make the records up to now the snapshot, in place of the snapshot before, and go
 * on recording.  This needs spare buffers.  Without them, write a STOP record and
 * stop tracing until user space switches it on again, so that the records are kept.
 * Do nothing where no event is recorded, or while another CPU takes a snapshot.
 *
 * For debugging, as tracing_snapshot(): released code does not call this.
 *
 * Context: any; in NMI context the call is only counted.  Does not wait, and
 * allocates nothing.
 */
void kmemtrace_snapshot(void);

/**
 * kmemtrace_snapshot_alloc - allocate spare buffers and keep the records up to now
 *
 * As kmemtrace_snapshot(), but allocate the spare buffers first if there are none.
 * If there is no memory, log this and take no snapshot; tracing goes on.
 *
 * Context: process context.  Sleeps.
 */
void kmemtrace_snapshot_alloc(void);

/**
 * kmemtrace_oom - fire the triggers of the OOM killer
 *
 * Called before the OOM killer kills a task, and if it found no task to kill.
 *
 * Context: any but NMI.
 */
void kmemtrace_oom(void);

/**
 * kmemtrace_alloc_failed - fire the triggers of failed allocations
 *
 * Called when an allocation of pages without __GFP_NOWARN has failed.
 *
 * Context: any but NMI.
 */
void kmemtrace_alloc_failed(void);

/**
 * struct kmemtrace_operation - an operation of several records with one stack
 * @call_site: the call site of all its records
 * @stack: number of the stack, valid if @saved
 * @saved: whether the stack was saved
 *
 * With kmemtrace.stacks=yes unwinding takes longer than the rest of a record, so
 * the stack of an operation is unwound once.
 */
struct kmemtrace_operation {
	unsigned long	call_site;
	u32		stack;
	bool		saved;
};

/* Save the stack of an operation at once, so that none is unwound under a lock. */
void __kmemtrace_operation_begin(struct kmemtrace_operation *op);

void __kmemtrace_krealloc(unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc,
			  gfp_t gfp_flags);
void __kmemtrace_cache_alloc_bulk(unsigned long call_site,
				  struct kmem_cache *s, gfp_t gfp_flags,
				  size_t nr, void **p);
void __kmemtrace_free_bulk(unsigned long call_site, struct kmem_cache *s,
			   size_t nr, void **p);
void __kmemtrace_page_range(unsigned long call_site, struct page *page,
			    size_t bytes_req, gfp_t gfp_flags);
void __kmemtrace_page_alloc_list(unsigned long call_site,
				 struct list_head *pages, gfp_t gfp_flags);
void __kmemtrace_page_alloc_array(unsigned long call_site,
				  struct page **pages, unsigned long nr,
				  gfp_t gfp_flags);
void __kmemtrace_page_free_list(unsigned long call_site,
				struct list_head *pages);
void __kmemtrace_page_split(unsigned long call_site, struct page *page,
			    unsigned int order);
void __kmemtrace_page_alloc_part(struct kmemtrace_operation *op,
				 struct page *page, unsigned int order,
				 gfp_t gfp_flags, int node);
void __kmemtrace_page_free_part(struct kmemtrace_operation *op,
				struct page *page);
void __kmemtrace_percpu_alloc(unsigned long call_site, const void __percpu *ptr,
			      size_t size, gfp_t gfp_flags);

/**
 * kmemtrace_cache_created - add a cache to the table of caches
 * @s: a cache that was created
 *
 * Context: slab_mutex is held.  Sleeps.
 */
void kmemtrace_cache_created(struct kmem_cache *s);

/**
 * kmemtrace_cache_merged - update the object size of a cache in the table
 * @s: a cache with which another one was merged
 *
 * Context: slab_mutex is held.  Sleeps.
 */
void kmemtrace_cache_merged(struct kmem_cache *s);

/**
 * kmemtrace_cache_destroyed - note in the table that a cache is gone
 * @s: a cache that is being destroyed
 *
 * Context: slab_mutex is held.  Sleeps.
 */
void kmemtrace_cache_destroyed(struct kmem_cache *s);

/* The current task @p will not allocate any more. */
#define kmemtrace_task_exit(p)	trace_kmemtrace_task_exit(p)

/*
 * The hooks are macros, so that no argument is evaluated while the tracepoint is
 * off.  A hook that makes several records calls a function out of line, so that the
 * allocator contains nothing but the no-op.
 */
#define kmemtrace_hook(tracepoint, call)				\
	do {								\
		if (trace_##tracepoint##_enabled())			\
			(call);						\
	} while (0)

/* krealloc() kept the object in place: record a free and an allocation. */
#define kmemtrace_krealloc(call_site, ptr, bytes_req, bytes_alloc, gfp_flags) \
	kmemtrace_hook(kmemtrace_kmalloc,				\
		       __kmemtrace_krealloc(call_site, ptr, bytes_req,	\
					    bytes_alloc, gfp_flags))

/* @nr objects of cache @s were allocated at once. */
#define kmemtrace_cache_alloc_bulk(call_site, s, gfp_flags, nr, p)	\
	kmemtrace_hook(kmemtrace_cache_alloc,				\
		       __kmemtrace_cache_alloc_bulk(call_site, s, gfp_flags, \
						    nr, p))

/*
 * @nr objects are about to be freed at once; @s is NULL for kfree_bulk().  Each of
 * the two events may be off by itself.
 */
#define kmemtrace_free_bulk(call_site, s, nr, p)			\
	do {								\
		if (trace_kmemtrace_kfree_enabled() ||			\
		    trace_kmemtrace_cache_free_enabled())		\
			__kmemtrace_free_bulk(call_site, s, nr, p);	\
	} while (0)

/*
 * Record that pages were allocated.  @page may be NULL if the allocation failed.  The
 * report of a function that a wrapper calls is dropped, because the wrapper reports
 * the page itself.
 */
static __always_inline void
kmemtrace_report_pages(unsigned long call_site, struct page *page,
		     size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		     int node)
{
	if (trace_kmemtrace_page_alloc_enabled() && page &&
	    !in_kmemtrace_wrapper(call_site))
		trace_kmemtrace_page_alloc(call_site, page, bytes_req,
					   bytes_alloc, gfp_flags, node);
}

/* 1 << @order pages were allocated; @page is NULL if that failed. */
static __always_inline void
kmemtrace_page_alloc(unsigned long call_site, struct page *page,
		     unsigned int order, gfp_t gfp_flags, int node)
{
	kmemtrace_report_pages(call_site, page, PAGE_SIZE << order,
			     PAGE_SIZE << order, gfp_flags, node);
}

/*
 * Allocation or free of many pages: the struct kmemtrace_operation @op begins before
 * the allocator's locks are taken, and each page is recorded as a part of @op.
 */
#define kmemtrace_operation_init(op, site)				\
	do {								\
		(op)->call_site = (site);				\
		(op)->saved = false;					\
	} while (0)

#define kmemtrace_operation_begin(op, site)				\
	do {								\
		kmemtrace_operation_init(op, site);			\
		kmemtrace_hook(kmemtrace_page_alloc,			\
			       __kmemtrace_operation_begin(op));	\
	} while (0)

#define kmemtrace_page_alloc_part(op, page, order, gfp_flags, node)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_alloc_part(op, page, order,	\
						   gfp_flags, node))

#define kmemtrace_page_free_part(op, page)				\
	kmemtrace_hook(kmemtrace_page_free,				\
		       __kmemtrace_page_free_part(op, page))

/*
 * Single pages for @bytes_req bytes were allocated, which are freed one by one.  The
 * requested size of the last page is the rest of @bytes_req.
 */
#define kmemtrace_page_range(call_site, page, bytes_req, gfp_flags)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_range(call_site, page, bytes_req, \
					      gfp_flags))

/* The single pages of a list linked through page->lru were allocated. */
#define kmemtrace_page_alloc_list(call_site, pages, gfp_flags)		\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_alloc_list(call_site, pages,	\
						   gfp_flags))

/* The single pages of an array were allocated. */
#define kmemtrace_page_alloc_array(call_site, pages, nr, gfp_flags)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_alloc_array(call_site, pages, nr, \
						    gfp_flags))

/* The last reference to @page was released, and @page is about to be freed. */
#define kmemtrace_page_free(call_site, page)				\
	trace_kmemtrace_page_free(call_site, page)

/* The pages of a list are about to be freed, unless a wrapper has recorded that. */
#define kmemtrace_page_free_list(call_site, pages)			\
	kmemtrace_hook(kmemtrace_page_free,				\
		       __kmemtrace_page_free_list(call_site, pages))

/*
 * An allocation of 1 << @order pages is about to become single pages.  Record its
 * free and the allocation of the single pages, because they are freed one by one.
 */
#define kmemtrace_page_split(call_site, page, order)			\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_split(call_site, page, order))

/*
 * @size bytes were allocated for each possible CPU; @ptr is NULL if that failed.  The
 * functions that the kernel calls report this, because they have the requested size:
 * the trace event percpu_alloc_percpu has the rounded size, and the address of one
 * of these functions for a call site.
 */
#define kmemtrace_percpu_alloc(call_site, ptr, size, gfp_flags)		\
	kmemtrace_hook(kmemtrace_percpu_alloc,				\
		       __kmemtrace_percpu_alloc(call_site, ptr, size,	\
						gfp_flags))

/* @ptr, which is not NULL, is about to be freed. */
#define kmemtrace_percpu_free(call_site, ptr)				\
	trace_kmemtrace_percpu_free(call_site, (__force const void *)(ptr))

/*
 * An area that vfree() releases was allocated.  @bytes_alloc is its size without the
 * guard page.
 */
#define kmemtrace_vmalloc_alloc(call_site, ptr, bytes_req, bytes_alloc,	\
				gfp_flags, node)			\
	trace_kmemtrace_vmalloc_alloc(call_site, ptr, bytes_req,	\
				      bytes_alloc, gfp_flags, node)

/* @ptr, which is not NULL, is about to be freed, now or by a work item. */
#define kmemtrace_vmalloc_free(call_site, ptr)				\
	trace_kmemtrace_vmalloc_free(call_site, ptr)

#else /* !CONFIG_KMEMTRACE */

#define __kmemtrace_wrapper

struct kmemtrace_operation {
};

static inline void kmemtrace_operation_begin(struct kmemtrace_operation *op,
					     unsigned long call_site)
{
}

static inline void kmemtrace_operation_init(struct kmemtrace_operation *op,
					    unsigned long call_site)
{
}

static inline void kmemtrace_page_free_part(struct kmemtrace_operation *op,
					    struct page *page)
{
}

static inline void kmemtrace_page_alloc_part(struct kmemtrace_operation *op,
					     struct page *page,
					     unsigned int order,
					     gfp_t gfp_flags, int node)
{
}

static inline void kmemtrace_init(void)
{
}

static inline void kmemtrace_snapshot(void)
{
}

static inline void kmemtrace_snapshot_alloc(void)
{
}

static inline void kmemtrace_oom(void)
{
}

static inline void kmemtrace_alloc_failed(void)
{
}

static inline void kmemtrace_cache_created(struct kmem_cache *s)
{
}

static inline void kmemtrace_cache_merged(struct kmem_cache *s)
{
}

static inline void kmemtrace_cache_destroyed(struct kmem_cache *s)
{
}

static inline void kmemtrace_task_exit(struct task_struct *p)
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

static inline void kmemtrace_percpu_alloc(unsigned long call_site,
					  const void __percpu *ptr, size_t size,
					  gfp_t gfp_flags)
{
}

static inline void kmemtrace_percpu_free(unsigned long call_site,
					 const void __percpu *ptr)
{
}

static inline void kmemtrace_vmalloc_alloc(unsigned long call_site,
					   const void *ptr, size_t bytes_req,
					   size_t bytes_alloc, gfp_t gfp_flags,
					   int node)
{
}

static inline void kmemtrace_vmalloc_free(unsigned long call_site,
					  const void *ptr)
{
}

#endif /* CONFIG_KMEMTRACE */

#endif /* _LINUX_KMEMTRACE_H */
