/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: hooks for the memory allocators.
 *
 * The allocators call these hooks where no kmem tracepoint reports an allocation or
 * a free with its caller.  An allocation is reported after the memory was allocated,
 * and a free before the memory is released; otherwise a free could be recorded after
 * another CPU's next allocation of the same memory.
 *
 * The hooks of allocations and frees may be called in any context, with any locks held,
 * and with interrupts on or off.  While tracing is off each of them is the no-op of one
 * or two tracepoints.  A hook returns nothing and never fails: an event that cannot be
 * recorded, as in NMI context, is counted as lost.  The comments of the other functions
 * state the contexts of these functions.
 *
 * One unit: all hooks are in one header, so that an allocator includes only this
 * header.
 */
#ifndef _LINUX_KMEMTRACE_H
#define _LINUX_KMEMTRACE_H

#include <linux/kmemtrace_compat.h>
#include <linux/mm_types.h>
#include <linux/types.h>

struct cgroup;
struct folio_batch;
struct task_struct;

#ifdef CONFIG_KMEMTRACE

#include <trace/events/kmemtrace.h>

/*
 * Mark a function as a wrapper: a function that allocates pages, or frees lists of
 * pages, on behalf of its caller, and reports them to kmemtrace with the address of
 * that caller, or is called only by such functions.  A function that a wrapper calls
 * returns to an address in the section of the wrappers.  kmemtrace drops the reports of
 * such a function, so a page has one record, from the outermost wrapper.  A wrapper
 * need not pass the address of its caller down, which would take time while tracing is
 * off.  A wrapper must be noinline, because an inlined wrapper is not in the section,
 * and would report the return address of the function into which it is inlined.
 */
#define __kmemtrace_wrapper	__section(".text..kmemtrace")

/* Start and end of the section of all wrappers; the linker script defines them. */
extern char __kmemtrace_text_start[], __kmemtrace_text_end[];

/**
 * in_kmemtrace_wrapper - test for the address of a wrapper
 * @addr: return address
 *
 * Context: any.
 * Return: whether @addr is in a function that is marked as __kmemtrace_wrapper.
 */
static __always_inline bool in_kmemtrace_wrapper(unsigned long addr)
{
	return addr >= (unsigned long)__kmemtrace_text_start &&
	       addr < (unsigned long)__kmemtrace_text_end;
}

/**
 * kmemtrace_init - initialise kmemtrace, and begin to trace if the command line
 * requests it
 *
 * Context: early boot, once the slab allocator and vmalloc work.  One CPU runs, with
 * interrupts off.
 */
void __init kmemtrace_init(void);

/**
 * kmemtrace_snapshot - preserve the current records as a snapshot
 *
 * Make the current records the snapshot, which replaces the previous snapshot.
 * Continue to record into the spare buffers or, without spare buffers, into the buffers
 * of the previous snapshot, whose records are dropped.  If there are neither, write a
 * STOP record (since version 2 of the records) and stop tracing until user space
 * switches tracing on again, so that the current records are preserved.  Do nothing
 * while tracing is off.  Take no snapshot, and only count the call, while another CPU
 * takes a snapshot, or if a probe or a WARN inside of kmemtrace calls this function.
 *
 * The function is meant for debugging, as tracing_snapshot() is: released code does
 * not call it.
 *
 * Context: any; in NMI context the call is only counted.  Does not sleep, and
 * allocates nothing.
 */
void kmemtrace_snapshot(void);

/**
 * kmemtrace_snapshot_alloc - allocate spare buffers and preserve the current records
 *
 * Allocate spare buffers if there are neither spare buffers nor a snapshot, and do what
 * kmemtrace_snapshot() does.  If there is no memory for the buffers, log the failure
 * and take no snapshot; tracing continues.
 *
 * Context: process context.  Sleeps.
 */
void kmemtrace_snapshot_alloc(void);

/**
 * kmemtrace_oom - fire the triggers of the OOM killer
 *
 * The OOM killer calls this function before it kills a task, and if it found no task
 * to kill.
 *
 * Context: any but NMI.
 */
void kmemtrace_oom(void);

/**
 * kmemtrace_alloc_failed - fire the triggers of failed allocations
 *
 * warn_alloc() calls this function when an allocation of pages or of vmalloc() without
 * __GFP_NOWARN has failed.
 *
 * Context: any but NMI.
 */
void kmemtrace_alloc_failed(void);

