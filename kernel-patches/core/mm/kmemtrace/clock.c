// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: the clock of the records.
 *
 * sched_clock().  It takes no lock and never waits for an update of itself
 * (ktime_get() spins on a seqcount that its own updater may hold) and runs from
 * early boot on without a jump (the fast monotonic clock stands still until
 * timekeeping is up).  On machines with a stable TSC it is one clock for all
 * CPUs.  Not local_clock(): until late in boot that takes every clock for an
 * unstable one and keeps it within a tick of the CPU's last tick, so that it
 * falls behind by as long as interrupts are off.  local_clock() is used from the
 * end of boot on where sched_clock has turned out to be unstable.  Each CPU tests
 * this when it begins a sub-buffer.
 *
 * The clock is read with interrupts off in the same section that reserves room in
 * the buffer.  If the clock steps back, the last timestamp of that CPU is used.
 *
 * Guaranteed: timestamps do not decrease within a CPU's file.  Across CPUs: exact
 * order where sched_clock is stable, within a tick where it is not.
 */

#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/workqueue.h>

#include "clock.h"

DEFINE_STATIC_KEY_FALSE(kmemtrace_unstable);

/* Switching a static key may sleep, so a work item does it. */
static void kmemtrace_use_local_clock(struct work_struct *work)
{
	static_branch_enable(&kmemtrace_unstable);
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

u64 kmemtrace_clock(void)
{
	return kmemtrace_raw_clock();
}
NOKPROBE_SYMBOL(kmemtrace_clock);

const char *kmemtrace_clock_name(void)
{
	return static_key_enabled(&kmemtrace_unstable) ? "local_clock" :
							  "sched_clock";
}
