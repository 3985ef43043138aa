// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events in NMI context, which are counted as lost. Since Linux 6.18 the
 * handler calls kmalloc_nolock(), kfree_nolock() and alloc_pages_nolock(),
 * which are allowed there. The handler does not call kfree(), but only its
 * tracepoint.
 */
#include "kmt_gap.h"

#include <linux/gfp.h>
#include <linux/hardirq.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <trace/events/kmem.h>

#ifdef CONFIG_X86
#define STORM_OBJECTS	32

/* Number of NMIs that the handler still expects. */
static atomic_t nmi_left;
/*
 * Events of the handler, and objects that it allocated. For each object the
 * allocator may have allocated a page for a new slab, which is one more event.
 */
static unsigned long nmi_n_events, nmi_n_objects;
/* The page that the handler allocated; the task frees it. */
static struct page *nmi_page;
static unsigned int nmi_cpu;

static void gap_nmi_nolock(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	void *object = kmalloc_nolock(110, 0, NUMA_NO_NODE);

	if (object) {
		kfree_nolock(object);
		nmi_n_events += 2;
		nmi_n_objects++;
	}
	if (!READ_ONCE(nmi_page)) {
		WRITE_ONCE(nmi_page, alloc_pages_nolock(0, NUMA_NO_NODE, 0));
		nmi_n_events += !!nmi_page;
	}
#endif
}

static int gap_nmi(unsigned int type, struct pt_regs *regs)
{
	if (atomic_read(&nmi_left) <= 0 || smp_processor_id() != nmi_cpu)
		return NMI_DONE;
	trace_kfree(_THIS_IP_, &nmi_left);
	nmi_n_events++;
	gap_nmi_nolock();
	atomic_dec(&nmi_left);
	return NMI_HANDLED;
}

static void gap_free_nmi_page(void)
{
	struct page *page = xchg(&nmi_page, NULL);

	if (page)
		__free_page(page);
}

/* The CPU sends itself NMIs while it holds no lock of the allocators. */
static void gap_nmis_alone(int n)
{
	for (; n > 0; n--) {
		atomic_set(&nmi_left, 1);
		preempt_disable();
		nmi_cpu = smp_processor_id();
		/* Leave an object for the handler in the lists of this CPU. */
		kfree(kmalloc(110, GFP_ATOMIC));
		kmt_send_nmi();
		preempt_enable();
		while (atomic_read(&nmi_left) > 0)
			cpu_relax();
		gap_free_nmi_page();
	}
	pr_info("lost %lu %lu\n", nmi_n_events, nmi_n_events);
}

static int gap_nmi_sender(void *cpu)
{
	while (atomic_read(&nmi_left) > 0 && !kthread_should_stop()) {
		kmt_send_nmi_to((unsigned long)cpu);
		usleep_range(100, 300);
	}
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

static void gap_nmi_storm_once(void **objects)
{
	unsigned int i;

	for (i = 0; i < STORM_OBJECTS; i++)
		objects[i] = kmalloc(110, GFP_KERNEL);
	for (i = 0; i < STORM_OBJECTS; i++)
		kfree(objects[i]);
	__free_page(alloc_page(GFP_KERNEL | __GFP_NOFAIL));
}

/* Another CPU sends NMIs, which interrupt the allocators at any instruction. */
static int gap_nmis_storm(int n)
{
	void *objects[STORM_OBJECTS];
	struct task_struct *sender;
	unsigned int cpu;

	if (num_online_cpus() < 2)
		return 0;
	nmi_n_events = 0;
	nmi_n_objects = 0;
	migrate_disable();
	nmi_cpu = smp_processor_id();
	cpu = cpumask_any_but(cpu_online_mask, nmi_cpu);
	atomic_set(&nmi_left, n);
	sender = kthread_create_on_cpu(gap_nmi_sender,
				       (void *)(unsigned long)nmi_cpu, cpu,
				       "kmt_gap/%u");
	if (IS_ERR(sender)) {
		migrate_enable();
		return PTR_ERR(sender);
	}
	wake_up_process(sender);
	while (atomic_read(&nmi_left) > 0) {
		gap_nmi_storm_once(objects);
		gap_free_nmi_page();
		cond_resched();
	}
	kthread_stop(sender);
	migrate_enable();
	/* Each object may also have needed a page for a new slab. */
	pr_info("lost %lu %lu\n", nmi_n_events, nmi_n_events + nmi_n_objects);
	return 0;
}

int gap_nmis(int n_events, bool storm)
{
	int err;

	err = register_nmi_handler(NMI_LOCAL, gap_nmi, 0, "kmt_gap");
	if (err)
		return err;
	if (storm)
		err = gap_nmis_storm(n_events);
	else
		gap_nmis_alone(n_events);
	unregister_nmi_handler(NMI_LOCAL, "kmt_gap");
	gap_free_nmi_page();
	return err;
}
#else
int gap_nmis(int n_events, bool storm)
{
	return -EOPNOTSUPP;
}
#endif
