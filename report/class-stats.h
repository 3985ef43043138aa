/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of one allocation class while records are read. An event changes
 * one cache line of its class, one of its group, and one of its kinds.
 */
#ifndef KMEMTRACE_REPORT_CLASS_STATS_H
#define KMEMTRACE_REPORT_CLASS_STATS_H

#include "report/groups.h"

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
	union {
		guint32 records[KMT_N_EFFECTS]; /* basic statistics: numbers of
						 * records by effect since
						 * kmt_class_stats_flush() */
		struct {
			guint64 window; /* last window with an event of the
					 * class */
			guint64 allocs; /* allocations counted in the span */
		} detailed;
	};
	guint64 bytes_req;
	guint32 group; /* KMT_NO_GROUP: the filter excludes the class */
	guint8 kind;   /* KmtKind, never SLAB */
	guint8 is_initialised;
} __attribute__((aligned(64))) KmtClassStats;
G_STATIC_ASSERT(sizeof(KmtClassStats) == 64);

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
 * If @exact is FALSE, no live bytes may exceed 2^63 - 1. The sign of a headroom
 * then shows whether an allocation is a new peak. Each of the three tests takes
 * 2 instructions, instead of 6 for any values.
 */
static inline __attribute__((always_inline)) void
kmt_class_stats_step(KmtClassStats *stats, guint is_alloc, guint flag,
		     gint64 now, gboolean exact)
{
	const guint64 change = stats->change[is_alloc];
	KmtCounters *counters = stats->counters, *kind = counters->parent,
		    *parent = kind->parent;

	stats->records[is_alloc + 2 * flag]++;
	kmt_counters_save_peak(counters);
	if (G_UNLIKELY(exact)) {
		kmt_counters_change(counters, !is_alloc, -change, now);
		kind->epoch +=
			kmt_counters_change(kind, !is_alloc, -change, now);
		parent->epoch +=
			kmt_counters_change(parent, !is_alloc, -change, now);
		return;
	}
	if (G_UNLIKELY((gint64)(counters->headroom += change) < 0))
		kmt_counters_raise_peak(counters, now);
	if (G_UNLIKELY((gint64)(kind->headroom += change) < 0)) {
		kmt_counters_raise_peak(kind, now);
		kind->epoch++;
	}
	if (G_UNLIKELY((gint64)(parent->headroom += change) < 0)) {
		kmt_counters_raise_peak(parent, now);
		parent->epoch++;
	}
}

#endif
