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

/*
 * The effects of a record that the matcher decided without a slow event:
 * indexes of KmtClassStats.records. An index is the sum of is_alloc and 2 *
 * flag of KmtMatchDecision.
 */
enum {
	KMT_EFFECT_FREE,
	KMT_EFFECT_ALLOC,
	KMT_EFFECT_CROSS_FREE,	 /* a free by another CPU */
	KMT_EFFECT_REMOTE_ALLOC, /* an allocation on another node */
	KMT_N_EFFECTS
};

/* The figures of one allocation class: the allocations with the same
 * KmtMatchKey and the same sizes. */
typedef struct {
	KmtCounters *
		counters; /* the group's; NULL: the filter excludes the class */
	union {
		guint64 change[2];   /* change of the headroom by a FREE [0] and
				      * by an ALLOC [1], modulo 2^64 */
		guint64 bytes_alloc; /* equals change[0] */
	};
	guint32 records[KMT_N_EFFECTS]; /* numbers of records by effect since
					 * kmt_class_stats_flush() */
	guint64 bytes_req;
	KmtDetail *detail; /* the group's; NULL: no option needs details */
	guint32 group;	   /* KMT_NO_GROUP: the filter excludes the class */
	guint8 kind;	   /* KmtKind, never SLAB */
	guint8 is_initialised;
	guint8 is_touched; /* detailed statistics: the class is in
			    * KmtAccounting.touched, or the filter excludes it
			    */
} __attribute__((aligned(64))) KmtClassStats;
G_STATIC_ASSERT(sizeof(KmtClassStats) == 64);

/* Return the numbers of ALLOC and of FREE records of a class since
 * kmt_class_stats_flush(). */
static inline guint64 kmt_class_stats_allocs(const KmtClassStats *stats)
{
	return (guint64)stats->records[KMT_EFFECT_ALLOC] +
	       stats->records[KMT_EFFECT_REMOTE_ALLOC];
}

static inline guint64 kmt_class_stats_frees(const KmtClassStats *stats)
{
	return (guint64)stats->records[KMT_EFFECT_FREE] +
	       stats->records[KMT_EFFECT_CROSS_FREE];
}

/*
 * Add the numbers of records of a class to counters that include the class.
 * Return whether a sum exceeds 2^64 - 1.
 */
gboolean kmt_class_stats_add_to(const KmtClassStats *stats,
				KmtCounters *counters);

/*
 * Add the numbers of records of a class, whose counters must exist, to the
 * counters of its group, and set them to 0. Return whether a sum exceeds
 * 2^64 - 1.
 */
gboolean kmt_class_stats_flush(KmtClassStats *stats);

/*
 * Count one record whose step the matcher decided without a slow event, at
 * merged time @now, in ns. @flag is that of KmtMatchDecision. Figures that
 * depend only on the number of records of a class are computed from the numbers
 * by effect at the end.
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

	stats->records[is_alloc + 2 * flag]++;
	kmt_counters_save_peak(counters);
	kmt_counters_step(counters, !is_alloc, change, now, exact);
	/* Not a sum: gcc would store the epoch at each step. */
	if (kmt_counters_step(kind, !is_alloc, change, now, exact))
		kind->epoch++;
	if (kmt_counters_step(parent, !is_alloc, change, now, exact))
		parent->epoch++;
}

#endif
