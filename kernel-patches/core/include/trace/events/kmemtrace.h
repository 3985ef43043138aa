/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints for the allocations and frees that have none of their own, and for
 * the tables.
 *
 * They are bare tracepoints: no trace event is made of them, so what ftrace and
 * perf see of a kernel does not depend on CONFIG_KMEMTRACE.  Use them through
 * <linux/kmemtrace.h>, which also works where they are not configured.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kmemtrace

#if !defined(_TRACE_KMEMTRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_KMEMTRACE_H

#include <linux/tracepoint.h>

struct kmem_cache;
struct page;
struct task_struct;

DECLARE_TRACE(kmemtrace_kmalloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags));

DECLARE_TRACE(kmemtrace_kfree,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

DECLARE_TRACE(kmemtrace_cache_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr,
		 struct kmem_cache *s, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, s, gfp_flags));

DECLARE_TRACE(kmemtrace_cache_free,
	TP_PROTO(unsigned long call_site, const void *ptr,
		 const struct kmem_cache *s),
	TP_ARGS(call_site, ptr, s));

DECLARE_TRACE(kmemtrace_page_alloc,
	TP_PROTO(unsigned long call_site, struct page *page, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags, int node),
	TP_ARGS(call_site, page, bytes_req, bytes_alloc, gfp_flags, node));

DECLARE_TRACE(kmemtrace_page_free,
	TP_PROTO(unsigned long call_site, struct page *page),
	TP_ARGS(call_site, page));

DECLARE_TRACE(kmemtrace_percpu_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags));

DECLARE_TRACE(kmemtrace_percpu_free,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

DECLARE_TRACE(kmemtrace_vmalloc_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req,
		 size_t bytes_alloc, gfp_t gfp_flags, int node),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc, gfp_flags, node));

DECLARE_TRACE(kmemtrace_vmalloc_free,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr));

/* The current task @p will not allocate any more. */
DECLARE_TRACE(kmemtrace_task_exit,
	TP_PROTO(struct task_struct *p),
	TP_ARGS(p));

#endif /* _TRACE_KMEMTRACE_H */

#include <trace/define_trace.h>
