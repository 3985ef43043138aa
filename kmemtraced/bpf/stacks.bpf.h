/* SPDX-License-Identifier: GPL-2.0-only */
/* The call stacks of events. */
#ifndef KMEMTRACED_BPF_STACKS_H
#define KMEMTRACED_BPF_STACKS_H

#include <linux/types.h>

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "settings.bpf.h"

/* kmemtraced sets the sizes if it records stacks. */
struct stack_map {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
};

struct stack_map stacks SEC(".maps");
struct stack_map more_stacks SEC(".maps");

/*
 * Return the id of the stack of this event, or 0 if there is none. The second
 * map takes the stack without its first frame, that of the program, and
 * therefore with another hash.
 */
static __always_inline __u32 save_stack(void *ctx)
{
	long id;

	if (!settings.stacks)
		return 0;
	id = bpf_get_stackid(ctx, &stacks, 0);
	if (id >= 0)
		return id + 1;
	id = bpf_get_stackid(ctx, &more_stacks, 1);
	return id >= 0 ? id + 1 + KMTD_BPF_STACKS : 0;
}

#endif
