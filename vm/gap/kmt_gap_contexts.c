// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts and other CPUs. */
#include "kmt_gap.h"

#include <linux/interrupt.h>
#include <linux/lockdep.h>
#include <linux/slab.h>
#include <linux/smp.h>

/*
 * PREEMPT_RT does not allow the locks of the allocators in a hard interrupt.
 * Lockdep reports such a lock on every kernel, unless an exemption is active.
 */
#ifdef DEFINE_WAIT_OVERRIDE_MAP
static DEFINE_WAIT_OVERRIDE_MAP(gap_exemption, LD_WAIT_CONFIG);
#define gap_exemption_begin()	lock_map_acquire_try(&gap_exemption)
#define gap_exemption_end()	lock_map_release(&gap_exemption)
#else
#define gap_exemption_begin()	do { } while (0)
#define gap_exemption_end()	do { } while (0)
#endif

static noinline void gap_hardirq_allocates(void *unused)
{
	gap_exemption_begin();
	kfree(kmalloc(120, GFP_ATOMIC));
	gap_exemption_end();
	/* After a tail call, kfree() would have a call site in our caller. */
	barrier();
}

static void gap_hardirq(void)
{
	int cpu = get_cpu();
	unsigned long i;

	for (i = 0; i < N; i++)
		smp_call_function_single(cpumask_any_but(cpu_online_mask, cpu),
					 gap_hardirq_allocates, NULL, 1);
	put_cpu();
	pr_info("alloc gap_hardirq_allocates kmalloc %d %d %#x\n", N, N * 120,
		(__force unsigned int)GFP_ATOMIC);
	pr_info("freed gap_hardirq_allocates kmalloc %d gap_hardirq_allocates\n",
		N);
}

static noinline void gap_softirq_allocates(struct tasklet_struct *unused)
{
	kfree(kmalloc(130, GFP_ATOMIC));
	barrier();
}

static void gap_softirq(void)
{
	DECLARE_TASKLET(tasklet, gap_softirq_allocates);
	unsigned long i;

	for (i = 0; i < N; i++) {
		tasklet_schedule(&tasklet);
		while (READ_ONCE(tasklet.state))
			cond_resched();
	}
	tasklet_kill(&tasklet);
	pr_info("alloc gap_softirq_allocates kmalloc %d %d %#x\n", N, N * 130,
		(__force unsigned int)GFP_ATOMIC);
	pr_info("freed gap_softirq_allocates kmalloc %d gap_softirq_allocates\n",
		N);
}

static noinline void gap_irqs_off(void)
{
	unsigned long flags, i;

	local_irq_save(flags);
	for (i = 0; i < N; i++)
		kfree(kmalloc(140, GFP_ATOMIC));
	local_irq_restore(flags);
	say_alloc("kmalloc", N, N * 140, GFP_ATOMIC);
	say_freed("kmalloc", N, __func__);
}

static noinline void gap_other_cpu_frees(void *object)
{
	kfree(object);
	barrier();
}

static noinline void gap_freed_elsewhere(void)
{
	int cpu = get_cpu();
	unsigned long i;

	for (i = 0; i < N; i++)
		smp_call_function_single(cpumask_any_but(cpu_online_mask, cpu),
					 gap_other_cpu_frees,
					 kmalloc(150, GFP_ATOMIC), 1);
	put_cpu();
	say_alloc("kmalloc", N, N * 150, GFP_ATOMIC);
	say_freed("kmalloc", N, "gap_other_cpu_frees");
}

void gap_contexts(void)
{
	gap_path(gap_irqs_off());
	gap_path(gap_softirq());
	if (num_online_cpus() > 1) {
		gap_path(gap_hardirq());
		gap_path(gap_freed_elsewhere());
	}
}
