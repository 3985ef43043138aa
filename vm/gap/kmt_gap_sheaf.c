// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sheaves: since Linux 6.18 each CPU can have arrays of free objects of a
 * cache. An object is recorded when its user receives or returns it, and not
 * when it moves between a sheaf, the barn of its node, and its slab.
 */
#include "kmt_gap.h"

#include <linux/gfp.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)

#define CAPACITY	64
#define OBJECT_SIZE	208

struct gap_sheaf_object {
	struct rcu_head head;
	char data[OBJECT_SIZE - sizeof(struct rcu_head)];
};

static struct kmem_cache *sheaf_cache, *late_cache;
/* More objects than the sheaves of a CPU hold, so that the barn is used. */
static void *objects[10 * CAPACITY];
static struct slab_sheaf *(*prefill)(struct kmem_cache *s, gfp_t gfp,
				     unsigned int size);
static int (*refill)(struct kmem_cache *s, gfp_t gfp,
		     struct slab_sheaf **sheaf, unsigned int size);
static void (*give_back)(struct kmem_cache *s, gfp_t gfp,
			 struct slab_sheaf *sheaf);
static void *(*alloc_from)(struct kmem_cache *s, gfp_t gfp,
			   struct slab_sheaf *sheaf);

/* From the CPU's sheaf, and back into the same sheaf. */
static noinline void gap_sheaf_objects(void)
{
	unsigned long i;

	for (i = 0; i < N; i++) {
		objects[0] = kmem_cache_alloc(sheaf_cache, GFP_KERNEL);
		kmem_cache_free(sheaf_cache, objects[0]);
	}
	say_alloc("cache", N, N * OBJECT_SIZE, GFP_KERNEL);
	say_freed("cache", N, __func__);
}

/* Full and empty sheaves move to the barn and back, and to slabs. */
static noinline void gap_sheaf_barn(void)
{
	unsigned long i;

	for (i = 0; i < ARRAY_SIZE(objects); i++)
		objects[i] = kmem_cache_alloc(sheaf_cache, GFP_KERNEL);
	for (i = 0; i < ARRAY_SIZE(objects); i++)
		kmem_cache_free(sheaf_cache, objects[i]);
	/* Flush the sheaves of all CPUs and the barn. */
	kmem_cache_shrink(sheaf_cache);
	say_alloc("cache", ARRAY_SIZE(objects),
		  ARRAY_SIZE(objects) * OBJECT_SIZE, GFP_KERNEL);
	say_freed("cache", ARRAY_SIZE(objects), __func__);
}

/* A part of a sheaf, one sheaf, and three sheaves with a part of another. */
static noinline void gap_sheaf_bulk(void)
{
	static const unsigned int sizes[] = { 7, CAPACITY, 3 * CAPACITY + 5 };
	unsigned long i, n = 0;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!kmem_cache_alloc_bulk(sheaf_cache, GFP_KERNEL, sizes[i],
					   objects))
			continue;
		kmem_cache_free_bulk(sheaf_cache, sizes[i], objects);
		n += sizes[i];
	}
	say_alloc("cache", n, n * OBJECT_SIZE, GFP_KERNEL);
	say_freed("cache", n, __func__);
}

static noinline void gap_sheaf_take(struct slab_sheaf *sheaf, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		objects[i] = alloc_from(sheaf_cache, GFP_KERNEL, sheaf);
	for (i = 0; i < n; i++)
		kmem_cache_free(sheaf_cache, objects[i]);
}

/*
 * Objects of a prefilled sheaf are recorded when they are taken out. Those that
 * are returned with the sheaf had no user and are not recorded.
 */
