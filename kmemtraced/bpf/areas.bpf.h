/* SPDX-License-Identifier: GPL-2.0-only */
/* Areas of vmalloc(), and per-CPU memory. */
#ifndef KMEMTRACED_BPF_AREAS_H
#define KMEMTRACED_BPF_AREAS_H

#include "operation.bpf.h"

/* The value of the kernel since Linux 5.10. */
#define VM_MAP_PUT_PAGES 0x200

/*
 * void *__vmalloc_node_range(size, align, start, end, gfp, prot, vm_flags,
 * node, caller)
 */
static __always_inline int vmalloc_area(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_VMALLOC, .node = -1};
	__u64 gfp = 0, node = 0, result = 0;
	struct context context;

	bpf_get_func_arg(ctx, 0, &operation.a);
	bpf_get_func_arg(ctx, 4, &gfp);
	bpf_get_func_arg(ctx, 7, &node);
	bpf_get_func_arg(ctx, 8, &operation.site);
	bpf_get_func_ret(ctx, &result);
	operation.gfp = gfp;
	operation.node = node;
	if (!begin(&context, ctx, second, result + operation.kind))
		return 0;
	operation.stack = save_stack(ctx);
	record_object(result, &operation);
	return 0;
}

/*
 * The same function where the kernel cannot attach programs to a function of so
 * many arguments (until Linux 6.6 on x86): a probe at its entry stores the
 * arguments for a probe at its exit, by the address of the return address: the
 * function calls itself for large arrays of pages. The kernel does not count
 * how often it skips a probe: other programs at probes of the same CPU may
 * cause that, and many tasks that wait in the function. The arguments of a call
 * whose exit was skipped remain, until a call at the same address replaces them
 * and counts a lost event.
 */
struct vmalloc_arguments {
	__u64 size, caller;
	__u32 gfp;
	__s32 node;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct vmalloc_arguments);
} vmalloc_calls SEC(".maps");

#ifdef __TARGET_ARCH_x86
SEC("kprobe")
int vmalloc_enter(struct pt_regs *ctx)
{
	struct vmalloc_arguments arguments = {.size = ctx->di, .gfp = ctx->r8};
	__u64 sp = ctx->sp;

	if (!state.recording)
		return 0;
	/* The return address and the argument vm_flags come first. */
	bpf_probe_read_kernel(&arguments.node, sizeof(arguments.node),
			      (const void *)(sp + 2 * sizeof(__u64)));
	bpf_probe_read_kernel(&arguments.caller, sizeof(arguments.caller),
			      (const void *)(sp + 3 * sizeof(__u64)));
	if (bpf_map_update_elem(&vmalloc_calls, &sp, &arguments, BPF_NOEXIST)) {
		/* The exit of an earlier call was skipped; or the map is full,
		 * and this call will not be recorded. */
		struct context context;

		if (state.recording == KMTD_BPF_RECORDING && enter(&context))
			lose_skipped(context.control);
		bpf_map_update_elem(&vmalloc_calls, &sp, &arguments, BPF_ANY);
	}
	return 0;
}

SEC("kretprobe")
int vmalloc_leave(struct pt_regs *ctx)
{
	struct operation operation = {.kind = KMTD_BPF_VMALLOC};
	/* The function has returned: its return address is off the stack. */
	__u64 sp = ctx->sp - sizeof(__u64);
	const struct vmalloc_arguments *arguments =
		bpf_map_lookup_elem(&vmalloc_calls, &sp);

	if (!arguments)
		return 0;
	operation.a = arguments->size;
	operation.gfp = arguments->gfp;
	operation.node = arguments->node;
	operation.site = arguments->caller;
	bpf_map_delete_elem(&vmalloc_calls, &sp);
	if (state.recording != KMTD_BPF_RECORDING)
		return 0;
	operation.stack = save_stack(ctx);
	record_object(ctx->ax, &operation);
	return 0;
}
#endif

static __always_inline int free_area(__u64 *ctx, bool second, __u32 start_id)
{
	struct operation operation = {.kind = KMTD_BPF_VFREE, .node = -1};
	__u64 address = 0;

	bpf_get_func_arg(ctx, 0, &address);
	if (begin_operation(ctx, start_id, second, address, &operation))
		record_object(address, &operation);
	return 0;
}

/* void vfree(address) */
static __always_inline int vfree_area(__u64 *ctx, bool second)
{
	if (settings.vfree_calls_atomic && in_interrupt())
		return 0;
	return free_area(ctx, second, KMTD_BPF_START_VFREE);
}

/* void vfree_atomic(address) */
static __always_inline int vfree_area_atomic(__u64 *ctx, bool second)
{
	return free_area(ctx, second, KMTD_BPF_START_VFREE_ATOMIC);
}

/* void *vmap(pages, n, flags, prot): with VM_MAP_PUT_PAGES, vfree() frees the
 * pages. */
static __always_inline int mapped_area(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_VMALLOC, .node = -1};
	__u64 n = 0, flags = 0, result = 0;

	bpf_get_func_arg(ctx, 1, &n);
	bpf_get_func_arg(ctx, 2, &flags);
	bpf_get_func_ret(ctx, &result);
	operation.a = (__u64)(__u32)n * settings.page_bytes;
	if ((flags & VM_MAP_PUT_PAGES) &&
	    begin_operation(ctx, KMTD_BPF_START_VMAP, second, result,
			    &operation))
		record_object(result, &operation);
	return 0;
}

/* void __percpu *pcpu_alloc(size, align, reserved, gfp) */
static __always_inline int percpu_alloc(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_PERCPU_ALLOC,
				      .node = -1};
	__u64 gfp = 0, result = 0;

	bpf_get_func_arg(ctx, 0, &operation.a);
	bpf_get_func_arg(ctx, 3, &gfp);
	bpf_get_func_ret(ctx, &result);
	operation.gfp = gfp;
	if (begin_operation(ctx, KMTD_BPF_START_PERCPU_ALLOC, second, result,
			    &operation))
		record_object(result, &operation);
	return 0;
}

/* void free_percpu(pointer) */
static __always_inline int percpu_free(__u64 *ctx, bool second)
{
	struct operation operation = {.kind = KMTD_BPF_PERCPU_FREE, .node = -1};
	__u64 pointer = 0;

	bpf_get_func_arg(ctx, 0, &pointer);
	if (begin_operation(ctx, KMTD_BPF_START_PERCPU_FREE, second, pointer,
			    &operation))
		record_object(pointer, &operation);
	return 0;
}

HOOK("fexit", vmalloc_area)
HOOK("fentry", vfree_area)
HOOK("fentry", vfree_area_atomic)
HOOK("fexit", mapped_area)
HOOK("fexit", percpu_alloc)
HOOK("fentry", percpu_free)

#endif
