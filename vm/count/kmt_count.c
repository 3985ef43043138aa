// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the cost of allocations and frees, for bench/kernel and
 * bench/instructions. Writing "<workload> <rounds>" to /proc/kmt_count runs a
 * workload that often, after one round that is not counted. Reading returns
 * "<workload> <nanoseconds> <events>". With vm/run --icount, QEMU executes one
 * instruction in each nanosecond of the guest, so the nanoseconds are a number
 * of instructions. Events are allocations and frees.
 *
 * The workloads run with interrupts off, so that no other code is counted.
 */
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/timex.h>
#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#endif

#include "kmt_proc.h"

#define BATCH 64

/*
 * Read the processor's counter of ticks. The function is inlined, so that the
 * instruction that reads the counter is in this module, where bench/profile.c
 * looks for it.
 */
static __always_inline u64 count_ticks(void)
{
#ifdef CONFIG_ARM64
	return __arch_counter_get_cntvct();
#else
	return get_cycles();
#endif
}

/* Convert ticks to nanoseconds; QEMU's TSC has one tick in a nanosecond. */
static u64 count_ns(u64 ticks)
{
#ifdef CONFIG_ARM64
	return mul_u64_u32_div(ticks, NSEC_PER_SEC, arch_timer_get_cntfrq());
#else
	return ticks;
#endif
}

static unsigned int frames;
module_param(frames, uint, 0400);
MODULE_PARM_DESC(frames, "frames on the stack between the system call and the workload");

static struct kmem_cache *count_cache;
static void *batch[BATCH];

/* The workloads. Each returns its number of events, or 0 on failure. */
static unsigned int count_kmalloc(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		batch[i] = kmalloc(64, GFP_ATOMIC);
		if (!batch[i])
			return 0;
		/* Prevent the compiler from removing both calls. */
		OPTIMIZER_HIDE_VAR(batch[i]);
		kfree(batch[i]);
	}
	return 2 * BATCH;
}

/* Many sizes, allocated together and freed in another order. */
static unsigned int count_mixed(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		batch[i] = kmalloc(8 << (i % 8), GFP_ATOMIC);
		if (!batch[i])
			return 0;
	}
	for (i = 0; i < BATCH; i++)
		kfree(batch[i * 37 % BATCH]);
	return 2 * BATCH;
}

static unsigned int count_cache_objects(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		batch[i] = kmem_cache_alloc(count_cache, GFP_ATOMIC);
		if (!batch[i])
			return 0;
	}
	for (i = 0; i < BATCH; i++)
		kmem_cache_free(count_cache, batch[i]);
	return 2 * BATCH;
}

static unsigned int count_pages_of(unsigned int order)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		page = alloc_pages(GFP_ATOMIC, order);
		if (!page)
			return 0;
		__free_pages(page, order);
	}
	return 2 * BATCH;
}

static unsigned int count_pages(void)
{
	return count_pages_of(0);
}

static unsigned int count_order3(void)
{
	return count_pages_of(3);
}

/* Two events for each kmalloc() or kfree(): for the object and its pages. */
static unsigned int count_large(void)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		batch[0] = kmalloc(16384, GFP_ATOMIC);
		if (!batch[0])
			return 0;
		OPTIMIZER_HIDE_VAR(batch[0]);
		kfree(batch[0]);
	}
	return 4 * BATCH;
}

static const struct {
	const char *name;
	unsigned int (*run)(void);
} workloads[] = {
	{ "kmalloc", count_kmalloc },
	{ "mixed", count_mixed },
	{ "cache", count_cache_objects },
	{ "pages", count_pages },
	{ "order3", count_order3 },
	{ "large", count_large },
};

/* Run a workload below n stack frames. */
static noinline unsigned int count_below(unsigned int which, unsigned int n)
{
	unsigned int events = n ? count_below(which, n - 1) :
				  workloads[which].run();

	/* Prevent the compiler from turning the call into a jump. */
	OPTIMIZER_HIDE_VAR(events);
	return events;
}

/* Result of the last run; count_mutex protects the result and the batch. */
static DEFINE_MUTEX(count_mutex);
static const char *last_name = "nothing";
static u64 last_ns, last_events;

static int count_run(unsigned int which, unsigned long rounds)
{
	unsigned int events = 0;
	unsigned long i, flags;
	u64 start, end, ticks = 0, total = 0;

	/* Do not count the first round, which fills the allocators' lists. */
	for (i = 0; i <= rounds; i++) {
		local_irq_save(flags);
		start = count_ticks();
		events = count_below(which, frames);
		end = count_ticks();
		local_irq_restore(flags);
		if (!events)
			return -ENOMEM;
		if (i) {
			ticks += end - start;
			total += events;
		}
	}
	last_name = workloads[which].name;
	last_ns = count_ns(ticks);
	last_events = total;
	return 0;
}

static ssize_t count_write(struct file *file, const char __user *buf,
			   size_t len, loff_t *pos)
{
	unsigned long rounds;
	unsigned int i;
	char text[32];
	int err;

	err = kmt_copy_command(text, sizeof(text), buf, len, &rounds);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(workloads); i++)
		if (!strcmp(text, workloads[i].name))
			break;
	if (i == ARRAY_SIZE(workloads))
		return -EINVAL;
	mutex_lock(&count_mutex);
	err = count_run(i, rounds);
	mutex_unlock(&count_mutex);
	return err ?: len;
}

static int count_show(struct seq_file *m, void *v)
{
	mutex_lock(&count_mutex);
	seq_printf(m, "%s %llu %llu\n", last_name, last_ns, last_events);
	mutex_unlock(&count_mutex);
	return 0;
}

KMT_DEFINE_PROC_OPS(count);

static void count_object(void *object)
{
}

static int __init count_init(void)
{
	/* A constructor prevents that the cache is merged with another one. */
	count_cache = kmem_cache_create("kmt_count", 200, 0, 0, count_object);
	if (!count_cache)
		return -ENOMEM;
	if (proc_create("kmt_count", 0600, NULL, &count_ops))
		return 0;
	kmem_cache_destroy(count_cache);
	return -ENOMEM;
}

static void __exit count_exit(void)
{
	remove_proc_entry("kmt_count", NULL);
	kmem_cache_destroy(count_cache);
}

module_init(count_init);
module_exit(count_exit);
MODULE_DESCRIPTION("Counts the instructions of allocations and frees");
MODULE_LICENSE("GPL");
