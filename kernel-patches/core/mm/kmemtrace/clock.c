// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the clock of the records is sched_clock().
 *
 * sched_clock() acquires no lock and never waits for its own update; ktime_get()
 * spins on a seqcount that the interrupted updater may hold.  sched_clock() runs from
 * early boot on without a jump; the fast monotonic clock stands still until
 * timekeeping is initialised.  On machines with a stable TSC, sched_clock() is one
 * clock for all CPUs.
 *
 * local_clock() is no alternative: until late in boot it treats every clock as
 * unstable and limits the clock to one tick after the CPU's last tick, so that it
 * falls behind while interrupts are off.  local_clock() is used from the end of boot
 * on if sched_clock() has turned out to be unstable.  Each CPU tests this in the slow
 * path of the writer, at least for each sub-buffer that it fills.
 *
 * The clock is read with interrupts off in the section that reserves room in the
 * buffer.  If the clock steps back, the last timestamp of that CPU is used.
 *
 * Timestamps never decrease within a CPU's file.  The order of events on different
 * CPUs is exact if sched_clock() is stable; otherwise, once local_clock() is used, the
 * error is at most one tick.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>

#include "clock.h"
#include "guard.h"

DEFINE_STATIC_KEY_FALSE(kmemtrace_unstable);

#ifdef CONFIG_X86
/*
 * tsc_init() sets the boot CPU's cyc2ns.seq back to 0.  A copy of the factors from before
 * would be taken for current when the number is reached again, so replace it now.
 */
static int __init kmemtrace_replace_inlined_clock(void)
{
	kmemtrace_recheck();
	return 0;
}
early_initcall(kmemtrace_replace_inlined_clock);
#endif

/* Switching a static key may sleep, so a work item does it. */
static void kmemtrace_use_local_clock(struct work_struct *work)
{
	static_branch_enable(&kmemtrace_unstable);
	/* Each CPU now enters the slow path, which disables its inlined clock. */
	kmemtrace_recheck();
	pr_info("sched_clock() is unstable; using local_clock()\n");
}

static DECLARE_WORK(kmemtrace_clock_work, kmemtrace_use_local_clock);

static void kmemtrace_queue_clock_work(struct irq_work *irq_work)
{
	schedule_work(&kmemtrace_clock_work);
}

static DEFINE_IRQ_WORK(kmemtrace_clock_irq_work, kmemtrace_queue_clock_work);

void kmemtrace_check_clock(void)
{
	if (unlikely(!kmemtrace_sched_clock_stable()) &&
	    system_state == SYSTEM_RUNNING &&
	    !static_key_enabled(&kmemtrace_unstable))
		irq_work_queue(&kmemtrace_clock_irq_work);
}
NOKPROBE_SYMBOL(kmemtrace_check_clock);

/* Out of line: a copy of local_clock() in another file could have a kprobe. */
u64 kmemtrace_local_clock(void)
{
	return local_clock();
}
NOKPROBE_SYMBOL(kmemtrace_local_clock);

u64 kmemtrace_clock(void)
{
	u64 now;

	/*
	 * If the task moved to another CPU meanwhile, the clock would combine the
	 * counter of one CPU with the conversion factors of the other.
	 */
	preempt_disable_notrace();
	now = kmemtrace_raw_clock();
	preempt_enable_notrace();
	return now;
}
NOKPROBE_SYMBOL(kmemtrace_clock);

const char *kmemtrace_clock_name(void)
{
	return static_key_enabled(&kmemtrace_unstable) ? "local_clock" :
							  "sched_clock";
}
