/* SPDX-License-Identifier: GPL-2.0-only */
/* Slab objects that are allocated or freed without a tracepoint. */
#ifndef KMEMTRACED_BPF_SLAB_H
#define KMEMTRACED_BPF_SLAB_H

#include "memory.bpf.h"
#include "operation.bpf.h"

/* Return a token for an array of objects. A caller may use one array often. */
static __always_inline __u64 array_token(__u64 pointers)
{
	return pointers + read_word((const void *)pointers);
}

/* int or bool kmem_cache_alloc_bulk(cache, gfp, n, pointers) */
static __always_inline int bulk_alloc(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_CACHE_ALLOC, .node = -1};
	__u64 gfp = 0, n = 0, result = 0;

	bpf_get_func_arg(ctx, 0, &operation.a);
	bpf_get_func_arg(ctx, 1, &gfp);
	bpf_get_func_arg(ctx, 2, &n);
	bpf_get_func_arg(ctx, 3, &operation.pointers);
	bpf_get_func_ret(ctx, &result);
	operation.gfp = gfp;
	if (!(settings.bulk_returns_bool ? (__u8)result : (__u32)result))
		n = 0;
	if (begin_operation(ctx, KMTD_BPF_START_BULK_ALLOC, second,
			    array_token(operation.pointers), &operation))
		bpf_loop(n, record_one, &operation, 0);
	return 0;
}

/* void kmem_cache_free_bulk(cache or NULL, n, pointers) */
static __always_inline int bulk_free(__u64 *ctx, bool second)
{
	struct operation operation = {.node = -1};
	__u64 n = 0;

	bpf_get_func_arg(ctx, 0, &operation.a);
	bpf_get_func_arg(ctx, 1, &n);
	bpf_get_func_arg(ctx, 2, &operation.pointers);
	operation.kind = operation.a ? KMTD_BPF_CACHE_FREE : KMTD_BPF_KFREE;
	if (begin_operation(ctx, KMTD_BPF_START_BULK_FREE, second,
			    array_token(operation.pointers), &operation))
		bpf_loop(n, record_one, &operation, 0);
	return 0;
}

/* void kvfree_call_rcu(head or NULL, memory) */
static __always_inline int defer(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_DEFER, .node = -1};
	__u64 head = 0, memory = 0;

	bpf_get_func_arg(ctx, 0, &head);
	bpf_get_func_arg(ctx, 1, &memory);
	if (settings.defer_by_offset && head)
		memory = head - memory;
	if (begin_operation(ctx, KMTD_BPF_START_DEFER, second, memory,
			    &operation))
		record_object(memory, &operation);
	return 0;
}

/*
 * void rcu_free_sheaf(rcu head of a sheaf), since Linux 6.18: the objects that
 * kfree_rcu() has put into the sheaf become free.
 */
static __always_inline int rcu_sheaf(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_CACHE_FREE, .node = -1};
	const struct slab_sheaf *sheaf;
	__u64 head = 0;

	bpf_get_func_arg(ctx, 0, &head);
	sheaf = (const struct slab_sheaf *)(head - bpf_core_field_offset(
							   struct slab_sheaf,
							   callback_head));
	operation.a = (__u64)BPF_CORE_READ(sheaf, cache);
	operation.b = 1;
	operation.pointers = (__u64)&sheaf->objects[0];
	if (begin_operation(ctx, KMTD_BPF_START_RCU_SHEAF, second, head,
			    &operation))
		bpf_loop(BPF_CORE_READ(sheaf, size), record_one, &operation, 0);
	return 0;
}

/* Another callback of the same kind. */
static __always_inline int rcu_sheaf_nobarn(__u64 *ctx, bool second)
{
	return rcu_sheaf(ctx, second);
}

/*
 * void *krealloc(memory, size, ...) leaves the memory at its address if it is
 * large enough. The program runs at the entry, because a program at the exit
 * would change the return address, which the kernel records as the caller of a
 * new object. If the kernel moves the memory nevertheless, for its node or its
 * alignment, it records that as well, and the records below cancel each other.
 */
static __always_inline int krealloc_in_place(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_KFREE, .node = -1};
	__u64 old = 0, size = 0, gfp = 0, bytes;

	bpf_get_func_arg(ctx, 0, &old);
	bpf_get_func_arg(ctx, 1, &size);
	bpf_get_func_arg(ctx, settings.krealloc_gfp_argument, &gfp);
	bytes = old > NO_MEMORY_MAX ? object_bytes(old) : 0;
	if (!size || size > bytes ||
	    !begin_operation(ctx, KMTD_BPF_START_KREALLOC, second, old,
			     &operation))
		return 0;
	record_object(old, &operation);
	operation.kind = KMTD_BPF_KMALLOC;
	operation.gfp = gfp;
	operation.a = size;
	operation.b = bytes;
	return record_object(old, &operation);
}

/* void *kmalloc_nolock(size, gfp, node), since Linux 6.18 */
static __always_inline int alloc_nolock(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_KMALLOC, .node = -1};
	__u64 gfp = 0, result = 0;

	bpf_get_func_arg(ctx, 0, &operation.a);
	bpf_get_func_arg(ctx, 1, &gfp);
	bpf_get_func_ret(ctx, &result);
	operation.gfp = gfp;
	operation.b = object_bytes(result);
	if (begin_operation(ctx, KMTD_BPF_START_KMALLOC_NOLOCK, second, result,
			    &operation))
		record_object(result, &operation);
	return 0;
}

/* void kfree_nolock(memory), since Linux 6.18 */
static __always_inline int free_nolock(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_KFREE, .node = -1};
	__u64 memory = 0;

	bpf_get_func_arg(ctx, 0, &memory);
	if (begin_operation(ctx, KMTD_BPF_START_KFREE_NOLOCK, second, memory,
			    &operation))
		record_object(memory, &operation);
	return 0;
}

HOOK("fexit", bulk_alloc)
HOOK("fentry", bulk_free)
HOOK("fentry", defer)
HOOK("fentry", rcu_sheaf)
HOOK("fentry", rcu_sheaf_nobarn)
HOOK("fentry", krealloc_in_place)
HOOK("fexit", alloc_nolock)
HOOK("fentry", free_nolock)

#endif
