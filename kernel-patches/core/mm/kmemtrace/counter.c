// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the counters of triggers.
 *
 * The sum of a counter is the member folded plus the counts of all CPUs.  Each CPU
 * changes its own count.  When the absolute value of the count reaches batch, the CPU
 * moves the count to folded.  All counts together are therefore at most batches, which
 * is at most an eighth of the limit.  While folded is at most limit - batches, the sum
 * cannot exceed the limit, and a CPU does not read the counts of the other CPUs.
 *
 * A seqcount guards each count, because a 32-bit CPU reads 64 bits in two parts.  An
 * atomic64_t is no alternative: on 32 bits, the generic implementation acquires a
 * spinlock.  The writer has interrupts off by raw_local_irq_save(), which lockdep
 * does not see, and lockdep would report that this spinlock is acquired with
 * interrupts on.
 */

#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kmemtrace_test.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "counter.h"
#include "guard.h"

struct kmemtrace_count {
	seqcount_t	seq;
	s64		bytes;	/* written by the CPU of the count, interrupts off */
};

int kmemtrace_counter_init(struct kmemtrace_counter *counter, u64 limit)
{
	unsigned int cpu;

	counter->counts = alloc_percpu(struct kmemtrace_count);
	if (!counter->counts)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		seqcount_init(&per_cpu_ptr(counter->counts, cpu)->seq);
	counter->lock = (arch_spinlock_t)__ARCH_SPIN_LOCK_UNLOCKED;
	counter->limit = limit;
	counter->batch = div_u64(limit / 8, num_possible_cpus());
	/* Computed here, because the writer must not call num_possible_cpus(). */
	counter->batches = counter->batch * num_possible_cpus();
	kmemtrace_counter_set(counter, 0);
	return 0;
}

void kmemtrace_counter_destroy(struct kmemtrace_counter *counter)
{
	free_percpu(counter->counts);
}

/*
 * Add a CPU's count, which the caller then sets to 0, to folded.  Context: the lock is
 * held, or no CPU adds.
 */
static void kmemtrace_counter_fold(struct kmemtrace_counter *counter,
				   s64 bytes)
{
	counter->folded += bytes;
	WRITE_ONCE(counter->near_limit,
		   counter->folded > counter->limit - counter->batches);
}
NOKPROBE_SYMBOL(kmemtrace_counter_fold);

static void kmemtrace_count_set(struct kmemtrace_count *count, s64 bytes)
{
	kmemtrace_write_begin(&count->seq);
	count->bytes = bytes;
	raw_write_seqcount_end(&count->seq);
}
NOKPROBE_SYMBOL(kmemtrace_count_set);

static s64 kmemtrace_count_get(struct kmemtrace_count *count)
{
	unsigned int seq;
	s64 bytes;

	do {
		seq = raw_read_seqcount_begin(&count->seq);
		bytes = count->bytes;
	} while (read_seqcount_retry(&count->seq, seq));
	return bytes;
}
NOKPROBE_SYMBOL(kmemtrace_count_get);

void kmemtrace_counter_set(struct kmemtrace_counter *counter, s64 bytes)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(counter->counts, cpu)->bytes = 0;
	counter->folded = 0;
	kmemtrace_counter_fold(counter, bytes);
}

void kmemtrace_counter_add(struct kmemtrace_counter *counter, s64 bytes)
{
	struct kmemtrace_count *count = raw_cpu_ptr(counter->counts);

	bytes += count->bytes;
	if (bytes < counter->batch && bytes > -counter->batch) {
		kmemtrace_count_set(count, bytes);
		return;
	}
	arch_spin_lock(&counter->lock);
	kmemtrace_counter_fold(counter, bytes);
	kmemtrace_count_set(count, 0);
	arch_spin_unlock(&counter->lock);
}
NOKPROBE_SYMBOL(kmemtrace_counter_add);

/* Context: interrupts are off. */
static s64 kmemtrace_counter_sum_all(struct kmemtrace_counter *counter)
{
	unsigned int cpu;
	s64 sum;

	/* No CPU moves its count to folded meanwhile: none is added twice or missed. */
	arch_spin_lock(&counter->lock);
	kmemtrace_test_point(KMEMTRACE_TEST_COUNTER_LOCK);
	sum = counter->folded;
	for_each_possible_cpu(cpu)
		sum += kmemtrace_count_get(per_cpu_ptr(counter->counts, cpu));
	arch_spin_unlock(&counter->lock);
	return sum;
}
NOKPROBE_SYMBOL(kmemtrace_counter_sum_all);

bool kmemtrace_counter_is_over(struct kmemtrace_counter *counter)
{
	/*
	 * Orders this CPU's addition before the read of the other CPUs'
	 * additions.  Pairs with itself on another CPU: if two CPUs add at the same
	 * time, at least one of them sees both additions.
	 */
	smp_mb();
	return READ_ONCE(counter->near_limit) &&
	       kmemtrace_counter_sum_all(counter) > counter->limit;
}
NOKPROBE_SYMBOL(kmemtrace_counter_is_over);

s64 kmemtrace_counter_sum(struct kmemtrace_counter *counter)
{
	struct kmemtrace_guard guard;
	s64 sum;

	/* Without the guard, an event of this CPU could wait for the lock for ever. */
	kmemtrace_guard_enter(&guard);
	sum = kmemtrace_counter_sum_all(counter);
	kmemtrace_guard_leave(&guard);
	return sum;
}
NOKPROBE_SYMBOL(kmemtrace_counter_sum);
