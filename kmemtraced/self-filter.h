/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the events that kmemtraced itself causes in the kernel.
 *
 * The task identifies an allocation by kmemtraced. A free by kmemtraced may
 * release memory that another task allocated, and a free in an interrupt
 * belongs to no task. Therefore a free counts as kmemtraced's own only if a
 * task of kmemtraced frees, outside of interrupts, an address that kmemtraced
 * is known to have allocated. No free by another task is ever omitted by
 * mistake.
 */
#ifndef KMEMTRACED_SELF_FILTER_H
#define KMEMTRACED_SELF_FILTER_H

#include <glib.h>
#include <stdatomic.h>

#include <kmemtrace_abi.h>

#define KMTD_SELF_FILTER_TASKS_MAX 4096
/* An address belongs to one bucket, which has the size of a cache line. */
#define KMTD_SELF_FILTER_BUCKETS      512
#define KMTD_SELF_FILTER_BUCKET_SLOTS 8
#define KMTD_SELF_FILTER_SLOTS                                                 \
	(KMTD_SELF_FILTER_BUCKETS * KMTD_SELF_FILTER_BUCKET_SLOTS)

/*
 * The threads of this process. Any thread may add itself, and all threads may
 * query concurrently.
 */
typedef struct {
	_Atomic guint64 bits[64]; /* bit set of the thread ids modulo 4096 */
	_Atomic gint32 tids[KMTD_SELF_FILTER_TASKS_MAX];
	_Atomic guint n;
} KmtdOwnTasks;

/*
 * Add a thread. A thread beyond KMTD_SELF_FILTER_TASKS_MAX is not recognised
 * later.
 */
void kmtd_own_tasks_add(KmtdOwnTasks *tasks, gint32 tid);

/* Search the list of threads for @tid. Called after the bit set has matched. */
gboolean kmtd_own_tasks_search(const KmtdOwnTasks *tasks, gint32 tid);

/*
 * Return whether @tid is a thread of kmemtraced. The bit set rejects most other
 * threads at once.
 */
static inline gboolean kmtd_own_tasks_has(const KmtdOwnTasks *tasks, gint32 tid)
{
	guint bit = (guint)tid % 4096;
	guint64 word = atomic_load_explicit(&tasks->bits[bit / 64],
					    memory_order_relaxed);

	return (word >> bit % 64 & 1) && kmtd_own_tasks_search(tasks, tid);
}

/*
 * Addresses that kmemtraced has allocated. A full bucket forgets one address.
 */
typedef struct {
	guint8 n_used[KMTD_SELF_FILTER_BUCKETS];
	guint64 slots[KMTD_SELF_FILTER_BUCKETS]
		     [KMTD_SELF_FILTER_BUCKET_SLOTS]; /* 0: unused */
} KmtdSelfFilter;

/* Return the bucket of an address, by a multiplicative hash. */
static inline guint kmtd_self_filter_bucket(guint64 address)
{
	return (guint)(address * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) >> 55);
}

/* Add an address that kmemtraced has allocated. */
void kmtd_self_filter_add(KmtdSelfFilter *set, guint64 address);

/*
 * Remove an address from a bucket that is not empty. Return whether it was
 * there.
 */
gboolean kmtd_self_filter_remove_used(KmtdSelfFilter *set, guint bucket,
				      guint64 address);

/*
 * Remove an address. Return whether it was in the set. Inline, because it is
 * called for nearly each event.
 */
static inline gboolean kmtd_self_filter_remove(KmtdSelfFilter *set,
					       guint64 address)
{
	guint bucket = kmtd_self_filter_bucket(address);

	return set->n_used[bucket] &&
	       kmtd_self_filter_remove_used(set, bucket, address);
}

/*
 * Added to the address of a page, because slab objects and pages are separate
 * address namespaces.
 */
#define KMTD_SELF_FILTER_PAGES_KEY 1

/*
 * Return whether kmemtraced itself, whose threads are @tasks, caused the event,
 * and update the set of its addresses. Inline, because it is called for each
 * event.
 */
static inline gboolean
kmtd_self_filter_is_own(KmtdSelfFilter *set, const KmtdOwnTasks *tasks,
			const struct kmemtrace_event_v2 *e)
{
	guint64 key = e->v1.type_id == KMEMTRACE_TYPE_PAGES
			      ? e->v1.ptr | KMTD_SELF_FILTER_PAGES_KEY
			      : e->v1.ptr;
	gboolean by_own_task, is_own_address;

	by_own_task = !(e->flags &
			(KMEMTRACE_FLAG_HARDIRQ | KMEMTRACE_FLAG_SOFTIRQ)) &&
		      kmtd_own_tasks_has(tasks, (gint32)e->pid);
	if (by_own_task && e->v1.event_id == KMEMTRACE_EVENT_ALLOC) {
		kmtd_self_filter_add(set, key);
		return TRUE;
	}
	is_own_address = kmtd_self_filter_remove(set, key);
	return by_own_task && is_own_address;
}

#endif