/**
 * struct kmemtrace_operation - an operation whose records share one stack
 * @call_site: call site of all records of the operation
 * @stack: number of the operation's stack in the table of stacks, or 0 if the stack got
 *	no number; valid if @saved is true
 * @saved: whether a record or kmemtrace_operation_begin() has set @stack
 *
 * With kmemtrace.stacks=yes unwinding takes longer than the rest of a record, so
 * the stack of an operation is unwound once.
 */
struct kmemtrace_operation {
	unsigned long	call_site;
	u32		stack;
	bool		saved;
};

/*
 * The functions below are the out-of-line parts of the macros of the same name
 * without underscores.  The comments of the macros describe the parameters.  A macro
 * calls its function only while a tracepoint that the function fires is on.  Context:
 * as for the hooks.
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
void __kmemtrace_page_contig(unsigned long call_site, struct page *page,
			     unsigned long nr_pages, gfp_t gfp_flags);
void __kmemtrace_page_alloc_array(unsigned long call_site,
				  struct page **pages, unsigned long nr,
				  gfp_t gfp_flags);
void __kmemtrace_page_free_folios(unsigned long call_site,
				  struct folio_batch *folios);
void __kmemtrace_page_split(unsigned long call_site, struct page *page,
			    unsigned int order, unsigned int new_order);
void __kmemtrace_page_alloc_part(struct kmemtrace_operation *op,
				 struct page *page, unsigned int order,
				 gfp_t gfp_flags, int node);
void __kmemtrace_page_free_part(struct kmemtrace_operation *op,
				struct page *page);
void __kmemtrace_percpu_alloc(unsigned long call_site, const void __percpu *ptr,
			      size_t size, gfp_t gfp_flags);
void __kmemtrace_vrealloc(unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp_flags,
			  int node);
void __kmemtrace_defer(unsigned long call_site, const void *ptr);

/**
 * kmemtrace_cache_created - add a cache to the table of caches
 * @s: the created cache
 *
 * Do nothing before the first session, or with version 1 of the records.  If there is
 * no memory for the entry, or all numbers are in use, the cache gets no number.  The
 * line "unnumbered" of the table is the number of such caches.
 *
 * Context: slab_mutex is held.  Sleeps.
 */
void kmemtrace_cache_created(struct kmem_cache *s);

/**
 * kmemtrace_cache_merged - update the object size of a cache in the table
 * @s: cache with which another cache was merged
 *
 * Context: slab_mutex is held.  Sleeps.
 */
void kmemtrace_cache_merged(struct kmem_cache *s);

/**
 * kmemtrace_cache_destroyed - mark a cache as destroyed in the table of caches
 * @s: cache that is about to be destroyed
 *
 * Context: slab_mutex is held.  Sleeps.
 */
void kmemtrace_cache_destroyed(struct kmem_cache *s);

/**
 * kmemtrace_task_exit - report the end of a task
 * @p: the current task, which allocates no more memory
 *
 * Context: process context.
 */
#define kmemtrace_task_exit(p)	trace_kmemtrace_task_exit(p)

/**
 * kmemtrace_task_moves - report that a task changes its cgroups
 * @p: task that is about to move, and is still in its old cgroups
 * @from: its cgroup in the default hierarchy (version 2)
 * @to: its next cgroup in the default hierarchy, which may be the same
 *
 * Context: css_set_lock is held, with interrupts off.
 */
#define kmemtrace_task_moves(p, from, to)	trace_kmemtrace_task_moves(p, from, to)

/**
 * kmemtrace_hook - make a call while a tracepoint is on
 * @tracepoint: name of a tracepoint of kmemtrace
 * @call: expression that is evaluated while the tracepoint is on
 *
 * A hook that uses this macro evaluates no argument while the tracepoint is off.  A
 * hook that makes several records calls a function out of line, so that the allocator
 * contains nothing but the no-op.
 */
