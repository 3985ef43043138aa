/* SPDX-License-Identifier: GPL-2.0-only */
/* The buffers, and how the programs write records into them. */
#ifndef KMEMTRACED_BPF_BUFFER_H
#define KMEMTRACED_BPF_BUFFER_H

#include <linux/types.h>
#include <stdbool.h>

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel.h"
#include "ring.h"
#include "settings.bpf.h"

SEC(".data.state") volatile struct kmtd_bpf_state state = {0};

SEC(".data.counters") volatile struct kmtd_bpf_counters counters = {0};

/*
 * Programs may take a position between the check for room and the addition to
 * head of the programs that they interrupt or, where programs can be preempted,
 * of other tasks. So many positions stay free.
 */
#define UNFINISHED_MAX 64

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, 1); /* the possible CPUs, set by kmemtraced */
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(map_flags, BPF_F_MMAPABLE);
			__uint(key_size, sizeof(__u32));
			__uint(value_size, sizeof(struct kmtd_bpf_record));
			__uint(max_entries, 1);
		});
} buffers SEC(".maps");

/* The control block of each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__uint(max_entries, 1); /* the possible CPUs, set by kmemtraced */
	__type(value, struct kmtd_bpf_control);
} controls SEC(".maps");

/* Events of CPUs that have no buffer yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__uint(max_entries, 1); /* the possible CPUs, set by kmemtraced */
	__type(value, __u64);
} unbuffered SEC(".maps");

/* The sets of marks of each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__uint(max_entries, 1); /* for the possible CPUs, set by kmemtraced */
	__type(value, struct kmtd_bpf_mark_set);
} mark_sets SEC(".maps");

extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

static __always_inline __u32 preempt_count(void)
{
#ifdef KMTD_BPF_NO_CONTEXT
	return 0;
#else
	if (bpf_core_type_exists(struct pcpu_hot))
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))
			->preempt_count;
	return *(int *)bpf_this_cpu_ptr(&__preempt_count);
#endif
}

/* Bits of preempt_count in Linux 6.1 to 7.2. */
#define SOFTIRQ_SERVING 0x00000100
#define SOFTIRQ_MASK	0x0000ff00
#define HARDIRQ_MASK	0x000f0000
#define NMI_MASK	0x00f00000

/* The kernel's in_interrupt(), which also counts tasks with softirqs off. */
static __always_inline bool in_interrupt(void)
{
	return preempt_count() & (SOFTIRQ_MASK | HARDIRQ_MASK | NMI_MASK);
}

/* KMEMTRACE_FLAG_ */
#define FLAG_HARDIRQ 1
#define FLAG_SOFTIRQ 2

/* The buffer of this CPU, and the context of the event. */
struct context {
	struct kmtd_bpf_control *control;
	void *buffer;
	__u64 pid_tgid; /* of the task, or of the interrupted task */
	__u32 flags;
};

/* Count an event of a CPU that has no buffer yet. */
static __noinline int lose_unbuffered(__u32 cpu)
{
	__u64 *n = bpf_map_lookup_elem(&unbuffered, &cpu);

	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}

static __always_inline bool enter(struct context *context)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 count = preempt_count();

	context->control = bpf_map_lookup_elem(&controls, &cpu);
	if (!context->control)
		return false;
	context->buffer = bpf_map_lookup_elem(&buffers, &cpu);
	if (!context->buffer) {
		lose_unbuffered(cpu);
		return false;
	}
	context->pid_tgid = bpf_get_current_pid_tgid();
	context->flags = 0;
	if (count & SOFTIRQ_SERVING)
		context->flags = FLAG_SOFTIRQ;
	if (count & (HARDIRQ_MASK | NMI_MASK))
		context->flags |= FLAG_HARDIRQ;
	return true;
}

static __noinline int lose(struct kmtd_bpf_control *control)
{
	if (!control)
		return 0;
	if (*(volatile __u64 *)&control->n_lost == 0)
		control->lost_since = bpf_ktime_get_ns();
	__sync_fetch_and_add(&control->n_lost, 1);
	return 0;
}

/* Count an event because the kernel has skipped a probe. */
static __always_inline void lose_skipped(struct kmtd_bpf_control *control)
{
	__sync_fetch_and_add(&control->n_replaced, -1);
}

static __always_inline struct kmtd_bpf_record *
take_slot(struct context *context)
{
	__u32 slot = __sync_fetch_and_add(&context->control->head, 1);

	slot &= settings.n_slots - 1;
	return bpf_map_lookup_elem(context->buffer, &slot);
}

/* Complete a record: the first word of the slot makes it visible. */
static __always_inline void commit(struct context *context,
				   struct kmtd_bpf_record *record, __u32 kind,
				   __u32 pid)
{
	record->pid = pid;
	barrier();
	*(volatile __u32 *)&record->kind = kind | context->flags << 8;
}

