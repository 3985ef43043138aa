/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of a group or a kind while records are read, from which KmtTotals
 * and the live bytes at the peak of the kind are computed at the end. The
 * fields that the basic statistics change for each record share one cache line.
 */
#ifndef KMEMTRACE_REPORT_COUNTERS_H
#define KMEMTRACE_REPORT_COUNTERS_H

#include "report/totals.h"

/*
 * Counters of a group or a kind. They fill two cache lines. Another counter
 * needs a third one, which makes each group larger: derive the figure from
 * existing counters, or count in KmtDetail, if possible.
 */
typedef struct KmtCounters {
	/* The counters that include these counters: of a group, those of
	 * KmtGroup.kind; of kmalloc and cache, those of slab; of other kinds,
	 * the last entry of KmtAccounting.kinds. NULL for
	 * slab and for that entry. */
	struct KmtCounters *parent;
	guint64 peak;	  /* largest live bytes */
	guint64 headroom; /* peak less the live bytes, modulo 2^64: an
			   * allocation that exceeds it is a new peak. The
			   * distance costs a step one addition and the test of
			   * its sign, 3 instructions less than live bytes that
			   * are compared with the peak. */
	gint64 peak_timestamp;
	guint64 epoch;	 /* of a kind: incremented at each new peak and at
			  * START; of a group: the epoch of the kind to which
			  * at_peak belongs */
	guint64 at_peak; /* of a group: live bytes of the group at the peak that
			  * epoch numbers */
	guint64 cross_cpu_frees;
	guint64 remote_node_allocs;

	guint64 allocs;
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint64 frees;
	guint64 closed_req; /* requested bytes of objects no longer live */
	gint64 closed_minus_freed; /* objects no longer live, minus frees */
	/* Objects and requested bytes that were live when counting began. */
	guint64 first_objects;
	guint64 first_req;
} __attribute__((aligned(64))) KmtCounters;
G_STATIC_ASSERT(sizeof(KmtCounters) == 128);

/* Return the allocated bytes of the live objects. */
static inline guint64 kmt_counters_live(const KmtCounters *counters)
{
	return counters->peak - counters->headroom;
}

/*
 * Return the headroom. The volatile access is for rarely executed code: without
 * it, gcc keeps the headroom in a register for that code, and each step takes 6
 * instructions more.
 */
static inline guint64 kmt_counters_reload_headroom(const KmtCounters *counters)
{
	return *(const volatile guint64 *)&counters->headroom;
}

/*
 * The live bytes exceed the peak: make them the peak, reached at time
 * @timestamp, in ns.
 */
static inline void kmt_counters_raise_peak(KmtCounters *counters,
					   gint64 timestamp)
{
	counters->peak -= kmt_counters_reload_headroom(counters);
	counters->headroom = 0;
	counters->peak_timestamp = timestamp;
}

/*
 * Add @change to the live bytes; a free passes a negative change, modulo 2^64.
 * The caller passes events in merged order. Return TRUE if an allocation raised
 * the live bytes to a new peak.
 */
static inline gboolean kmt_counters_change(KmtCounters *counters,
					   gboolean is_free, guint64 change,
					   gint64 timestamp)
{
	counters->headroom -= change;
	/* headroom > peak: the live bytes, modulo 2^64, exceed the peak. */
	if (G_LIKELY(counters->headroom <= counters->peak) || is_free)
		return FALSE;
	kmt_counters_raise_peak(counters, timestamp);
	return TRUE;
}

/*
 * Add @change to the headroom. If @exact is FALSE, no live bytes may exceed
 * 2^63 - 1. The sign of the headroom then shows whether an allocation is a new
 * peak, which takes 2 instructions instead of 6 for any values. Return TRUE if
 * an allocation raised the live bytes to a new peak.
 */
static inline __attribute__((always_inline)) gboolean
kmt_counters_step(KmtCounters *counters, gboolean is_free, guint64 change,
		  gint64 timestamp, gboolean exact)
{
	if (exact)
		return kmt_counters_change(counters, is_free, -change,
					   timestamp);
	if (G_LIKELY((gint64)(counters->headroom += change) >= 0))
		return FALSE;
	kmt_counters_raise_peak(counters, timestamp);
	return TRUE;
}

/* Replace the peak, but not the live bytes. */
static inline void kmt_counters_set_peak(KmtCounters *counters, guint64 peak,
					 gint64 timestamp)
{
	counters->headroom += peak - counters->peak;
	counters->peak = peak;
	counters->peak_timestamp = timestamp;
}

/*
 * Save the live bytes of a group as of the last peak of its kind. Call this
 * function before each change of the group's live bytes.
 */
static inline void kmt_counters_save_peak(KmtCounters *counters)
{
	if (counters->epoch != counters->parent->epoch) {
		counters->epoch = counters->parent->epoch;
		counters->at_peak =
			counters->peak - kmt_counters_reload_headroom(counters);
	}
}

/*
 * Count an allocation at time @timestamp, in ns. Return TRUE if the live bytes
 * reached a new peak.
 */
static inline gboolean kmt_counters_alloc(KmtCounters *counters,
					  guint64 bytes_req,
					  guint64 bytes_alloc, gint64 timestamp)
{
	counters->allocs++;
	counters->bytes_req += bytes_req;
	counters->bytes_alloc += bytes_alloc;
	return kmt_counters_change(counters, FALSE, bytes_alloc, timestamp);
}

/*
 * Count an object as no longer live. If a free record ended its life, the
 * caller also calls kmt_counters_free().
 */
static inline void kmt_counters_close(KmtCounters *counters, guint64 bytes_req,
				      guint64 bytes_alloc)
{
	counters->closed_req += bytes_req;
	counters->headroom += bytes_alloc;
	counters->closed_minus_freed++;
}

/*
 * Count the free of an object for which kmt_counters_close() was called.
 * @cross: another CPU than the allocating one freed the object or, if the free
 * was deferred, recorded the DEFER.
 */
static inline void kmt_counters_free(KmtCounters *counters, gboolean cross)
{
	counters->frees++;
	counters->closed_minus_freed--;
	counters->cross_cpu_frees += cross;
}

/*
 * Restart counting at time @now, in ns. The objects that are live at @now
 * remain live, and their bytes are the first peak. Sums become 0.
 */
void kmt_counters_restart(KmtCounters *counters, gint64 now);

/* Return the totals that the counters represent. */
KmtTotals kmt_counters_totals(const KmtCounters *counters);

#endif