#define kmemtrace_hook(tracepoint, call)				\
	do {								\
		if (trace_##tracepoint##_enabled())			\
			(call);						\
	} while (0)

/**
 * kmemtrace_krealloc - record that krealloc() returned the same object
 * @call_site: return address of krealloc()
 * @ptr: the object
 * @bytes_req: new requested size in bytes
 * @bytes_alloc: size of the object in bytes, if the allocator does not store the size
 * @gfp_flags: flags that the caller passed
 *
 * The hook records a free and an allocation of the object.
 */
#define kmemtrace_krealloc(call_site, ptr, bytes_req, bytes_alloc, gfp_flags) \
	kmemtrace_hook(kmemtrace_kmalloc,				\
		       __kmemtrace_krealloc(call_site, ptr, bytes_req,	\
					    bytes_alloc, gfp_flags))

/**
 * kmemtrace_kmalloc - record an allocation that fires no kmem tracepoint
 * @call_site: return address of the function that allocated the object
 * @ptr: the object, or NULL if the allocation failed
 * @bytes_req: requested size in bytes
 * @bytes_alloc: size of the object in bytes
 * @gfp_flags: flags that the caller passed
 */
#define kmemtrace_kmalloc(call_site, ptr, bytes_req, bytes_alloc, gfp_flags) \
	kmemtrace_hook(kmemtrace_kmalloc,				\
		       trace_kmemtrace_kmalloc(call_site, ptr, bytes_req, \
					       bytes_alloc, gfp_flags))

/**
 * kmemtrace_kfree - record a free that fires no kmem tracepoint
 * @call_site: return address of the function that frees the object
 * @ptr: the object, which is about to be freed
 */
#define kmemtrace_kfree(call_site, ptr)					\
	trace_kmemtrace_kfree(call_site, ptr)

/**
 * kmemtrace_cache_alloc_bulk - record a bulk allocation of slab objects
 * @call_site: return address of the bulk function
 * @s: cache of the objects
 * @gfp_flags: flags that the caller passed
 * @nr: number of objects
 * @p: array of the objects
 */
#define kmemtrace_cache_alloc_bulk(call_site, s, gfp_flags, nr, p)	\
	kmemtrace_hook(kmemtrace_cache_alloc,				\
		       __kmemtrace_cache_alloc_bulk(call_site, s, gfp_flags, \
						    nr, p))

/**
 * kmemtrace_free_bulk - record a bulk free of slab objects
 * @call_site: return address of the bulk function
 * @s: cache of the objects, or NULL for kfree_bulk() and kfree_rcu()
 * @nr: number of objects
 * @p: array of the objects, which are about to be freed
 *
 * Either tracepoint, kmemtrace_kfree or kmemtrace_cache_free, may be off while the
 * other is on; a free whose tracepoint is off is not recorded.
 */
#define kmemtrace_free_bulk(call_site, s, nr, p)			\
	do {								\
		if (trace_kmemtrace_kfree_enabled() ||			\
		    trace_kmemtrace_cache_free_enabled())		\
			__kmemtrace_free_bulk(call_site, s, nr, p);	\
	} while (0)

/**
 * kmemtrace_report_pages - record an allocation of pages by its sizes
 * @call_site: return address of the allocator's function
 * @page: the first page, or NULL if the allocation failed
 * @bytes_req: requested bytes
 * @bytes_alloc: allocated bytes
 * @gfp_flags: flags that the caller passed
 * @node: requested NUMA node, or NUMA_NO_NODE
 *
 * The call is ignored if a wrapper called the allocator's function, because the wrapper
 * reports the page itself.
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

/**
 * kmemtrace_page_alloc - record an allocation of pages by its order
 * @call_site: return address of the allocator's function
 * @page: the first page, or NULL if the allocation failed
 * @order: the allocation has 1 << @order pages
 * @gfp_flags: flags that the caller passed
 * @node: requested NUMA node, or NUMA_NO_NODE
 */
static __always_inline void
kmemtrace_page_alloc(unsigned long call_site, struct page *page,
		     unsigned int order, gfp_t gfp_flags, int node)
{
	kmemtrace_report_pages(call_site, page, PAGE_SIZE << order,
			     PAGE_SIZE << order, gfp_flags, node);
}

/**
 * kmemtrace_operation_init - initialise an operation without saving its stack
 * @op: the struct kmemtrace_operation
 * @site: call site of the records of the operation
 *
 * The first record of the operation saves the stack.
 */
#define kmemtrace_operation_init(op, site)				\
	do {								\
		(op)->call_site = (site);				\
		(op)->saved = false;					\
	} while (0)

/**
 * kmemtrace_operation_begin - initialise an operation and save its stack
 * @op: the struct kmemtrace_operation
 * @site: call site of the records of the operation
 *
 * A function that allocates many pages calls this before it acquires the allocator's
 * locks, so that no stack is unwound while they are held.
 */
#define kmemtrace_operation_begin(op, site)				\
	do {								\
		kmemtrace_operation_init(op, site);			\
		kmemtrace_hook(kmemtrace_page_alloc,			\
			       __kmemtrace_operation_begin(op));	\
	} while (0)

/**
 * kmemtrace_page_alloc_part - record an allocation of pages as a part of an operation
 * @op: the struct kmemtrace_operation
 * @page: the first page
 * @order: the allocation has 1 << @order pages
 * @gfp_flags: flags that the caller passed
 * @node: requested NUMA node, or NUMA_NO_NODE
 */
#define kmemtrace_page_alloc_part(op, page, order, gfp_flags, node)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_alloc_part(op, page, order,	\
						   gfp_flags, node))

