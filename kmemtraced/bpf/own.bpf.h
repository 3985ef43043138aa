/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events that kmemtraced itself causes, which are not recorded: the
 * allocations by its threads outside of interrupts, and all frees of that
 * memory, also by other tasks and in interrupts.
 */
#ifndef KMEMTRACED_BPF_OWN_H
#define KMEMTRACED_BPF_OWN_H

#include "buffer.bpf.h"

/* Memory that kmemtraced has allocated, by address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value,
	       __u64); /* 0: no longer; the element could not be deleted */
} own_memory SEC(".maps");

/* A bit for each hash of an address; set if own_memory ever had the address. */
#define OWN_BITS 20

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, (1 << OWN_BITS) / 64);
	__type(key, __u32);
	__type(value, __u64);
} own_bits SEC(".maps");

static __always_inline bool is_allocation(__u32 kind)
{
	return kind == KMTD_BPF_KMALLOC || kind == KMTD_BPF_CACHE_ALLOC ||
	       kind == KMTD_BPF_PAGE_ALLOC || kind == KMTD_BPF_PAGE_BULK ||
	       kind == KMTD_BPF_VMALLOC || kind == KMTD_BPF_PERCPU_ALLOC;
}

/* Find or remove an address that was perhaps allocated by kmemtraced. */
static __noinline int release_own(struct kmtd_bpf_control *control, __u64 ptr,
				  __u32 kind)
{
	__u64 *is_own = bpf_map_lookup_elem(&own_memory, &ptr);

	if (!control || !is_own)
		return 0;
	if (kind == KMTD_BPF_DEFER) {
		if (!*(volatile __u64 *)is_own)
			return 0;
	} else {
		__u64 was_own = __sync_lock_test_and_set(is_own, 0);

		/* The kernel refuses this while it changes the same part of the
		 * map. */
		bpf_map_delete_elem(&own_memory, &ptr);
		if (!was_own)
			return 0;
	}
	/* An allocation shows that the free was missed. */
	if (is_allocation(kind))
		return 0;
	__sync_fetch_and_add(&control->n_own, 1);
	return 1;
}

static __noinline int add_own(struct kmtd_bpf_control *control, __u64 ptr,
			      __u64 *word, __u64 bit)
{
	__u64 one = 1;

	if (!control || !word)
		return 0;
	if (bpf_map_update_elem(&own_memory, &ptr, &one, BPF_ANY))
		return 0;
	__sync_fetch_and_or(word, bit);
	__sync_fetch_and_add(&control->n_own, 1);
	return 1;
}

/* Return whether kmemtraced has caused this event. */
static __always_inline bool is_own(const struct context *context, __u32 kind,
				   __u64 ptr)
{
	__u32 hash = ptr * 0x9e3779b97f4a7c15ULL >> (64 - OWN_BITS);
	__u32 key = hash / 64;
	__u64 bit = 1ULL << hash % 64, *word;

	if (!state.own_tgid)
		return false;
	word = bpf_map_lookup_elem(&own_bits, &key);
	if (!word)
		return false;
	if (*(volatile __u64 *)word & bit &&
	    release_own(context->control, ptr, kind))
		return true;
	return is_allocation(kind) && !context->flags &&
	       context->pid_tgid >> 32 == state.own_tgid &&
	       add_own(context->control, ptr, word, bit);
}

#endif