static __always_inline struct kmtd_bpf_record *reserve(struct context *context)
{
	struct kmtd_bpf_control *control = context->control;
	__u64 head = *(volatile __u64 *)&control->head;

	if (head - *(volatile __u64 *)&control->tail >=
	    settings.n_slots - UNFINISHED_MAX) {
		lose(control);
		return NULL;
	}
	if (*(volatile __u64 *)&control->n_lost) {
		struct kmtd_bpf_record *record;
		__u64 since = control->lost_since;
		__u64 n = __sync_lock_test_and_set(&control->n_lost, 0);

		record = n ? take_slot(context) : NULL;
		if (record) {
			record->a = n;
			record->b = since;
			record->time = bpf_ktime_get_ns();
			commit(context, record, KMTD_BPF_LOST, 0);
		}
	}
	return take_slot(context);
}

/* Return the lower half of an address on the stack. */
static __always_inline __u64 address_of(const void *ctx)
{
	__u64 at;

	/* The verifier refuses arithmetic with the pointer, but no copy of its
	 * lower half. */
	asm volatile("r2 = %1; w2 = w2; %0 = r2" : "=r"(at) : "r"(ctx) : "r2");
	return at;
}

/* Return the mark of an event: the address of its arguments and @token, which
 * tells events with this address apart. */
static __always_inline __u64 make_mark(__u64 at, __u64 token)
{
	return (token ^ token >> 32) << 32 >> 32 | at << 32;
}

/* The mark of an event that the second program looks for. */
struct search {
	__u64 mark;
	__u32 set;
	bool found;
};

/* Remove the mark from the set of @cpu. Return 1 if that was done. */
static int search_cpu(__u32 cpu, struct search *search)
{
	__u32 key = cpu * KMTD_BPF_MARK_SETS + search->set;
	volatile __u64 *marks = bpf_map_lookup_elem(&mark_sets, &key);

	if (!marks)
		return 0;
	for (int i = 0; i < KMTD_BPF_MARK_WAYS; i++) {
		if (marks[i] != search->mark)
			continue;
		if (__sync_val_compare_and_swap(&marks[i], search->mark, 0) ==
		    search->mark) {
			search->found = true;
			return 1;
		}
	}
	return 0;
}

/* Leave the mark in the set of this CPU. */
static __always_inline void leave_mark(__u32 cpu, __u32 set, __u64 mark)
{
	__u32 key = cpu * KMTD_BPF_MARK_SETS + set;
	volatile __u64 *marks = bpf_map_lookup_elem(&mark_sets, &key);

	if (!marks)
		return;
	for (int i = 0; i < KMTD_BPF_MARK_WAYS; i++) {
		__u64 old = marks[i];

		/* An old mark of this address is of an event that is over. */
		if ((!old || old >> 32 == mark >> 32) &&
		    __sync_val_compare_and_swap(&marks[i], old, mark) == old)
			return;
	}
	/*
	 * While a task is preempted in the second program, the kernel skips
	 * this program for the other tasks of the CPU, and many marks remain.
	 * Replace one, which is hardly that of an unfinished event.
	 */
	marks[mark % KMTD_BPF_MARK_WAYS] = mark;
	__sync_fetch_and_add(&counters.n_mark_collisions, 1);
}

/*
 * Return whether the first program of an event has recorded the event. The
 * first program leaves a mark instead. If the task was preempted between the
 * two programs, the mark may be in the set of another CPU.
 */
static __always_inline bool was_recorded(const void *ctx, bool second,
					 __u64 token)
{
	__u64 at = address_of(ctx);
	__u32 cpu = bpf_get_smp_processor_id();
	struct search search = {
		.mark = make_mark(at, token),
		.set = (at * 0x9e3779b97f4a7c15ULL >> 32) % KMTD_BPF_MARK_SETS,
	};

	if (!second) {
		leave_mark(cpu, search.set, search.mark);
		return false;
	}
	search_cpu(cpu, &search);
	if (!search.found)
		bpf_loop(settings.n_percpu, search_cpu, &search, 0);
	return search.found;
}

/*
 * Begin an event, of which @token tells apart those with the same address of
 * arguments. Return false if it is not to be recorded: another program of the
 * event has recorded it, nothing is recorded, or the CPU has no buffer.
 */
static __always_inline bool begin(struct context *context, const void *ctx,
				  bool second, __u64 token)
{
	__u32 recording = state.recording;
	bool has_buffer;

	if (recording == KMTD_BPF_IDLE)
		return false;
	if (settings.recover && was_recorded(ctx, second, token))
		return false;
	if (recording != KMTD_BPF_RECORDING)
		return false;
	has_buffer = enter(context);
	if (second && context->control)
		__sync_fetch_and_add(&context->control->n_replaced, 1);
	return has_buffer;
}

#endif
