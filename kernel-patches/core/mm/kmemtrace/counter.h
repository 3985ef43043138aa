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
	 * Guards folded and near.  An arch_spinlock_t, because lockdep does not
	 * see that the writer has interrupts off.
	 */
	arch_spinlock_t		lock;
	s64			folded;		/* bytes, without counts */
	bool			near;		/* the sum may be above limit */
	s64			limit;		/* bytes */
	s64			batch;		/* bound of the absolute value of a count */
	s64			batches;	/* the batch times the possible CPUs */
	struct kmemtrace_count __percpu *counts;
};

/*
 * Initialise a counter with sum 0.  @limit: bytes, at most S64_MAX.  Return 0 or
 * -ENOMEM.  May sleep.
 */
int kmemtrace_counter_init(struct kmemtrace_counter *counter, u64 limit);

/* Free the memory of a counter.  May sleep. */
void kmemtrace_counter_destroy(struct kmemtrace_counter *counter);

/* Set the sum to @bytes.  Context: no CPU adds. */
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

/* Return the sum, in bytes.  Context: any but NMI. */
s64 kmemtrace_counter_sum(struct kmemtrace_counter *counter);

#endif /* _MM_KMEMTRACE_COUNTER_H */
