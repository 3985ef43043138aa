// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses of snapshots, and stress tests.  Commands for /proc/kmt_snapshot:
 *
 *   hoard			allocate kernel memory without end, until killed
 *   drop			free the memory of hoard, keep and fill
 *   keep N		hold N objects of 1000 bytes, by snapshot_keep()
 *   fill N		hold N objects of the cache kmt_snapshot
 *   fail, fail-quiet	make an allocation fail, with and without a warning
 *   take N		call kmemtrace_snapshot() with a spin lock held and
 *			interrupts off, once or N times
 *   take-alloc		call kmemtrace_snapshot_alloc()
 *   take-nmi		call kmemtrace_snapshot() in NMI context
 *   take-both N	N times, take snapshots on all CPUs at once, with
 *			interrupts off
 *   take-timer N	take N snapshots on one CPU, while timer interrupts
 *			take more
 *   take-refused	take a snapshot, followed by an event in NMI context
 */
#define pr_fmt(fmt) "kmt_snapshot: " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kmemtrace.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include <trace/events/kmem.h>

#include "kmt_compat.h"
#include "kmt_proc.h"

/* Lists of held objects: each begins with a pointer to the previous one. */
static void **snapshot_hoarded, **snapshot_kept, **snapshot_filled;
static struct kmem_cache *snapshot_cache;
static DEFINE_MUTEX(snapshot_mutex);

/* The test expects this function's call site in the records of a snapshot. */
static noinline int snapshot_hoard(void)
{
	void **object;

	while (!fatal_signal_pending(current)) {
		/* The largest size for which the OOM killer is called. */
		object = kmalloc(PAGE_SIZE << PAGE_ALLOC_COSTLY_ORDER,
				 GFP_KERNEL);
		if (!object)
			return -ENOMEM;
		*object = snapshot_hoarded;
		snapshot_hoarded = object;
		cond_resched();
	}
	return -EINTR;
}

static noinline int snapshot_keep(unsigned long n)
{
	void **object;

	for (; n; n--) {
		object = kmalloc(1000, GFP_KERNEL);
		if (!object)
			return -ENOMEM;
		*object = snapshot_kept;
		snapshot_kept = object;
	}
	return 0;
}

static noinline int snapshot_fill(unsigned long n)
{
	void **object;

	for (; n; n--) {
		object = kmem_cache_alloc(snapshot_cache, GFP_KERNEL);
		if (!object)
			return -ENOMEM;
		*object = snapshot_filled;
		snapshot_filled = object;
	}
	return 0;
}

static noinline void snapshot_drop(void)
{
	void **object;

	while ((object = snapshot_hoarded)) {
		snapshot_hoarded = *object;
		kfree(object);
		cond_resched();
	}
	while ((object = snapshot_kept)) {
		snapshot_kept = *object;
		kfree(object);
	}
	while ((object = snapshot_filled)) {
		snapshot_filled = *object;
		kmem_cache_free(snapshot_cache, object);
	}
}

/* Allocate blocks of the largest order until no zone has one left. */
static noinline int snapshot_fail(gfp_t gfp)
{
	LIST_HEAD(pages);
	struct page *page, *next;

	/* Not GFP_NOWAIT, which includes __GFP_NOWARN in newer kernels. */
	while ((page = alloc_pages(__GFP_KSWAPD_RECLAIM | __GFP_NORETRY | gfp,
				   MAX_PAGE_ORDER)))
		list_add(&page->lru, &pages);
	list_for_each_entry_safe(page, next, &pages, lru)
		__free_pages(page, MAX_PAGE_ORDER);
	return 0;
}

static noinline int snapshot_take(unsigned long n)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;

	do {
		spin_lock_irqsave(&lock, flags);
		kmemtrace_snapshot();
		spin_unlock_irqrestore(&lock, flags);
		cond_resched();
	} while (n-- > 1);
	return 0;
}

static void snapshot_take_here(void *unused)
{
	kmemtrace_snapshot();
}

