// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same work for each slab allocator, for bench/allocators. The numbers
 * are pseudo-random with a constant seed, so that each worker makes the same
 * calls in each kernel. Commands for /proc/kmt_mixture, by a task that is bound
 * to a CPU:
 *
 *   fill WORKER	allocate an object for each slot of a worker
 *   churn WORKER	replace objects in random slots
 *   thin WORKER	free three of four objects
 *   drop WORKER	free all objects
 *   produce N		put N objects into the queue
 *   consume N		take N objects out of the queue and free them
 *   cost ROUNDS	make the calls whose instructions bench/profile.c counts
 *
 * Reading returns a line for kmalloc and one for the module's cache:
 *
 *   KIND ALLOCS BYTES USABLE FREES FREED_BYTES FREED_USABLE CROSS_CPU_FREES
 *
 * USABLE is the sum of ksize(). The records must have the same figures. Reading
 * /proc/kmt_mixture_cost returns a line for each run that the plugin numbers,
 * with the number of calls in a round:
 *
 *   OPERATION KIND CALLS
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "kmt_mixture.h"
#include "kmt_proc.h"

struct kmem_cache *mixture_cache;

static ssize_t mixture_write(struct file *file, const char __user *buf,
			     size_t len, loff_t *pos)
{
	unsigned long number;
	char text[32];
	int err;

	err = kmt_copy_command(text, sizeof(text), buf, len, &number);
	if (err)
		return err;
	if (!strcmp(text, "produce"))
		err = mixture_produce(number);
	else if (!strcmp(text, "consume"))
		err = mixture_consume(number);
	else if (!strcmp(text, "cost"))
		err = mixture_cost_run(number);
	else
		err = mixture_worker_run(text, number);
	return err ?: len;
}

static void show_counts(struct seq_file *m, const char *kind,
			const struct mixture_counts *counts)
{
	seq_printf(m, "%s %llu %llu %llu %llu %llu %llu %llu\n", kind,
		   counts->allocs, counts->bytes, counts->usable_bytes,
		   counts->frees, counts->freed_bytes,
		   counts->freed_usable_bytes, counts->cross_cpu_frees);
}

static int mixture_show(struct seq_file *m, void *v)
{
	struct mixture_counts kmalloc = {}, cache = {};

	mixture_workers_add(&kmalloc, &cache);
	mixture_queue_add(&kmalloc, &cache);
	show_counts(m, "kmalloc", &kmalloc);
	show_counts(m, "cache", &cache);
	return 0;
}

static int mixture_cost_file_show(struct seq_file *m, void *v)
{
	mixture_cost_show(m);
	return 0;
}

KMT_DEFINE_PROC_OPS(mixture);

static void mixture_construct(void *object)
{
}

static int __init mixture_init(void)
{
	int err = -ENOMEM;

	/* A constructor prevents that the cache is merged with another one. */
	mixture_cache = kmem_cache_create("kmt_mixture", MIXTURE_CACHE_BYTES, 0,
					  0, mixture_construct);
	if (!mixture_cache)
		return err;
	err = mixture_workers_init();
	if (err)
		goto no_workers;
	mixture_queue_init();
	err = -ENOMEM;
	if (!proc_create_single("kmt_mixture_cost", 0400, NULL,
				mixture_cost_file_show))
		goto no_files;
	if (proc_create("kmt_mixture", 0600, NULL, &mixture_ops))
		return 0;
	remove_proc_entry("kmt_mixture_cost", NULL);
no_files:
	mixture_workers_exit();
no_workers:
	kmem_cache_destroy(mixture_cache);
	return err;
}

static void __exit mixture_exit(void)
{
	remove_proc_entry("kmt_mixture", NULL);
	remove_proc_entry("kmt_mixture_cost", NULL);
	mixture_queue_exit();
	mixture_workers_exit();
	kmem_cache_destroy(mixture_cache);
}

module_init(mixture_init);
module_exit(mixture_exit);
MODULE_DESCRIPTION(
	"Work and measurements for the comparison of slab allocators");
MODULE_LICENSE("GPL");
