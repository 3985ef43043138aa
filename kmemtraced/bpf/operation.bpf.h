/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of functions that have no tracepoint. */
#ifndef KMEMTRACED_BPF_OPERATION_H
#define KMEMTRACED_BPF_OPERATION_H

#include "callers.bpf.h"
#include "filter.bpf.h"
#include "stacks.bpf.h"

/* The highest value of ptr that is no memory: kmalloc(0) returns 16. */
#define NO_MEMORY_MAX 16

/* What the records of an operation have in common. */
struct operation {
	__u64 pointers; /* address of the array of the objects' addresses */
	__u64 site;
	__u64 a, b; /* of the records */
	__u32 sample, stack;
	__u32 kind;
	__u32 gfp;
	__s32 node;
};

static __always_inline int record_object(__u64 ptr,
					 const struct operation *operation)
{
	struct context context;
	struct kmtd_bpf_record *record;

	if (ptr <= NO_MEMORY_MAX || !enter(&context) ||
	    !passes(&context, operation->kind, ptr, operation->a))
		return 0;
	record = reserve(&context);
	if (!record)
		return 0;
	record->time = bpf_ktime_get_ns();
	record->ptr = ptr;
	record->call_site = operation->site;
	record->sample = operation->sample;
	record->stack = operation->stack;
	record->a = operation->a;
	record->b = operation->b;
	record->gfp = operation->gfp;
	record->node = operation->node;
	commit(&context, record, operation->kind, (__u32)context.pid_tgid);
	return 0;
}

/* Record one object of an operation. Called by bpf_loop(). */
static int record_one(__u32 i, struct operation *operation)
{
	__u64 ptr = 0;

	bpf_probe_read_kernel(
		&ptr, sizeof(ptr),
		(const void *)(operation->pointers + i * sizeof(ptr)));
	return record_object(ptr, operation);
}

/* Return whether this program records the operation, and find its caller. */
static __always_inline bool begin_operation(void *ctx, __u32 start_id,
					    bool second, __u64 token,
					    struct operation *operation)
{
	struct context context;

	if (!begin(&context, ctx, second, token + operation->kind))
		return false;
	operation->site = known_caller(ctx, start_id);
	operation->sample = operation->site ? 0 : sample_stack(ctx, start_id);
	if (operation->site == KMTD_BPF_NO_EVENT)
		return false;
	operation->stack = save_stack(ctx);
	return true;
}

#define HOOK(section, name)                                                    \
	SEC(section) int name##_first(__u64 *ctx)                              \
	{                                                                      \
		return name(ctx, false);                                       \
	}                                                                      \
	SEC(section) int name##_second(__u64 *ctx)                             \
	{                                                                      \
		return name(ctx, true);                                        \
	}

#endif
