/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: a counter of bytes with a limit, which the writers of all CPUs change.
 * The sum may be negative.
 */
#ifndef _MM_KMEMTRACE_COUNTER_H
#define _MM_KMEMTRACE_COUNTER_H

#include <linux/spinlock_types.h>
#include <linux/types.h>

struct kmemtrace_count;

struct kmemtrace_counter {
	/*
	 * Protects changes of folded and near_limit while CPUs add; near_limit is
	 * read without the lock.  A leaf lock, which the writer acquires.  An
	 * arch_spinlock_t, because lockdep does not see that the writer has
	 * interrupts off.
	 */
	arch_spinlock_t		lock;
	s64			folded;		/* bytes that are in no count */
	bool			near_limit;	/* the sum may be above limit */
	s64			limit;		/* bytes */
	/* A count that reaches batch or -batch bytes is moved to folded. */
	s64			batch;
	s64			batches;	/* batch times num_possible_cpus() */
	struct kmemtrace_count __percpu *counts;
};

/*
 * Initialise a counter with sum 0.  @limit: in bytes, at most S64_MAX.  Return 0 or
 * -ENOMEM.  On success kmemtrace_counter_destroy() frees the memory.  May sleep.
 */
int kmemtrace_counter_init(struct kmemtrace_counter *counter, u64 limit);

/* Free the memory of a counter that is initialised or all zeros.  May sleep. */
void kmemtrace_counter_destroy(struct kmemtrace_counter *counter);

/* Set the sum to @bytes, without the lock.  Context: no CPU adds. */
void kmemtrace_counter_set(struct kmemtrace_counter *counter, s64 bytes);

/*
 * Add @bytes, which may be negative, to the sum.  Context: any but NMI, in a guarded
 * section or in the writing of a record, so that a nested event is refused before it
 * acquires the lock.
 */
void kmemtrace_counter_add(struct kmemtrace_counter *counter, s64 bytes);

/*
 * Return whether the sum is above the limit.  The result includes the additions of
 * this CPU and all earlier additions.  If two CPUs add at the same time, at least one
 * of them sees the other CPU's addition.  Context: any but NMI, in a guarded section or
 * in the writing of a record.
 */
bool kmemtrace_counter_is_over(struct kmemtrace_counter *counter);

/* Return the sum, in bytes.  Context: any but NMI. */
s64 kmemtrace_counter_sum(struct kmemtrace_counter *counter);

#endif /* _MM_KMEMTRACE_COUNTER_H */
