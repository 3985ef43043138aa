// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the state of each CPU's writer, and the guard against events inside of
 * the tracer.  guard.h describes both.
 */

#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/smp.h>

#include "guard.h"

struct rchan_buf kmemtrace_no_buf;

struct rchan_buf kmemtrace_busy = {
	.offset	= INT_MAX,
};

DEFINE_PER_CPU_ALIGNED(struct kmemtrace_cpu, kmemtrace_cpus) = {
	.limit	= -1,
	.buf	= &kmemtrace_no_buf,
	.own	= &kmemtrace_no_buf,
#ifdef CONFIG_X86
	.tsc	= { .seq = CYC2NS_NO_COPY },
#endif
};

bool kmemtrace_recording __read_mostly;

/*
 * The refused event may have interrupted the writer of this CPU at any instruction, so
 * only refused and limit are changed.  The limit of -1 sends the next event to the slow
 * path, which writes the LOST record.
 */
noinline void kmemtrace_count_refused(void)
{
	struct kmemtrace_cpu *kc = raw_cpu_ptr(&kmemtrace_cpus);

	if (!READ_ONCE(kmemtrace_recording))
		return;
	atomic_long_inc(&kc->refused);
	WRITE_ONCE(kc->limit, -1);
}
NOKPROBE_SYMBOL(kmemtrace_count_refused);

bool kmemtrace_is_guarded(void)
{
	/*
	 * With interrupts on, the result is false.  The member buf is then not read,
	 * because the task could move to another CPU between the computation of the
	 * address and the load.
	 */
	return irqs_disabled() &&
	       raw_cpu_read(kmemtrace_cpus.buf) == &kmemtrace_busy;
}
NOKPROBE_SYMBOL(kmemtrace_is_guarded);

void kmemtrace_guard_enter(struct kmemtrace_guard *guard)
{
	local_irq_save(guard->flags);
	guard->nested = raw_cpu_read(kmemtrace_cpus.buf) == &kmemtrace_busy;
	raw_cpu_write(kmemtrace_cpus.buf, &kmemtrace_busy);
	/* A nested event is on this CPU, so a compiler barrier is enough. */
	barrier();
}
NOKPROBE_SYMBOL(kmemtrace_guard_enter);

void kmemtrace_guard_leave(const struct kmemtrace_guard *guard)
{
	if (!guard->nested)
		kmemtrace_end_write(raw_cpu_ptr(&kmemtrace_cpus));
	local_irq_restore(guard->flags);
}
NOKPROBE_SYMBOL(kmemtrace_guard_leave);

void kmemtrace_lock(raw_spinlock_t *lock, struct kmemtrace_guard *guard)
	__acquires(lock)
{
	kmemtrace_guard_enter(guard);
	raw_spin_lock(lock);
}
NOKPROBE_SYMBOL(kmemtrace_lock);

void kmemtrace_unlock(raw_spinlock_t *lock, const struct kmemtrace_guard *guard)
	__releases(lock)
{
	raw_spin_unlock(lock);
	kmemtrace_guard_leave(guard);
}
NOKPROBE_SYMBOL(kmemtrace_unlock);

u64 kmemtrace_lost(unsigned int cpu)
{
	struct kmemtrace_cpu *kc = per_cpu_ptr(&kmemtrace_cpus, cpu);
	unsigned int start;
	u64 lost;

	do {
		start = raw_read_seqcount_begin(&kc->seq);
		lost = kc->lost;
	} while (read_seqcount_retry(&kc->seq, start));

	return lost + atomic_long_read(&kc->refused);
}
NOKPROBE_SYMBOL(kmemtrace_lost);

bool kmemtrace_is_recording(void)
{
	return READ_ONCE(kmemtrace_recording);
}
NOKPROBE_SYMBOL(kmemtrace_is_recording);

void kmemtrace_recheck(void)
{
	unsigned int cpu;

	/*
	 * Orders the caller's change before the stores to limit.  Pairs with smp_mb()
	 * in kmemtrace_make_room(): if a CPU does not see the change there, it has
	 * stored its limit before the store of -1 here, so that -1 remains.
	 */
	smp_mb();
	for_each_possible_cpu(cpu)
		WRITE_ONCE(per_cpu_ptr(&kmemtrace_cpus, cpu)->limit, -1);
}
NOKPROBE_SYMBOL(kmemtrace_recheck);

void __init kmemtrace_guard_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		seqcount_init(&per_cpu_ptr(&kmemtrace_cpus, cpu)->seq);
}
