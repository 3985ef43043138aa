/* SPDX-License-Identifier: GPL-2.0-only */
/* The caller of an event, found on the stack. */
#ifndef KMEMTRACED_BPF_CALLERS_H
#define KMEMTRACED_BPF_CALLERS_H

#include "buffer.bpf.h"

/* Samples of stacks. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 * 1024 * 1024);
} samples SEC(".maps");

/* Stacks of events for which no sample could be sent. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, KMTD_BPF_LATE_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, KMTD_BPF_SAMPLE_CALLERS * sizeof(__u64));
} late_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << KMTD_BPF_FRAME_BITS);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

/*
 * For each enum kmtd_bpf_start, the distance in bytes from the arguments of the
 * program to the first return address outside of tracing, and
 * KMTD_BPF_START_DIRECT; 0: not known yet.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KMTD_BPF_N_STARTS);
	__type(key, __u32);
	__type(value, __u32);
} starts SEC(".maps");

/* The longest chain of functions inside of the page allocator. */
#define CHAIN_MAX 8

/* Return the element of a return address, or 0. */
static __always_inline __u64 find_frame(__u64 address)
{
	__u32 key = kmtd_bpf_frame_hash(address);
	const __u64 *frame = bpf_map_lookup_elem(&frames, &key);

	if (frame && !((*frame ^ address) & KMTD_BPF_FRAME_ADDRESS))
		return *frame;
	key++;
	frame = bpf_map_lookup_elem(&frames, &key);
	if (frame && !((*frame ^ address) & KMTD_BPF_FRAME_ADDRESS))
		return *frame;
	return 0;
}

/*
 * Return the first caller outside of the allocator, KMTD_BPF_NO_EVENT, or 0 if
 * the caller is not known.
 */
static __always_inline __u64 known_caller(void *ctx, __u32 start_id)
{
	const __u32 *start = bpf_map_lookup_elem(&starts, &start_id);
	__u64 slot, address, frame;
	bool direct;

	if (!start || !*start)
		return 0;
	direct = *start & KMTD_BPF_START_DIRECT;
	slot = (__u64)ctx + (*start & ~KMTD_BPF_START_DIRECT);
	for (int i = 0; i < CHAIN_MAX; i++) {
		if (bpf_probe_read_kernel(&address, sizeof(address),
					  (const void *)slot))
			return 0;
		frame = find_frame(address);
		if (!frame)
			return 0;
		if (i == 0 && !direct) {
			if (!(frame & KMTD_BPF_FRAME_FIRST))
				return 0;
		} else if (frame & KMTD_BPF_FRAME_NO_EVENT) {
			return KMTD_BPF_NO_EVENT;
		} else if (frame & KMTD_BPF_FRAME_CALLER) {
			return address;
		}
		slot += (frame >> KMTD_BPF_FRAME_SHIFT &
			 KMTD_BPF_FRAME_DISTANCE) *
			sizeof(__u64);
	}
	return 0;
}

/* Return the value for kmtd_bpf_record.sample, which names a sample of the
 * stack that was sent to kmemtraced, or else a stack in the map late_stacks. */
static __noinline __u32 sample_stack(void *ctx, __u32 start_id)
{
	struct kmtd_bpf_sample *sample;
	__u32 id;

	if (!settings.find_callers)
		return 0;
	sample = counters.sample_budget > 0
			 ? bpf_ringbuf_reserve(&samples, sizeof(*sample), 0)
			 : NULL;
	if (!sample) {
		long late = -1;

		if (counters.late_budget > 0) {
			__sync_fetch_and_add(&counters.late_budget, -1);
			late = bpf_get_stackid(ctx, &late_stacks, 0);
		}
		if (late >= 0)
			return KMTD_BPF_SAMPLE_LATE |
			       start_id << KMTD_BPF_SAMPLE_START_BIT | late;
		__sync_fetch_and_add(&counters.n_refused_samples, 1);
		return 0;
	}
	__sync_fetch_and_add(&counters.sample_budget, -1);
	id = __sync_fetch_and_add(&counters.n_samples, 1) %
		     (KMTD_BPF_SAMPLE_LATE - 1) +
	     1;
	sample->id = id;
	sample->start = start_id;
	sample->n_callers =
		bpf_get_stack(ctx, sample->callers, sizeof(sample->callers), 0);
	sample->n_words = 0;
	for (int i = 0; i < KMTD_BPF_SAMPLE_WORDS; i += KMTD_BPF_SAMPLE_CHUNK) {
		if (bpf_probe_read_kernel(
			    &sample->words[i],
			    KMTD_BPF_SAMPLE_CHUNK * sizeof(__u64),
			    (const void *)((__u64)ctx + i * sizeof(__u64))))
			break;
		sample->n_words = i + KMTD_BPF_SAMPLE_CHUNK;
	}
	bpf_ringbuf_submit(sample, 0);
	return id;
}

#endif
