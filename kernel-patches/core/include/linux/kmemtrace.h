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

struct task_struct;

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

/* All of them; from the linker script. */
extern char __kmemtrace_text_start[], __kmemtrace_text_end[];

static __always_inline bool in_kmemtrace_wrapper(unsigned long addr)
{
	return addr >= (unsigned long)__kmemtrace_text_start &&
	       addr < (unsigned long)__kmemtrace_text_end;
}

void __init kmemtrace_init(void);

/*
 * Snapshots, for debugging, as tracing_snapshot() is: calls of these stay in no
 * code that is released.
 *
 * kmemtrace_snapshot() makes what was recorded up to now the snapshot, in place
 * of the one before, and recording goes on.  It needs spare buffers; without
 * them it says so in the trace and stops tracing, which keeps what there is,
 * until it is switched on again.  Where nothing is recorded, or while another
 * CPU takes a snapshot, it does nothing.  Context: any but NMI, where it does
 * nothing but count.  It waits for nobody and allocates nothing.
 *
 * kmemtrace_snapshot_alloc() allocates the spare buffers first, if there are
 * none; if it cannot, it tells the kernel's log, takes none, and tracing goes
 * on.  Sleeps.
 */
void kmemtrace_snapshot(void);
void kmemtrace_snapshot_alloc(void);

/*
 * For the triggers of snapshots: the OOM killer is about to kill, or found
 * nobody to kill; an allocation of pages failed that was not to fail silently.
 * Context: any but NMI.
 */
void kmemtrace_oom(void);
void kmemtrace_alloc_failed(void);

/*
 * One operation that makes several records, for which one stack is enough.  All
 * records of it have its call site.  With kmemtrace.stacks=yes unwinding takes
 * longer than all else that a record needs.
 */
struct kmemtrace_operation {
	unsigned long	call_site;
	u32		stack;		/* valid if saved */
	bool		saved;
};

/*
 * Begin an operation and save its stack at once, so that none is unwound later
 * under a lock.
 */
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

/*
 * A cache was made, became another one's too, or is no more, for the table of
 * caches.  Context: slab_mutex is held.  All sleep.
 */
void kmemtrace_cache_created(struct kmem_cache *s);
void kmemtrace_cache_merged(struct kmem_cache *s);
void kmemtrace_cache_destroyed(struct kmem_cache *s);

/* The task that runs will not allocate any more. */
#define kmemtrace_task_exit(p)	trace_kmemtrace_task_exit(p)

/*
 * Macros, so that nothing is evaluated while the tracepoint is off.  What is
 * more than one event is a call out of line, so that a hook is no more than the
 * no-op.
 */
#define kmemtrace_hook(tracepoint, call)				\
	do {								\
		if (trace_##tracepoint##_enabled())			\
			(call);						\
	} while (0)

/* krealloc() left the object where it is: a free and another allocation. */
#define kmemtrace_krealloc(call_site, ptr, bytes_req, bytes_alloc, gfp_flags) \
	kmemtrace_hook(kmemtrace_kmalloc,				\
		       __kmemtrace_krealloc(call_site, ptr, bytes_req,	\
					    bytes_alloc, gfp_flags))

/* nr objects of cache s were allocated at once. */
#define kmemtrace_cache_alloc_bulk(call_site, s, gfp_flags, nr, p)	\
	kmemtrace_hook(kmemtrace_cache_alloc,				\
		       __kmemtrace_cache_alloc_bulk(call_site, s, gfp_flags, \
						    nr, p))

/*
 * nr objects are about to be freed at once; s is NULL for kfree_bulk().  Either
 * of both events may be off by itself.
 */
#define kmemtrace_free_bulk(call_site, s, nr, p)			\
	do {								\
		if (trace_kmemtrace_kfree_enabled() ||			\
		    trace_kmemtrace_cache_free_enabled())		\
			__kmemtrace_free_bulk(call_site, s, nr, p);	\
	} while (0)

/*
 * One piece of memory was allocated.  page may be NULL: it was not.  A wrapper's
 * callee tells it in vain: the wrapper does so too.
 */
static __always_inline void
kmemtrace_tell_pages(unsigned long call_site, struct page *page,
		     size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
		     int node)
{
	if (trace_kmemtrace_page_alloc_enabled() && page &&
	    !in_kmemtrace_wrapper(call_site))
		trace_kmemtrace_page_alloc(call_site, page, bytes_req,
					   bytes_alloc, gfp_flags, node);
}

/* 1 << order pages were allocated, or, with page NULL, not. */
static __always_inline void
kmemtrace_page_alloc(unsigned long call_site, struct page *page,
		     unsigned int order, gfp_t gfp_flags, int node)
{
	kmemtrace_tell_pages(call_site, page, PAGE_SIZE << order,
			     PAGE_SIZE << order, gfp_flags, node);
}

/*
 * Allocation or free of many pages: op, a struct kmemtrace_operation, is begun
 * before the allocator's locks are taken, and each page is recorded as a part of
 * it.
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
 * Single pages for bytes_req bytes were allocated, to be freed one by one.  The
 * last one carries what bytes_req lacks to whole pages as its waste.
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

/* The last reference to page is gone and it is about to be freed. */
#define kmemtrace_page_free(call_site, page)				\
	trace_kmemtrace_page_free(call_site, page)

/* The pages of a list are about to be freed, unless a wrapper has recorded that. */
#define kmemtrace_page_free_list(call_site, pages)			\
	kmemtrace_hook(kmemtrace_page_free,				\
		       __kmemtrace_page_free_list(call_site, pages))

/*
 * An allocation of 1 << order pages is about to become as many single pages:
 * told as its free and their allocation, because they are freed one by one.
 */
#define kmemtrace_page_split(call_site, page, order)			\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_split(call_site, page, order))

/*
 * size bytes were allocated for each possible CPU.  ptr may be NULL: they were
 * not.  Told by the functions that the kernel calls, which know what was asked
 * for: percpu_alloc_percpu, the trace event, comes when that was rounded up, and
 * has the address of one of them for a call site.
 */
#define kmemtrace_percpu_alloc(call_site, ptr, size, gfp_flags)		\
	kmemtrace_hook(kmemtrace_percpu_alloc,				\
		       __kmemtrace_percpu_alloc(call_site, ptr, size,	\
						gfp_flags))

/* ptr, which is not NULL, is about to be freed. */
#define kmemtrace_percpu_free(call_site, ptr)				\
	trace_kmemtrace_percpu_free(call_site, (__force const void *)(ptr))

/* An area that vfree() gives back was made, of bytes_alloc without its guard. */
#define kmemtrace_vmalloc_alloc(call_site, ptr, bytes_req, bytes_alloc,	\
				gfp_flags, node)			\
	trace_kmemtrace_vmalloc_alloc(call_site, ptr, bytes_req,	\
				      bytes_alloc, gfp_flags, node)

/* ptr, which is not NULL, is about to be freed, now or a little later. */
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
