// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of the slab allocator whose instructions bench/profile.c, a plugin of
 * QEMU, counts. Each measured step reads the processor's counter before and
 * after its loop, by which the plugin recognizes it. Interrupts are off
 * meanwhile, except in bulk operations, which must be called with interrupts
 * enabled. No other code of this module reads the counter.
 */
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/workqueue.h>

#include "kmt_mixture.h"

#define KMALLOC_BYTES 100
/* A number of objects that fits into per-CPU lists, and one that does not. */
#define FEW  32
#define MANY 1024
/* Objects in one call of a bulk operation. */
#define BULK	   64
#define MAX_ROUNDS 64

/* What a loop does with each object. */
enum step { NONE, EMPTY, PAIR, ALLOC, FREE, BULK_ALLOC, BULK_FREE };

struct call {
	enum step step;
	unsigned int n;
	struct kmem_cache *cache;
	bool is_measured;
};

static void *objects[MANY];

static __always_inline void *take(struct kmem_cache *cache)
{
	void *object = cache ? kmem_cache_alloc(cache, GFP_ATOMIC)
			     : kmalloc(KMALLOC_BYTES, GFP_ATOMIC);

	/* Prevent the compiler from removing a pair of calls. */
	OPTIMIZER_HIDE_VAR(object);
	return object;
}

static __always_inline void release(struct kmem_cache *cache, void *object)
{
	if (cache)
		kmem_cache_free(cache, object);
	else
		kfree(object);
}

/* Inlined for kmalloc and for the cache, so that no loop tests the kind. */
static __always_inline int run_loop(const struct call *call,
				    struct kmem_cache *cache)
{
	unsigned int i;

	switch (call->step) {
	case NONE:
		return 0;
	case EMPTY:
		for (i = 0; i < call->n; i++)
			WRITE_ONCE(objects[i], NULL);
		return 0;
	case PAIR:
		for (i = 0; i < call->n; i++)
			release(cache, take(cache));
		return 0;
	case ALLOC:
		for (i = 0; i < call->n; i++) {
			objects[i] = take(cache);
			if (!objects[i])
				return -ENOMEM;
		}
		return 0;
	case FREE:
		for (i = 0; i < call->n; i++)
			release(cache, objects[i]);
		return 0;
	case BULK_ALLOC:
		for (i = 0; i < call->n; i += BULK)
			if (!kmem_cache_alloc_bulk(cache, GFP_ATOMIC, BULK,
						   objects + i))
				return -ENOMEM;
		return 0;
	case BULK_FREE:
		for (i = 0; i < call->n; i += BULK)
			kmem_cache_free_bulk(cache, BULK, objects + i);
		return 0;
	}
	return -EINVAL;
}

/* Prevent the compiler from removing a read of the counter. */
static __always_inline void read_counter(void)
{
	cycles_t ticks = get_cycles();

	OPTIMIZER_HIDE_VAR(ticks);
}

static int run_measured(const struct call *call)
{
	int err;

	if (call->is_measured)
		read_counter();
	err = call->cache ? run_loop(call, call->cache) : run_loop(call, NULL);
	if (call->is_measured)
		read_counter();
	return err;
}

/* Run a step on this CPU; for work_on_cpu(). Context: a bound task; sleeps. */
static long run_step(void *data)
{
	struct call *call = data;
	unsigned long flags;
	int err;

	if (call->step == BULK_ALLOC || call->step == BULK_FREE) {
		preempt_disable();
		err = run_measured(call);
		preempt_enable();
		return err;
	}
	local_irq_save(flags);
	err = run_measured(call);
	/* An interrupt in the loop would have counted. */
	if (WARN_ON_ONCE(!irqs_disabled()))
		err = -EIO;
	local_irq_restore(flags);
	return err;
}

static const struct measurement {
	const char *name;
	/* The measured step, and those before and after it, which run on CPU 0.
	 */
	enum step step, before, after;
	unsigned int n;
	/* CPU of the measured step. */
	unsigned int cpu;
	/* kmalloc() has no such operation. */
	bool is_bulk;
} measurements[] = {
	{"loop", EMPTY, NONE, NONE, MANY, 0, false},
	{"pair", PAIR, NONE, NONE, MANY, 0, false},
	{"alloc-few", ALLOC, NONE, FREE, FEW, 0, false},
	{"free-few", FREE, ALLOC, NONE, FEW, 0, false},
	{"alloc-many", ALLOC, NONE, FREE, MANY, 0, false},
	{"free-many", FREE, ALLOC, NONE, MANY, 0, false},
	{"free-other-cpu", FREE, ALLOC, NONE, MANY, 1, false},
	{"bulk-alloc", BULK_ALLOC, NONE, BULK_FREE, MANY, 0, true},
	{"bulk-free", BULK_FREE, BULK_ALLOC, NONE, MANY, 0, true},
};

/* Protects the objects. */
static DEFINE_MUTEX(cost_mutex);

/* Shuffle the objects, so that their order differs from that of allocation. */
static void shuffle(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		swap(objects[i], objects[i * 389 % n]);
}

/* Run a step on a CPU. Returns 0 or a negative errno. */
static int run_on(unsigned int cpu, enum step step, bool is_measured,
		  unsigned int n, struct kmem_cache *cache)
{
	struct call call = {step, n, cache, is_measured};

	if (step == NONE)
		return 0;
	if (step == FREE)
		shuffle(n);
	return work_on_cpu(cpu, run_step, &call);
}

/* Measure an operation in each of some rounds. */
static int measure(const struct measurement *m, struct kmem_cache *cache,
		   unsigned long rounds)
{
	unsigned long i;
	int err = 0;

	for (i = 0; i < rounds && !err; i++)
		err = run_on(0, m->before, false, m->n, cache) ?:
		      run_on(m->cpu, m->step, true, m->n, cache) ?:
		      run_on(0, m->after, false, m->n, cache);
	return err;
}

int mixture_cost_run(unsigned long rounds)
{
	unsigned int i;
	int err = 0;

	if (num_online_cpus() < 2)
		return -EINVAL;
	mutex_lock(&cost_mutex);
	for (i = 0; i < ARRAY_SIZE(measurements) && !err; i++) {
		if (!measurements[i].is_bulk)
			err = measure(&measurements[i], NULL, rounds);
		if (!err)
			err = measure(&measurements[i], mixture_cache, rounds);
	}
	mutex_unlock(&cost_mutex);
	return err;
}

void mixture_cost_show(struct seq_file *m)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(measurements); i++) {
		if (!measurements[i].is_bulk)
			seq_printf(m, "%s kmalloc %u\n", measurements[i].name,
				   measurements[i].n);
		seq_printf(m, "%s cache %u\n", measurements[i].name,
			   measurements[i].n);
	}
}
