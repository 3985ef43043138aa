// SPDX-License-Identifier: GPL-2.0-only
/* kmemtrace: recording begins and ends, on all CPUs. */

#include <linux/cpu.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>

#include "buffer.h"
#include "clock.h"
#include "guard.h"
#include "recording.h"
#include "view.h"
#include "writer.h"

/*
 * A record is written with interrupts off, which synchronize_rcu() waits for.
 * Since Linux 7.0 the kernel calls probes in a section that synchronize_rcu() does
 * not wait for, so tracepoint_synchronize_unregister() waits for the probes first.
 */
void kmemtrace_writer_wait(void)
{
	tracepoint_synchronize_unregister();
	synchronize_rcu();
}

struct kmemtrace_visit {
	void (*func)(struct kmemtrace_cpu *kc, unsigned int cpu, void *data);
	void *data;
};

static void kmemtrace_visit_here(void *data)
{
	const struct kmemtrace_visit *visit = data;

	visit->func(raw_cpu_ptr(&kmemtrace_cpus), raw_smp_processor_id(),
		    visit->data);
}
NOKPROBE_SYMBOL(kmemtrace_visit_here);

/*
 * Call @func for each possible CPU, with interrupts off and outside of a guarded
 * section.  For an online CPU, @func runs on that CPU, in an interrupt, which cannot
 * occur in a guarded section, because interrupts are off there.  For an offline CPU,
 * @func runs on this CPU.  Sleeps.
 */
static void kmemtrace_visit_cpus(void (*func)(struct kmemtrace_cpu *kc,
					      unsigned int cpu, void *data),
				 void *data)
{
	struct kmemtrace_visit visit = { .func = func, .data = data };
	unsigned long flags;
	unsigned int cpu;

	cpus_read_lock();
	on_each_cpu(kmemtrace_visit_here, &visit, 1);
	local_irq_save(flags);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			func(per_cpu_ptr(&kmemtrace_cpus, cpu), cpu, data);
	local_irq_restore(flags);
	cpus_read_unlock();
}

static void kmemtrace_forget(struct kmemtrace_cpu *kc, unsigned int cpu,
			     void *data)
{
	kc->lost = 0;
	kc->reported = 0;
	/* Earliest time in a LOST record for events lost before the first record. */
	kc->last = *(u64 *)data;
	atomic_long_set(&kc->refused, 0);
	kc->reported_refused = 0;
	/*
	 * Do not call kmemtrace_leave_buffer(), which would count the unread records
	 * that a snapshot took from this CPU as lost: these records are older than the
	 * counts that begin here.
	 */
	kc->own = &kmemtrace_no_buf;
	kc->buf = kc->own;
}
NOKPROBE_SYMBOL(kmemtrace_forget);

void kmemtrace_writer_reset_lost(void)
{
	u64 now = kmemtrace_clock();

	kmemtrace_visit_cpus(kmemtrace_forget, &now);
}

static void kmemtrace_report_lost(struct kmemtrace_cpu *kc, unsigned int cpu,
				void *data)
{
	struct kmemtrace_buffers *live = kmemtrace_live.buffers;
	struct rchan_buf *buf = kmemtrace_buffer(live, cpu);

	if (!buf || !kmemtrace_begin_write(kc))
		return;
	buf = kmemtrace_enter_buffer(kc, live, buf);
	if (buf)
		kmemtrace_write_lost(kc, buf);
	kmemtrace_end_write(kc);
}
NOKPROBE_SYMBOL(kmemtrace_report_lost);

void kmemtrace_writer_report_lost(void)
{
	kmemtrace_visit_cpus(kmemtrace_report_lost, NULL);
}

void kmemtrace_writer_start(void)
{
	kmemtrace_writer_reset_lost();
	/*
	 * The state of the new session is complete before its first record.  Pairs with
	 * smp_mb() in kmemtrace_make_room().
	 */
	smp_store_release(&kmemtrace_recording, true);
}

void kmemtrace_writer_stop(void)
{
	WRITE_ONCE(kmemtrace_recording, false);
	kmemtrace_recheck();
}
NOKPROBE_SYMBOL(kmemtrace_writer_stop);

static void kmemtrace_leave(struct kmemtrace_cpu *kc, unsigned int cpu,
			    void *buffers)
{
	if (kc->own == &kmemtrace_no_buf ||
	    kmemtrace_set_of(kc->own) != buffers || !kmemtrace_begin_write(kc))
		return;
	WRITE_ONCE(kc->limit, -1);
	kmemtrace_leave_buffer(kc);
	kc->own = &kmemtrace_no_buf;
	kmemtrace_end_write(kc);
}
NOKPROBE_SYMBOL(kmemtrace_leave);

/*
 * Let each CPU leave the set, so that the set can be freed.  That no record fits,
 * because the limit of each CPU is -1, does not suffice: an event reads the offset of
 * its CPU's buffer before it compares the offset with the limit.
 */
void kmemtrace_writer_leave_set(struct kmemtrace_buffers *buffers)
{
	kmemtrace_visit_cpus(kmemtrace_leave, buffers);
}

void __init kmemtrace_writer_init(void)
{
	kmemtrace_guard_init();
	if (kmemtrace_abi < 2)
		static_branch_disable(&kmemtrace_v2);
}