/**
 * kmemtrace_page_free_part - record a free of pages as a part of an operation
 * @op: the struct kmemtrace_operation
 * @page: the first page, which is about to be freed
 */
#define kmemtrace_page_free_part(op, page)				\
	kmemtrace_hook(kmemtrace_page_free,				\
		       __kmemtrace_page_free_part(op, page))

/**
 * kmemtrace_page_range - record an allocation of contiguous single pages
 * @call_site: return address of the allocator's function
 * @page: the first page
 * @bytes_req: requested bytes of all pages
 * @gfp_flags: flags that the caller passed
 *
 * The pages are freed one by one, so each page has a record.  The requested size of
 * the last page is the remainder of @bytes_req.
 */
#define kmemtrace_page_range(call_site, page, bytes_req, gfp_flags)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_range(call_site, page, bytes_req, \
					      gfp_flags))

/**
 * kmemtrace_page_contig - record an allocation of contiguous pages
 * @call_site: return address of the allocator's function
 * @page: the first page
 * @nr_pages: number of pages
 * @gfp_flags: flags that the caller passed; with __GFP_COMP the pages are one
 *	compound page, which has one record, otherwise each page has a record
 */
#define kmemtrace_page_contig(call_site, page, nr_pages, gfp_flags)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_contig(call_site, page, nr_pages, \
					       gfp_flags))

/**
 * kmemtrace_page_alloc_array - record the allocation of an array of single pages
 * @call_site: return address of the allocator's function
 * @pages: array of pages; entries that are NULL have no record
 * @nr: number of entries
 * @gfp_flags: flags that the caller passed
 */
#define kmemtrace_page_alloc_array(call_site, pages, nr, gfp_flags)	\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_alloc_array(call_site, pages, nr, \
						    gfp_flags))

/**
 * kmemtrace_page_free - record a free of pages
 * @call_site: return address of the allocator's function
 * @page: the first page, which has no reference any more and is about to be freed
 */
#define kmemtrace_page_free(call_site, page)				\
	trace_kmemtrace_page_free(call_site, page)

/**
 * kmemtrace_page_free_folios - record the free of a batch of folios
 * @call_site: return address of the allocator's function
 * @folios: the folios, which are about to be freed
 *
 * A call from a wrapper is ignored, because the wrapper records the folios itself.
 */
#define kmemtrace_page_free_folios(call_site, folios)			\
	kmemtrace_hook(kmemtrace_page_free,				\
		       __kmemtrace_page_free_folios(call_site, folios))

/**
 * kmemtrace_page_split - record the split of an allocation into equal parts
 * @call_site: return address of the function that splits
 * @page: the first page
 * @order: the allocation has 1 << @order pages
 * @new_order: each part has 1 << @new_order pages
 *
 * The parts are freed one by one, so the hook records a free of the allocation and an
 * allocation of each part.
 */
#define kmemtrace_page_split(call_site, page, order, new_order)		\
	kmemtrace_hook(kmemtrace_page_alloc,				\
		       __kmemtrace_page_split(call_site, page, order,	\
					      new_order))

/**
 * kmemtrace_percpu_alloc - record an allocation of per-CPU memory
 * @call_site: return address of the allocator's function
 * @ptr: per-CPU pointer, or NULL if the allocation failed
 * @size: requested bytes for each possible CPU
 * @gfp_flags: flags that the caller passed
 *
 * The outermost functions of the per-CPU allocator call this hook, because they have
 * the requested size.  The trace event percpu_alloc_percpu has the rounded size; until
 * Linux 6.9, its call site is an address in one of these outermost functions.
 */
#define kmemtrace_percpu_alloc(call_site, ptr, size, gfp_flags)		\
	kmemtrace_hook(kmemtrace_percpu_alloc,				\
		       __kmemtrace_percpu_alloc(call_site, ptr, size,	\
						gfp_flags))

