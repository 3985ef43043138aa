/* SPDX-License-Identifier: GPL-2.0-only */
/* The number of programs that the kernel has skipped. */
#ifndef KMEMTRACED_BPF_SKIPPED_H
#define KMEMTRACED_BPF_SKIPPED_H

#include "buffer.bpf.h"

/* A program whose skipped runs kmemtraced counts. */
struct counted_program {
	__u32 id; /* 0: end of the list */
	__u32 reserved;
	__u64 stats; /* address of the kernel's counters, per CPU */
};

#define COUNTED_MAX 64

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, COUNTED_MAX);
	__type(key, __u32);
	__type(value, struct counted_program);
} counted SEC(".maps");

#ifndef KMTD_BPF_NO_CONTEXT
/* Find the counters of the programs in the map counted. */
SEC("iter/bpf_prog")
int find_counters(struct bpf_iter__bpf_prog *ctx)
{
	struct bpf_prog *program = ctx->prog;
	__u32 id;

	if (!program)
		return 0;
	id = program->aux->id;
	for (__u32 i = 0; i < COUNTED_MAX; i++) {
		__u32 key = i;
		struct counted_program *to =
			bpf_map_lookup_elem(&counted, &key);

		if (to && to->id == id)
			to->stats = (__u64)program->stats;
	}
	return 0;
}

extern const unsigned long this_cpu_off __ksym __weak;

/* Return how often this CPU has skipped the programs in the map counted. */
SEC("raw_tp")
int count_skipped(void *ctx)
{
	__u64 base = *(__u64 *)bpf_this_cpu_ptr(&this_cpu_off);
	__u32 offset = bpf_core_field_offset(struct bpf_prog_stats, misses);
	__u32 n = 0;

	for (__u32 i = 0; i < COUNTED_MAX; i++) {
		__u32 key = i;
		struct counted_program *from =
			bpf_map_lookup_elem(&counted, &key);
		__u64 value = 0;

		if (!from || !from->id)
			break;
		if (from->stats)
			bpf_probe_read_kernel(
				&value, sizeof(value),
				(const void *)(base + from->stats + offset));
		n += value;
	}
	return n;
}
#endif

#endif
