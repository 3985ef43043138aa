/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: a signed number of bytes that the writers of all CPUs change, and
 * its limit.
 */
#ifndef _MM_KMEMTRACE_COUNTER_H
#define _MM_KMEMTRACE_COUNTER_H

#include <linux/spinlock_types.h>
#include <linux/types.h>

struct kmemtrace_count;

struct kmemtrace_counter {
	/*
	 * Guards folded and near.  The writer takes it with interrupts off, which
	 * lockdep does not know: hence not a lock of lockdep's.
	 */
	arch_spinlock_t		lock;
	s64			folded;		/* bytes, without counts */
	bool			near;		/* the sum may be above limit */
	s64			limit;
	s64			batch;		/* a count is nearer to 0 */
	struct kmemtrace_count __percpu *counts;
};

/* limit: at most S64_MAX.  0 or -ENOMEM.  Both may sleep. */
int kmemtrace_counter_init(struct kmemtrace_counter *counter, u64 limit);
void kmemtrace_counter_destroy(struct kmemtrace_counter *counter);

/* Context: no CPU adds. */
void kmemtrace_counter_set(struct kmemtrace_counter *counter, s64 bytes);

/*
 * Add @bytes, which may be negative.  Context: any but NMI, interrupts off.
 */
void kmemtrace_counter_add(struct kmemtrace_counter *counter, s64 bytes);

/*
 * Return whether the sum is above the limit.  Exact for the caller's additions
 * and all that come before these; of two CPUs that add at the same time at least
 * one sees the other's addition.  Context: any but NMI, interrupts off.
 */
bool kmemtrace_counter_is_over(struct kmemtrace_counter *counter);

/* Context: any but NMI. */
s64 kmemtrace_counter_sum(struct kmemtrace_counter *counter);

#endif /* _MM_KMEMTRACE_COUNTER_H */
