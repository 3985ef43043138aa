/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's types that the programs use. libbpf adapts the offsets of the
 * members to the running kernel (CO-RE), so only the names matter here.
 */
#ifndef KMEMTRACED_BPF_KERNEL_H
#define KMEMTRACED_BPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
			     apply_to = record)

struct task_struct {
	int pid;
	char comm[16];
};

struct kmem_cache {
	unsigned int size;
	unsigned int object_size;
	const char *name;
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