static int snapshot_take_both(unsigned long n)
{
	for (; n; n--) {
		on_each_cpu(snapshot_take_here, NULL, 1);
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static unsigned long snapshot_n_timer;

static enum hrtimer_restart snapshot_take_on_timer(struct hrtimer *timer)
{
	kmemtrace_snapshot();
	snapshot_n_timer++;
	hrtimer_forward_now(timer, ns_to_ktime(500 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* Most timer interrupts arrive when a snapshot enables interrupts again. */
static int snapshot_take_timer(unsigned long n)
{
	struct hrtimer timer;

	hrtimer_setup_on_stack(&timer, snapshot_take_on_timer, CLOCK_MONOTONIC,
			       HRTIMER_MODE_REL_PINNED_HARD);
	snapshot_n_timer = 0;
	preempt_disable();
	hrtimer_start(&timer, ns_to_ktime(500 * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_PINNED_HARD);
	for (; n; n--)
		kmemtrace_snapshot();
	preempt_enable();
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	pr_info("%lu snapshots by the timer\n", snapshot_n_timer);
	return snapshot_n_timer ? 0 : -ETIME;
}

/* Function to call in NMI context. */
static void (*nmi_func)(void);
static atomic_t nmi_wanted;

static int snapshot_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!atomic_read(&nmi_wanted))
		return NMI_DONE;
	nmi_func();
	atomic_set(&nmi_wanted, 0);
	return NMI_HANDLED;
}

/*
 * kfree() must not be called in NMI context, but its tracepoint may be.
 */
static void snapshot_event(void)
{
	trace_kfree(_THIS_IP_, &nmi_wanted);
}

/* Call func in NMI context; with take, immediately after a snapshot. */
static int snapshot_in_nmi(void (*func)(void), bool take)
{
	unsigned long flags;
	int err;

	nmi_func = func;
	err = register_nmi_handler(NMI_LOCAL, snapshot_nmi, 0, "kmt_snapshot");
	if (err)
		return err;
	/*
	 * With interrupts off, no event occurs on this CPU between the snapshot
	 * and the NMI.
	 */
	local_irq_save(flags);
	if (take)
		kmemtrace_snapshot();
	atomic_set(&nmi_wanted, 1);
	kmt_send_nmi();
	while (atomic_read(&nmi_wanted))
		cpu_relax();
	local_irq_restore(flags);
	unregister_nmi_handler(NMI_LOCAL, "kmt_snapshot");
	return 0;
}

static int snapshot_do(const char *word, unsigned long n)
{
	int ret;

	if (!strcmp(word, "hoard")) {
		ret = snapshot_hoard();
		/* Otherwise the OOM killer would kill all other tasks, too. */
		snapshot_drop();
		return ret;
	}
	if (!strcmp(word, "keep"))
		return snapshot_keep(n);
	if (!strcmp(word, "fill"))
		return snapshot_fill(n);
	if (!strcmp(word, "fail"))
		return snapshot_fail(0);
	if (!strcmp(word, "fail-quiet"))
		return snapshot_fail(__GFP_NOWARN);
	if (!strcmp(word, "take"))
		return snapshot_take(n);
	if (!strcmp(word, "take-nmi"))
		return snapshot_in_nmi(kmemtrace_snapshot, false);
	if (!strcmp(word, "take-refused"))
		return snapshot_in_nmi(snapshot_event, true);
	if (!strcmp(word, "take-timer"))
		return snapshot_take_timer(n);
	if (!strcmp(word, "take-both"))
		return snapshot_take_both(n);
	if (!strcmp(word, "take-alloc"))
		kmemtrace_snapshot_alloc();
	else if (!strcmp(word, "drop"))
		snapshot_drop();
	else
		return -EINVAL;
	return 0;
}

static ssize_t snapshot_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	char text[32], word[16];
	unsigned long n = 0;
	int ret;

	ret = kmt_copy_text(text, sizeof(text), buf, len);
	if (ret)
		return ret;
	if (sscanf(text, "%15s %lu", word, &n) < 1)
		return -EINVAL;
	mutex_lock(&snapshot_mutex);
	ret = snapshot_do(word, n);
	mutex_unlock(&snapshot_mutex);
	return ret ? ret : len;
}

static const struct proc_ops snapshot_ops = {
	.proc_write	= snapshot_write,
	.proc_lseek	= noop_llseek,
};

/* A constructor prevents that the cache is merged with others of its size. */
static void snapshot_construct(void *object)
{
}

static int __init snapshot_init(void)
{
	snapshot_cache = kmem_cache_create("kmt_snapshot", 200, 0, 0,
					   snapshot_construct);
	if (!snapshot_cache)
		return -ENOMEM;
	if (!proc_create("kmt_snapshot", 0200, NULL, &snapshot_ops)) {
		kmem_cache_destroy(snapshot_cache);
		return -ENOMEM;
	}
	return 0;
}

static void __exit snapshot_exit(void)
{
	remove_proc_entry("kmt_snapshot", NULL);
	snapshot_drop();
	kmem_cache_destroy(snapshot_cache);
}

module_init(snapshot_init);
module_exit(snapshot_exit);
MODULE_DESCRIPTION("Hoards memory and takes snapshots of kmemtrace");
MODULE_LICENSE("GPL");
