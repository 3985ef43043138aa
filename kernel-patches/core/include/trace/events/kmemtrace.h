/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints for the allocations and frees that no kmem tracepoint reports with their
 * callers, for deferred frees, and for the tables of tasks and cgroups.
 *
 * These tracepoints have no trace events, so the events that ftrace and perf list do
 * not depend on CONFIG_KMEMTRACE.  The hooks in <linux/kmemtrace.h> call the
 * tracepoints, document their arguments, and also compile without CONFIG_KMEMTRACE.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kmemtrace

#if !defined(_TRACE_KMEMTRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_KMEMTRACE_H

#include <linux/tracepoint.h>
#include <linux/kmemtrace_compat.h>

struct cgroup;
struct kmem_cache;
struct page;
struct task_struct;

/*
 * krealloc() returned the same object: the allocation of the object with its new size;
 * or kmalloc_nolock() allocated an object.
 */
DECLARE_TRACE_EVENT(kmemtrace_kmalloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags));

/*
 * An object is about to be freed by kfree_bulk(), kfree_nolock(), or after the grace
 * period of kfree_rcu(); or krealloc() returned the same object: the free of the object
 * with its old size.
 */
DECLARE_TRACE_EVENT(kmemtrace_kfree,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

/* kmem_cache_alloc_bulk() allocated an object. */
DECLARE_TRACE_EVENT(kmemtrace_cache_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr,
		 struct kmem_cache *s, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, s, gfp_flags));

/* kmem_cache_free_bulk() is about to free an object. */
DECLARE_TRACE_EVENT(kmemtrace_cache_free,
	TP_PROTO(unsigned long call_site, const void *ptr,
		 const struct kmem_cache *s),
	TP_ARGS(call_site, ptr, s));

/* Pages were allocated, or are a part of an allocation that was split. */
DECLARE_TRACE_EVENT(kmemtrace_page_alloc,
	TP_PROTO(unsigned long call_site, struct page *page, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags, int node),
	TP_ARGS(call_site, page, bytes_req, bytes_alloc, gfp_flags, node));

/* Pages are about to be freed, or their allocation is about to be split. */
DECLARE_TRACE_EVENT(kmemtrace_page_free,
	TP_PROTO(unsigned long call_site, struct page *page),
	TP_ARGS(call_site, page));

/* Per-CPU memory was allocated.  The sizes are sums over all possible CPUs. */
DECLARE_TRACE_EVENT(kmemtrace_percpu_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags));

/* Per-CPU memory is about to be freed. */
DECLARE_TRACE_EVENT(kmemtrace_percpu_free,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

/*
 * A vmalloc area was allocated; or vrealloc() returned the same area: the allocation of
 * the area with its new requested size.
 */
DECLARE_TRACE_EVENT(kmemtrace_vmalloc_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags, int node),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node));

/*
 * A vmalloc area is about to be freed; or vrealloc() returned the same area: the free
 * of the area with its old requested size.
 */
DECLARE_TRACE_EVENT(kmemtrace_vmalloc_free,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

/* Memory of kmalloc() or a cache was passed to kfree_rcu(), and is not queued yet. */
DECLARE_TRACE_EVENT(kmemtrace_kfree_rcu,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

/* A vmalloc area was passed to kvfree_rcu(), which has not queued the area yet. */
DECLARE_TRACE_EVENT(kmemtrace_vfree_rcu,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

/* The current task @p allocates no more memory. */
DECLARE_TRACE_EVENT(kmemtrace_task_exit,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p));

/* The task @p is about to move from a cgroup (version 2) to another or the same one. */
DECLARE_TRACE_EVENT(kmemtrace_task_moves,
	TP_PROTO(struct task_struct *p, const struct cgroup *from,
		 const struct cgroup *to),
	TP_ARGS(p, from, to));

#endif /* _TRACE_KMEMTRACE_H */

#include <trace/define_trace.h>
