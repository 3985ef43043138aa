/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of one allocation class while records are read. An event changes
 * one cache line of its class, one of its group, and one of its kinds.
 */
#ifndef KMEMTRACE_REPORT_CLASS_STATS_H
#define KMEMTRACE_REPORT_CLASS_STATS_H

#include "report/groups.h"

/* Largest number of records of a class before kmt_class_stats_flush(), so that
 * their numbers fit into 32 bits. report-small uses fewer. */
#ifndef KMT_CLASS_MAX_RECORDS
#define KMT_CLASS_MAX_RECORDS G_MAXUINT32
#endif

/* The figures of one allocation class: the allocations with the same
 * KmtMatchKey and the same sizes. An event reads all fields. A cache line has
 * the figures of two classes; a line for each class would take a fifth more
 * memory in a capture with stacks, which may have millions of classes. */
typedef struct {
	KmtCounters *
		counters; /* the group's; NULL: the filter excludes the class */
	union {
		guint64 change[2];   /* change of the headroom by a FREE [0] and
				      * by an ALLOC [1], modulo 2^64 */
		guint64 bytes_alloc; /* equals change[0] */
	};
	guint32 records[2]; /* numbers of FREE [0] and of ALLOC records [1]
			     * since kmt_class_stats_flush() */
} KmtClassStats;
G_STATIC_ASSERT(sizeof(KmtClassStats) == 32 || sizeof(void *) < 8);

/* The properties of a class that the basic statistics rarely need. The size is
 * in KmtMatchClass. */
typedef struct {
	guint32 group; /* KMT_NO_GROUP: the filter excludes the class */
	guint8 kind;   /* KmtKind, never SLAB */
	guint8 is_initialised;
	guint8 is_touched; /* detailed statistics: the class is in
			    * KmtAccounting.touched, or the filter excludes it
			    */
} KmtClassInfo;

/*
 * Add the numbers of records of a class, whose requests have @bytes_req bytes,
 * to counters that include the class. Return whether a sum exceeds 2^64 - 1.
 */
gboolean kmt_class_stats_add_to(const KmtClassStats *stats, guint64 bytes_req,
				KmtCounters *counters);

/*
 * Add the numbers of records of a class, whose counters must exist, to the
 * counters of its group, and set them to 0. Return whether a sum exceeds
 * 2^64 - 1.
 */
gboolean kmt_class_stats_flush(KmtClassStats *stats, guint64 bytes_req);

/* Count the flag of KmtMatchDecision of one record: an allocation on another
 * node, or a free by another CPU. */
static inline void kmt_counters_add_flag(KmtCounters *counters, gsize is_alloc,
					 guint flag)
{
	/* Without a branch, because the event type cannot be predicted. */
	counters->remote_node_allocs += flag & is_alloc;
	counters->cross_cpu_frees += flag & !is_alloc;
}

/*
 * Count one record whose step the matcher decided without a slow event, at
 * merged time @now, in ns. @flag is that of KmtMatchDecision. Figures that
 * depend only on the number of records of a class are computed from the numbers
 * by type at the end.
 *
 * @exact is that of kmt_counters_step().
 */
static inline __attribute__((always_inline)) void
kmt_class_stats_step(KmtClassStats *stats, gsize is_alloc, guint flag,
		     gint64 now, gboolean exact)
{
	const guint64 change = stats->change[is_alloc];
	KmtCounters *counters = stats->counters, *kind = counters->parent,
		    *parent = kind->parent;

	stats->records[is_alloc]++;
	if (flag)
		kmt_counters_add_flag(counters, is_alloc, flag);
	kmt_counters_save_peak(counters);
	kmt_counters_step(counters, !is_alloc, change, now, exact);
	/* Increment under a condition: gcc would store the sum of the epoch and
	 * the result at each step. */
	if (kmt_counters_step(kind, !is_alloc, change, now, exact))
		kind->epoch++;
	if (kmt_counters_step(parent, !is_alloc, change, now, exact))
		parent->epoch++;
}

#endif
