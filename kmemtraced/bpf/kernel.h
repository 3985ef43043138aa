/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types that the programs use. libbpf adapts the offsets of the
 * members to the running kernel (CO-RE), so only the names matter here.
 */
#ifndef KMEMTRACED_BPF_KERNEL_H
#define KMEMTRACED_BPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
			     apply_to = record)

struct list_head {
	struct list_head *next;
};

struct kernfs_node {
	unsigned long long id;
};

struct cgroup_root {
	int hierarchy_id; /* 0: cgroup v2 */
};

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	int pid;
	int tgid;
	char comm[16];
	struct css_set *cgroups;
};

struct kmem_cache {
	unsigned int size;
	unsigned int object_size;
	const char *name;
	struct list_head list;
};

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long di, r8, sp, ax;
};
#endif

/* The kernel defines rcu_head as callback_head, also as the name of a member.
 */
struct callback_head {
	void *func;
};

struct page {
	unsigned long compound_head;
	unsigned long compound_info; /* since Linux 7.0 */
	struct list_head lru;
	unsigned int page_type;
};

struct folio {
	unsigned char _folio_order; /* until Linux 6.5 */
	unsigned long _flags_1;
};

enum pageflags {
	PG_head,
	PG_slab, /* until Linux 6.9 */
};

enum pagetype { PGTY_slab = 0xf5 }; /* since Linux 6.12 */

struct slab {
	struct kmem_cache *slab_cache;
};

struct slab_sheaf {
	struct callback_head callback_head;
	struct kmem_cache *cache;
	unsigned int size;
	void *objects[];
};

struct bpf_prog_stats {
	struct {
		long a;
	} misses;
};

struct bpf_prog_aux {
	unsigned int id;
};

struct bpf_prog {
	struct bpf_prog_stats *stats;
	struct bpf_prog_aux *aux;
};

struct bpf_iter__bpf_prog {
	struct bpf_prog *prog;
};

/* Where x86 has preempt_count from Linux 6.2 to 6.14. */
struct pcpu_hot {
	int preempt_count;
};

#pragma clang attribute pop

#endif
