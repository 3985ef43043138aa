// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that kfree_rcu() receives: the call site of the hand-over is the
 * caller of kfree_rcu(). A worker or a callback frees the memory after a grace
 * period, in bulk or one by one. The host checks the free of each of these
 * addresses.
 */
#include "kmt_gap.h"

#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

struct gap_rcu {
	struct rcu_head head;
	char data[240];
};

static struct kmem_cache *gap_rcu_cache;

static noinline void gap_kfree_rcu(void)
{
	unsigned long i;

	for (i = 0; i < N; i++)
		kfree_rcu((struct gap_rcu *)kmalloc(sizeof(struct gap_rcu),
						    GFP_KERNEL), head);
	say_handed_over("kmalloc", N, N * sizeof(struct gap_rcu), GFP_KERNEL);
}

/* Without an rcu_head, the caller waits for a grace period if memory is low. */
static noinline void gap_kfree_rcu_mightsleep(void)
{
	struct gap_rcu *object;
	unsigned long i;

	for (i = 0; i < N; i++) {
		object = kmalloc(sizeof(*object), GFP_KERNEL);
		kfree_rcu_mightsleep(object);
	}
	say_handed_over("kmalloc", N, N * sizeof(*object), GFP_KERNEL);
}

/* Interrupts are off, as with a raw spinlock held. */
static noinline void gap_kfree_rcu_irqs_off(void)
{
	unsigned long flags, i;

	local_irq_save(flags);
	for (i = 0; i < N; i++)
		kfree_rcu((struct gap_rcu *)kmalloc(sizeof(struct gap_rcu),
						    GFP_ATOMIC), head);
	local_irq_restore(flags);
	say_handed_over("kmalloc", N, N * sizeof(struct gap_rcu), GFP_ATOMIC);
}

/* Above the largest cache of kmalloc. */
static noinline void gap_kfree_rcu_large(void)
{
	struct gap_rcu *object;
	unsigned long i;

	for (i = 0; i < 4; i++) {
		object = kmalloc(200000, GFP_KERNEL);
		kvfree_rcu(object, head);
	}
	object = kmalloc(200000, GFP_KERNEL);
	kvfree_rcu_mightsleep(object);
	say_handed_over("kmalloc", 5, 5 * 200000, GFP_KERNEL);
}

static noinline void gap_kvfree_rcu_vmalloc(void)
{
	struct gap_rcu *area;
	unsigned long i;

	for (i = 0; i < 4; i++) {
		area = vmalloc(3 * PAGE_SIZE);
		kvfree_rcu(area, head);
	}
	for (i = 0; i < 4; i++) {
		area = vmalloc(3 * PAGE_SIZE);
		kvfree_rcu_mightsleep(area);
	}
	say_handed_over("vmalloc", 8, 24 * PAGE_SIZE, GFP_KERNEL);
}

/* Since Linux 6.4 kfree_rcu() takes objects of any cache. */
static noinline void gap_kfree_rcu_cache(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	unsigned long i;

	for (i = 0; i < N; i++)
		kfree_rcu((struct gap_rcu *)kmem_cache_alloc(gap_rcu_cache,
							     GFP_KERNEL),
			  head);
	say_handed_over("cache", N, N * sizeof(struct gap_rcu), GFP_KERNEL);
#endif
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0)
struct gap_rcu_nolock {
	struct kvfree_rcu_head head;
	char data[240];
};

/* Since Linux 7.3 a variant of kfree_rcu() is allowed in any context. */
static noinline void gap_kfree_rcu_nolock(void)
{
	struct gap_rcu_nolock *object;
	unsigned long i;

	for (i = 0; i < N; i++) {
		object = kmalloc(sizeof(*object), GFP_KERNEL);
		kfree_rcu_nolock(object, head);
	}
	say_handed_over("kmalloc", N, N * sizeof(*object), GFP_KERNEL);
}

/* Interrupts are off, so full sheaves wait for an irq_work. */
static noinline void gap_kfree_rcu_nolock_irqs_off(void)
{
	struct gap_rcu_nolock *object;
	unsigned long flags, i;

	local_irq_save(flags);
	for (i = 0; i < N; i++) {
		object = kmalloc(sizeof(*object), GFP_ATOMIC);
		kfree_rcu_nolock(object, head);
	}
	local_irq_restore(flags);
	say_handed_over("kmalloc", N, N * sizeof(*object), GFP_ATOMIC);
}

/* An irq_work passes objects without a slab to kfree_rcu(). */
static noinline void gap_kfree_rcu_nolock_large(void)
{
	struct gap_rcu_nolock *object;
	unsigned long i;

	for (i = 0; i < 4; i++) {
		object = kmalloc(200000, GFP_KERNEL);
		kfree_rcu_nolock(object, head);
	}
	say_handed_over("kmalloc", 4, 4 * 200000, GFP_KERNEL);
}

static noinline void gap_kfree_rcu_nolock_vmalloc(void)
{
	struct gap_rcu_nolock *area;
	unsigned long i;

	for (i = 0; i < 4; i++) {
		area = vmalloc(3 * PAGE_SIZE);
		kfree_rcu_nolock(area, head);
	}
	say_handed_over("vmalloc", 4, 12 * PAGE_SIZE, GFP_KERNEL);
}

static void gap_kfree_rcus_nolock(void)
{
	gap_path(gap_kfree_rcu_nolock());
	gap_path(gap_kfree_rcu_nolock_irqs_off());
	gap_path(gap_kfree_rcu_nolock_large());
	gap_path(gap_kfree_rcu_nolock_vmalloc());
}
#else
static void gap_kfree_rcus_nolock(void)
{
}
#endif

/* A cache with a constructor is not merged with others of its size. */
static void gap_construct(void *object)
{
}

int gap_rcus(void)
{
	gap_rcu_cache = kmem_cache_create("kmt_gap_rcu", sizeof(struct gap_rcu),
					  0, 0, gap_construct);
	if (!gap_rcu_cache)
		return -ENOMEM;
	gap_path(gap_kfree_rcu());
	gap_path(gap_kfree_rcu_mightsleep());
	gap_path(gap_kfree_rcu_irqs_off());
	gap_path(gap_kfree_rcu_large());
	gap_path(gap_kvfree_rcu_vmalloc());
	gap_path(gap_kfree_rcu_cache());
	gap_kfree_rcus_nolock();
	return 0;
}

void gap_rcus_end(void)
{
	/* Since Linux 6.18 objects may wait in a sheaf, which this flushes. */
	kmt_kfree_rcu_barrier();
	kmem_cache_destroy(gap_rcu_cache);
}