/**
 * kmemtrace_percpu_free - record a free of per-CPU memory
 * @call_site: return address of free_percpu()
 * @ptr: per-CPU pointer, which is not NULL and is about to be freed
 */
#define kmemtrace_percpu_free(call_site, ptr)				\
	trace_kmemtrace_percpu_free(call_site, (__force const void *)(ptr))

/**
 * kmemtrace_vmalloc_alloc - record an allocation of a vmalloc area
 * @call_site: return address of the allocator's function
 * @ptr: address of the area, which vfree() frees
 * @bytes_req: requested bytes
 * @bytes_alloc: size of the area in bytes, without the guard page
 * @gfp_flags: flags that the caller passed
 * @node: requested NUMA node, or NUMA_NO_NODE
 */
#define kmemtrace_vmalloc_alloc(call_site, ptr, bytes_req, bytes_alloc,	\
				gfp_flags, node)			\
	trace_kmemtrace_vmalloc_alloc(call_site, ptr, bytes_req,	\
				      bytes_alloc, gfp_flags, node)

/**
 * kmemtrace_vmalloc_free - record a free of a vmalloc area
 * @call_site: return address of vfree() or vfree_atomic()
 * @ptr: address of the area, which is not NULL; the function, or a work item later,
 *	frees the area
 */
#define kmemtrace_vmalloc_free(call_site, ptr)				\
	trace_kmemtrace_vmalloc_free(call_site, ptr)

/**
 * kmemtrace_vrealloc - record that vrealloc() returned the same area
 * @call_site: return address of vrealloc()
 * @ptr: address of the area
 * @bytes_req: new requested size in bytes
 * @bytes_alloc: size of the area in bytes, without the guard page
 * @gfp_flags: flags that the caller passed
 * @node: requested NUMA node, or NUMA_NO_NODE
 *
 * The hook records a free and an allocation of the area.
 */
#define kmemtrace_vrealloc(call_site, ptr, bytes_req, bytes_alloc,	\
			   gfp_flags, node)				\
	kmemtrace_hook(kmemtrace_vmalloc_alloc,				\
		       __kmemtrace_vrealloc(call_site, ptr, bytes_req,	\
					    bytes_alloc, gfp_flags, node))

/**
 * kmemtrace_defer - record that memory was handed over to be freed later
 * @call_site: return address of the function that receives the memory
 * @ptr: an object of kmalloc(), an object of a cache, or a vmalloc area; no other
 *	code can free the memory yet
 *
 * The free has a record of its own, which the function that releases the memory
 * makes after the grace period.  Either tracepoint, kmemtrace_kfree_rcu or
 * kmemtrace_vfree_rcu, may be off while the other is on; a hand-over whose tracepoint
 * is off is not recorded.
 */
#define kmemtrace_defer(call_site, ptr)					\
	do {								\
		if (trace_kmemtrace_kfree_rcu_enabled() ||		\
		    trace_kmemtrace_vfree_rcu_enabled())		\
			__kmemtrace_defer(call_site, ptr);		\
	} while (0)

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

static inline void kmemtrace_task_moves(struct task_struct *p,
					const struct cgroup *from,
					const struct cgroup *to)
{
}

static inline void kmemtrace_krealloc(unsigned long call_site, const void *ptr,
				      size_t bytes_req, size_t bytes_alloc,
				      gfp_t gfp_flags)
{
}

static inline void kmemtrace_kmalloc(unsigned long call_site, const void *ptr,
				     size_t bytes_req, size_t bytes_alloc,
				     gfp_t gfp_flags)
{
}

static inline void kmemtrace_kfree(unsigned long call_site, const void *ptr)
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

static inline void kmemtrace_page_contig(unsigned long call_site,
					 struct page *page,
					 unsigned long nr_pages,
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

static inline void kmemtrace_page_free_folios(unsigned long call_site,
					      struct folio_batch *folios)
{
}

static inline void kmemtrace_page_split(unsigned long call_site,
					struct page *page, unsigned int order,
					unsigned int new_order)
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

static inline void kmemtrace_vrealloc(unsigned long call_site, const void *ptr,
				      size_t bytes_req, size_t bytes_alloc,
				      gfp_t gfp_flags, int node)
{
}

static inline void kmemtrace_vmalloc_free(unsigned long call_site,
					  const void *ptr)
{
}

static inline void kmemtrace_defer(unsigned long call_site, const void *ptr)
{
}

#endif /* CONFIG_KMEMTRACE */

#endif /* _LINUX_KMEMTRACE_H */
