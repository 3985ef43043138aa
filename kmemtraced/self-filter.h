/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What kmemtraced itself makes the kernel allocate and free.
 *
 * Its allocations are known by their task.  A free by it may be of somebody
 * else's memory, and one in an interrupt is anybody's: so only frees of what it
 * is known to have allocated are its own, and nobody's free is ever missed.
 */
#ifndef KMEMTRACED_SELF_FILTER_H
#define KMEMTRACED_SELF_FILTER_H

#include <glib.h>
#include <stdatomic.h>

#define KMTD_SELF_FILTER_TASKS_MAX 4096
/* An address is in one bucket, which is a line of the cache. */
#define KMTD_SELF_FILTER_BUCKETS      512
#define KMTD_SELF_FILTER_BUCKET_SLOTS 8
#define KMTD_SELF_FILTER_SLOTS                                                 \
	(KMTD_SELF_FILTER_BUCKETS * KMTD_SELF_FILTER_BUCKET_SLOTS)

/*
 * Threads of this process.  They are added by any thread, and asked for by all
 * of them.
 */
typedef struct {
	_Atomic guint64 maybe[64]; /* a bit for the lowest bits of each */
	_Atomic gint32 tids[KMTD_SELF_FILTER_TASKS_MAX];
	_Atomic guint n;
} KmtdOwnTasks;

/* One that finds no room is not told from others. */
void kmtd_own_tasks_add(KmtdOwnTasks *tasks, gint32 tid);
gboolean kmtd_own_tasks_search(const KmtdOwnTasks *tasks, gint32 tid);

static inline gboolean kmtd_own_tasks_has(const KmtdOwnTasks *tasks, gint32 tid)
{
	guint bit = (guint)tid % 4096;
	guint64 word = atomic_load_explicit(&tasks->maybe[bit / 64],
					    memory_order_relaxed);

	return (word >> bit % 64 & 1) && kmtd_own_tasks_search(tasks, tid);
}

/* Addresses that are allocated.  Where a bucket is full it forgets one. */
typedef struct {
	guint8 n_used[KMTD_SELF_FILTER_BUCKETS];
	guint64 slots[KMTD_SELF_FILTER_BUCKETS]
		     [KMTD_SELF_FILTER_BUCKET_SLOTS]; /* 0: free */
} KmtdSelfFilter;

static inline guint kmtd_self_filter_bucket(guint64 address)
{
	return (guint)(address * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 55);
}

void kmtd_self_filter_add(KmtdSelfFilter *set, guint64 address);
gboolean kmtd_self_filter_remove_used(KmtdSelfFilter *set, guint bucket,
				      guint64 address);

/* TRUE: it was there.  Asked for nearly each event. */
static inline gboolean kmtd_self_filter_remove(KmtdSelfFilter *set,
					       guint64 address)
{
	guint bucket = kmtd_self_filter_bucket(address);

	return set->n_used[bucket] &&
	       kmtd_self_filter_remove_used(set, bucket, address);
}

#endif