static noinline void gap_sheaf_prefilled(void)
{
	struct slab_sheaf *sheaf;

	if (!prefill || !refill || !give_back || !alloc_from)
		return;
	/* 20 of 30 objects are taken out, and all 40 after a refill. */
	sheaf = prefill(sheaf_cache, GFP_KERNEL, 30);
	if (!sheaf)
		return;
	gap_sheaf_take(sheaf, 20);
	if (!refill(sheaf_cache, GFP_KERNEL, &sheaf, 40))
		gap_sheaf_take(sheaf, 40);
	give_back(sheaf_cache, GFP_KERNEL, sheaf);
	/* A sheaf above the capacity is allocated for the call. */
	sheaf = prefill(sheaf_cache, GFP_KERNEL, CAPACITY + 36);
	if (!sheaf)
		return;
	gap_sheaf_take(sheaf, CAPACITY);
	give_back(sheaf_cache, GFP_KERNEL, sheaf);
	/* A prefilled sheaf from which no object is taken. */
	sheaf = prefill(sheaf_cache, GFP_KERNEL, 10);
	if (sheaf)
		give_back(sheaf_cache, GFP_KERNEL, sheaf);
	pr_info("alloc gap_sheaf_take cache %d %d %#x\n", 60 + CAPACITY,
		(60 + CAPACITY) * OBJECT_SIZE, (__force unsigned int)GFP_KERNEL);
	pr_info("freed gap_sheaf_take cache %d gap_sheaf_take\n", 60 + CAPACITY);
	say_alloc("cache", 0, 0, 0);
}

/* More objects than fit into one rcu_free sheaf; the second is not full. */
static noinline void gap_sheaf_kfree_rcu(void)
{
	struct gap_sheaf_object *object;
	unsigned long i;

	for (i = 0; i < CAPACITY + 20; i++) {
		object = kmem_cache_alloc(sheaf_cache, GFP_KERNEL);
		kfree_rcu(object, head);
	}
	say_alloc("cache", CAPACITY + 20, (CAPACITY + 20) * OBJECT_SIZE,
		  GFP_KERNEL);
	say_deferred("cache", CAPACITY + 20);
	say_freed("cache", CAPACITY + 20, "*");
}

/*
 * Leave free objects in the sheaves of a CPU, and objects in its rcu_free
 * sheaf.
 */
static noinline int gap_sheaf_offline(void *unused)
{
	struct gap_sheaf_object *object;
	unsigned long i;

	for (i = 0; i < 30; i++)
		objects[i] = kmem_cache_alloc(late_cache, GFP_ATOMIC);
	for (i = 0; i < 20; i++)
		kmem_cache_free(late_cache, objects[i]);
	for (; i < 30; i++) {
		object = objects[i];
		kfree_rcu(object, head);
	}
	return 0;
}

/*
 * Run gap_sheaf_offline() on the last online CPU. The scenario sets that CPU
 * offline before it writes to the parameter finish.
 */
static void gap_sheaf_leave(void)
{
	unsigned int cpu = cpumask_last(cpu_online_mask);

	smp_call_on_cpu(cpu, gap_sheaf_offline, NULL, false);
	pr_info("alloc gap_sheaf_offline cache 30 %d %#x\n", 30 * OBJECT_SIZE,
		(__force unsigned int)GFP_ATOMIC);
	pr_info("defer gap_sheaf_offline cache 10\n");
	pr_info("freed gap_sheaf_offline cache 20 gap_sheaf_offline\n");
	pr_info("freed gap_sheaf_offline cache 30 *\n");
}

int gap_sheaves(void)
{
	struct kmem_cache_args args = { .sheaf_capacity = CAPACITY };

	sheaf_cache = kmem_cache_create("kmt_gap_sheaf", OBJECT_SIZE, &args,
					SLAB_NO_MERGE);
	late_cache = kmem_cache_create("kmt_gap_late", OBJECT_SIZE, &args,
				       SLAB_NO_MERGE);
	if (!sheaf_cache || !late_cache) {
		gap_sheaves_end();
		return -ENOMEM;
	}
	prefill = gap_symbol("kmem_cache_prefill_sheaf");
	refill = gap_symbol("kmem_cache_refill_sheaf");
	give_back = gap_symbol("kmem_cache_return_sheaf");
	alloc_from = gap_symbol("kmem_cache_alloc_from_sheaf_noprof");
	gap_path(gap_sheaf_objects());
	gap_path(gap_sheaf_barn());
	gap_path(gap_sheaf_bulk());
	gap_path(gap_sheaf_prefilled());
	gap_path(gap_sheaf_kfree_rcu());
	gap_path(gap_sheaf_leave());
	/* Objects are still in sheaves, and wait for a grace period. */
	kmem_cache_destroy(sheaf_cache);
	sheaf_cache = NULL;
	return 0;
}

void gap_sheaves_end(void)
{
	kmem_cache_destroy(sheaf_cache);
	kmem_cache_destroy(late_cache);
}

#else

int gap_sheaves(void)
{
	return 0;
}

void gap_sheaves_end(void)
{
}

#endif
