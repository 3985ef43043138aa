// SPDX-License-Identifier: GPL-2.0-only
/* The programs that record the events of an unmodified kernel. */
#include "areas.bpf.h"
#include "callers.bpf.h"
#include "filter.bpf.h"
#include "names.bpf.h"
#include "operation.bpf.h"
#include "pages.bpf.h"
#include "skipped.bpf.h"
#include "slab.bpf.h"
#include "stacks.bpf.h"

char programs_license[] SEC("license") = "GPL";

static __always_inline bool is_page(__u32 kind)
{
	return kind == KMTD_BPF_PAGE_ALLOC || kind == KMTD_BPF_PAGE_FREE;
}

/* Return whether another event follows that reports this kmalloc() with the
 * caller's call site; see lib/tracepoints/kmalloc-pairs.h. */
static __noinline int is_reported_twice(__u64 site)
{
	for (__u32 i = 0; i < KMTD_BPF_INNER_MAX && i < settings.n_inner; i++)
		if (site > settings.inner[i].begin &&
		    site <= settings.inner[i].end)
			return 1;
	return 0;
}

static __always_inline int record_event(struct bpf_raw_tracepoint_args *ctx,
					__u32 kind, bool second, __u64 ptr,
					__u64 site, __u64 a, __u64 b, __u32 gfp,
					__s32 node)
{
	struct context context;
	struct kmtd_bpf_record *record;
	__u32 start = kind == KMTD_BPF_PAGE_ALLOC ? KMTD_BPF_START_PAGE_ALLOC
						  : KMTD_BPF_START_PAGE_FREE;

	/* A large kmalloc() is of more than two pages. */
	if (!begin(&context, ctx, second, ptr + kind) || ptr <= NO_MEMORY_MAX ||
	    (kind == KMTD_BPF_KMALLOC && b > 2ULL * settings.page_bytes &&
	     is_reported_twice(site)) ||
	    !passes(&context, kind, ptr, a))
		return 0;
	if (is_page(kind))
		site = known_caller(ctx, start);
	if (site == KMTD_BPF_NO_EVENT)
		return 0;
	record = reserve(&context);
	if (!record)
		return 0;
	record->time = bpf_ktime_get_ns();
	record->sample = site || !is_page(kind) ? 0 : sample_stack(ctx, start);
	record->stack = save_stack(ctx);
	record->ptr = ptr;
	record->call_site = site;
	record->a = a;
	record->b = b;
	record->gfp = gfp;
	record->node = node;
	commit(&context, record, kind, (__u32)context.pid_tgid);
	return 0;
}

#define TRACEPOINT(name, ...)                                                  \
	SEC("raw_tp/" #name)                                                   \
	int name##_first(struct bpf_raw_tracepoint_args *ctx)                  \
	{                                                                      \
		const bool second = false;                                     \
		return record_event(ctx, __VA_ARGS__);                         \
	}                                                                      \
	SEC("raw_tp/" #name)                                                   \
	int name##_second(struct bpf_raw_tracepoint_args *ctx)                 \
	{                                                                      \
		const bool second = true;                                      \
		return record_event(ctx, __VA_ARGS__);                         \
	}

TRACEPOINT(kmalloc, KMTD_BPF_KMALLOC, second, ctx->args[1], ctx->args[0],
	   ctx->args[2], ctx->args[3], ctx->args[4], ctx->args[5])
TRACEPOINT(kfree, KMTD_BPF_KFREE, second, ctx->args[1], ctx->args[0], 0, 0, 0,
	   0)
TRACEPOINT(kmem_cache_alloc, KMTD_BPF_CACHE_ALLOC, second, ctx->args[1],
	   ctx->args[0], ctx->args[2], 0, ctx->args[3], ctx->args[4])
TRACEPOINT(kmem_cache_free, KMTD_BPF_CACHE_FREE, second, ctx->args[1],
	   ctx->args[0], ctx->args[2], 0, 0, 0)
TRACEPOINT(mm_page_alloc, KMTD_BPF_PAGE_ALLOC, second, ctx->args[0], 0,
	   ctx->args[1], 0, ctx->args[2], -1)
TRACEPOINT(mm_page_free, KMTD_BPF_PAGE_FREE, second, ctx->args[0], 0,
	   ctx->args[1], 0, 0, 0)

/* Without programs at functions, these tracepoints stand in for percpu_alloc()
 * and percpu_free(); the second one has no caller. */
TRACEPOINT(percpu_alloc_percpu, KMTD_BPF_PERCPU_ALLOC, second, ctx->args[7],
	   ctx->args[0], ctx->args[3], 0, ctx->args[9], -1)
TRACEPOINT(percpu_free_percpu, KMTD_BPF_PERCPU_FREE, second, ctx->args[2], 0, 0,
	   0, 0, -1)
