/* SPDX-License-Identifier: GPL-2.0-only */
/* Which events are recorded; the filters of the source relay mean the same. */
#ifndef KMEMTRACED_BPF_FILTER_H
#define KMEMTRACED_BPF_FILTER_H

#include "memory.bpf.h"
#include "names.bpf.h"
#include "own.bpf.h"

/* A bit for each task and each process that is recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KMTD_BPF_PIDS / 64);
	__type(key, __u32);
	__type(value, __u64);
} pids SEC(".maps");

/* Whether the objects of a cache are recorded, by address of the cache. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KMTD_BPF_CACHES);
	__type(key, __u64);
	__type(value, __u8);
} cache_passes SEC(".maps");

/* Whether the tasks in a cgroup are recorded, by id of the cgroup. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KMTD_BPF_CGROUPS);
	__type(key, __u64);
	__type(value, __u8);
} cgroup_passes SEC(".maps");

/* The names of the tasks that are recorded. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, KMTD_BPF_COMMS);
	__type(key, struct kmtd_bpf_comm);
	__type(value, __u8);
} comms SEC(".maps");

static __always_inline __u64 *find_pid(__u32 pid)
{
	__u32 key = pid / 64 % (KMTD_BPF_PIDS / 64);

	return bpf_map_lookup_elem(&pids, &key);
}

static __always_inline bool has_pid(__u32 pid)
{
	const __u64 *word = find_pid(pid);

	return word && *word >> pid % 64 & 1;
}

static __always_inline bool has_task(__u64 pid_tgid)
{
	return has_pid((__u32)pid_tgid) || has_pid(pid_tgid >> 32);
}

static __always_inline bool passes_comm(void)
{
	struct kmtd_bpf_comm key;

	key.n_bits = sizeof(key.name) * 8;
	bpf_get_current_comm(key.name, sizeof(key.name));
	return bpf_map_lookup_elem(&comms, &key) != NULL;
}

/*
 * Return whether the current task is in a selected cgroup. The tasks of a new
 * cgroup pass until kmemtraced has read its path from the queue of names.
 */
static __always_inline bool passes_cgroup(void)
{
	__u64 id =
		cgroup_of((const struct task_struct *)bpf_get_current_task());
	const __u8 *passes = bpf_map_lookup_elem(&cgroup_passes, &id);

	return !passes || *passes;
}

/* A cache that kmemtraced does not know yet passes. */
static __always_inline bool passes_cache(__u32 kind, __u64 ptr, __u64 a)
{
	const __u8 *passes;
	__u64 cache = a;

	if (kind == KMTD_BPF_KMALLOC || kind == KMTD_BPF_KFREE ||
	    kind == KMTD_BPF_DEFER)
		cache = cache_of(ptr);
	else if (kind != KMTD_BPF_CACHE_ALLOC && kind != KMTD_BPF_CACHE_FREE)
		return false;
	passes = bpf_map_lookup_elem(&cache_passes, &cache);
	return passes ? *passes : cache != 0;
}

/* Return the size of the memory in bytes; 0: unknown. */
static __always_inline __u64 memory_bytes(__u32 kind, __u64 ptr, __u64 a)
{
	switch (kind) {
	case KMTD_BPF_KMALLOC:
	case KMTD_BPF_KFREE:
	case KMTD_BPF_CACHE_ALLOC:
	case KMTD_BPF_CACHE_FREE:
	case KMTD_BPF_DEFER:
		return object_bytes(ptr);
	case KMTD_BPF_PAGE_ALLOC:
	case KMTD_BPF_PAGE_BULK:
		return (__u64)settings.page_bytes << (a & 31);
	case KMTD_BPF_VMALLOC:
		return (a + settings.page_bytes - 1) &
		       -(__u64)settings.page_bytes;
	case KMTD_BPF_PERCPU_ALLOC:
		return a * settings.n_percpu;
	default:
		return 0;
	}
}

static __always_inline bool passes_size(__u32 kind, __u64 ptr, __u64 a)
{
	__u64 bytes = memory_bytes(kind, ptr, a);

	return !bytes ||
	       (bytes >= settings.size_min && bytes <= settings.size_max);
}

/*
 * Return whether to record an allocation: one of each block of settings.sample
 * allocations of this CPU, at a random index in the block.
 */
static __always_inline bool passes_sample(struct kmtd_bpf_control *control)
{
	bool chosen;

	if (control->sample_index == 0)
		control->sample_chosen =
			(__u64)bpf_get_prandom_u32() * settings.sample >> 32;
	chosen = control->sample_index == control->sample_chosen;
	if (++control->sample_index >= settings.sample)
		control->sample_index = 0;
	return chosen;
}

static __noinline int passes_filter(struct kmtd_bpf_control *control,
				    __u32 kind, __u64 ptr, __u64 a)
{
	if (!control)
		return 1;
	if (settings.by_cache && !passes_cache(kind, ptr, a))
		return 0;
	if (settings.by_size && !passes_size(kind, ptr, a))
		return 0;
	if (!is_allocation(kind))
		return 1;
	if (settings.by_pid && !has_task(bpf_get_current_pid_tgid()))
		return 0;
	if (settings.by_comm && !passes_comm())
		return 0;
	if (settings.by_cgroup && !passes_cgroup())
		return 0;
	return settings.sample <= 1 || passes_sample(control);
}

/* Return whether the event is to be recorded: nobody has excluded it. */
static __always_inline bool passes(const struct context *context, __u32 kind,
				   __u64 ptr, __u64 a)
{
	return !is_own(context, kind, ptr) &&
	       (!settings.filtered ||
		passes_filter(context->control, kind, ptr, a));
}

/* void sched_process_fork(parent, child): children follow their parents. */
SEC("raw_tp/sched_process_fork")
int follow_child(struct bpf_raw_tracepoint_args *ctx)
{
	const struct task_struct *parent = (struct task_struct *)ctx->args[0];
	const struct task_struct *child = (struct task_struct *)ctx->args[1];
	__u32 pid = BPF_CORE_READ(child, pid);
	__u64 *word = find_pid(pid), bit = 1ULL << pid % 64;

	if (!settings.by_pid || !word)
		return 0;
	if (settings.children && (has_pid(BPF_CORE_READ(parent, pid)) ||
				  has_pid(BPF_CORE_READ(parent, tgid))))
		__sync_fetch_and_or(word, bit);
	else
		/* An earlier task may have had the same pid. */
		__sync_fetch_and_and(word, ~bit);
	return 0;
}

#endif
