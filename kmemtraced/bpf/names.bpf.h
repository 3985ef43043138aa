/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of tasks and caches. */
#ifndef KMEMTRACED_BPF_NAMES_H
#define KMEMTRACED_BPF_NAMES_H

#include "buffer.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} names SEC(".maps");

static __always_inline struct kmtd_bpf_name *new_name(__u32 kind)
{
	struct kmtd_bpf_name *name =
		bpf_ringbuf_reserve(&names, sizeof(*name), 0);

	if (!name) {
		__sync_fetch_and_add(&counters.n_lost_names, 1);
		return NULL;
	}
	__builtin_memset(name, 0, sizeof(*name));
	name->kind = kind;
	name->time = bpf_ktime_get_ns();
	return name;
}

/* Return the id of the task's cgroup (v2), or 0. */
static __always_inline __u64 cgroup_of(const struct task_struct *task)
{
	if (!bpf_core_field_exists(task->cgroups))
		return 0;
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

SEC("raw_tp/task_newtask")
int task_newtask(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	struct kmtd_bpf_name *name = new_name(KMTD_BPF_TASK_NEW);

	if (!name)
		return 0;
	name->pid = BPF_CORE_READ(task, pid);
	name->tgid = BPF_CORE_READ(task, tgid);
	name->parent = bpf_get_current_pid_tgid();
	name->cgroup = cgroup_of(task);
	BPF_CORE_READ_STR_INTO(&name->name, task, comm);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

static __always_inline bool is_version_2(const struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, root, hierarchy_id) == 0;
}

/* cgroup_attach_task(to, path, task, whether all tasks of its process move) */
SEC("raw_tp/cgroup_attach_task")
int cgroup_attach_task(struct bpf_raw_tracepoint_args *ctx)
{
	const struct cgroup *to = (const struct cgroup *)ctx->args[0];
	const struct task_struct *task =
		(const struct task_struct *)ctx->args[2];
	struct kmtd_bpf_name *name =
		is_version_2(to) ? new_name(KMTD_BPF_TASK_MOVE) : NULL;

	if (!name)
		return 0;
	name->pid = BPF_CORE_READ(task, pid);
	name->is_whole = (__u8)ctx->args[3];
	name->cgroup = BPF_CORE_READ(to, kn, id);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

/* cgroup_mkdir(cgroup, path) */
SEC("raw_tp/cgroup_mkdir")
int cgroup_mkdir(struct bpf_raw_tracepoint_args *ctx)
{
	const struct cgroup *cgroup = (const struct cgroup *)ctx->args[0];
	struct kmtd_bpf_cgroup *to;

	if (!is_version_2(cgroup))
		return 0;
	to = bpf_ringbuf_reserve(&names, sizeof(*to), 0);
	if (!to) {
		__sync_fetch_and_add(&counters.n_lost_names, 1);
		return 0;
	}
	to->kind = KMTD_BPF_CGROUP_NEW;
	to->reserved = 0;
	to->id = BPF_CORE_READ(cgroup, kn, id);
	bpf_probe_read_kernel_str(to->path, sizeof(to->path),
				  (const void *)ctx->args[1]);
	bpf_ringbuf_submit(to, 0);
	return 0;
}

SEC("raw_tp/task_rename")
int task_rename(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	struct kmtd_bpf_name *name = new_name(KMTD_BPF_TASK_RENAME);

	if (!name)
		return 0;
	name->pid = BPF_CORE_READ(task, pid);
	BPF_CORE_READ_STR_INTO(&name->old_name, task, comm);
	bpf_probe_read_kernel_str(name->name, sizeof(name->name),
				  (const void *)ctx->args[1]);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

static __always_inline void describe(const struct kmem_cache *cache,
				     struct kmtd_bpf_cache *to)
{
	const char *name = BPF_CORE_READ(cache, name);

	to->object_size = BPF_CORE_READ(cache, object_size);
	to->size = BPF_CORE_READ(cache, size);
	if (bpf_probe_read_kernel_str(to->name, sizeof(to->name), name) <= 0)
		to->size = 0;
}

/* void kmem_cache_destroy(cache or NULL) */
SEC("fentry")
int cache_gone(__u64 *ctx)
{
	struct kmtd_bpf_name *name;
	__u64 cache = 0;

	bpf_get_func_arg(ctx, 0, &cache);
	name = cache ? new_name(KMTD_BPF_CACHE_GONE) : NULL;
	if (!name)
		return 0;
	name->cache = cache;
	describe((const struct kmem_cache *)cache, &name->described);
	bpf_ringbuf_submit(name, 0);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct kmtd_bpf_cache);
} described SEC(".maps");

/* Describe the cache at the address args[0]. kmemtraced runs this program. */
SEC("raw_tp")
int describe_cache(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct kmtd_bpf_cache *to = bpf_map_lookup_elem(&described, &zero);

	if (to)
		describe((const struct kmem_cache *)ctx->args[0], to);
	return 0;
}

/* The caches that list_caches() has found. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KMTD_BPF_CACHES);
	__type(key, __u32);
	__type(value, struct kmtd_bpf_listed);
} listed SEC(".maps");

extern const void slab_caches __ksym __weak;

struct cache_list {
	__u64 at; /* the list_head of the next cache */
	__u32 n;
};

static int list_cache(__u32 i, struct cache_list *list)
{
	const struct kmem_cache *cache;
	struct kmtd_bpf_listed *to = bpf_map_lookup_elem(&listed, &i);

	if (!to || list->at == (__u64)&slab_caches)
		return 1;
	cache = (const struct kmem_cache *)(list->at -
					    bpf_core_field_offset(
						    struct kmem_cache, list));
	to->cache = (__u64)cache;
	describe(cache, &to->described);
	list->at = (__u64)BPF_CORE_READ(cache, list.next);
	list->n++;
	return 0;
}

/*
 * List the caches in the map listed, and return their number. kmemtraced runs
 * this program. A cache that is created or destroyed meanwhile may be missed.
 */
SEC("raw_tp")
int list_caches(void *ctx)
{
	struct cache_list list = {0};

	if (!&slab_caches)
		return 0;
	bpf_probe_read_kernel(&list.at, sizeof(list.at), &slab_caches);
	bpf_loop(KMTD_BPF_CACHES, list_cache, &list, 0);
	return list.n;
}

#endif
