/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of a group or a kind while records are read: no more than it
 * takes to have KmtTotals of them at the end, what each event touches in one
 * line of the processor's cache.
 */
#ifndef KMEMTRACE_REPORT_COUNTERS_H
#define KMEMTRACE_REPORT_COUNTERS_H

#include "report/totals.h"

typedef struct KmtCounters {
	/* What it is a part of: of a group its kind, of kmalloc and cache slab;
	 * NULL: nothing. */
	struct KmtCounters *sum;
	guint64 live; /* bytes allocated */
	guint64 peak;
	gint64 peak_timestamp;
	guint64 epoch; /* of the kind's peak that at_peak is of */
	guint64 at_peak;
	guint64 cross_cpu_frees;
	guint64 remote_node_allocs;

	guint64 allocs;
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint64 frees;
	guint64 closed_req; /* bytes requested of what is live no more */
	gint64 gone; /* closed without a free, less freed when closed before */
	/* What was live when all this began. */
	guint64 first_objects;
	guint64 first_req;
} __attribute__((aligned(64))) KmtCounters;
G_STATIC_ASSERT(sizeof(KmtCounters) == 128);

/*
 * What an allocation or a free does to live bytes; change is below 0, modulo
 * 2^64, for a free.  Returns TRUE if they were never as many: the peak is
 * looked at after each allocation, in merged order.
 */
static inline gboolean kmt_counters_change(KmtCounters *l, gboolean is_free,
					   guint64 change, gint64 timestamp)
{
	l->live += change;
	if (G_LIKELY(l->live <= l->peak) || is_free)
		return FALSE;
	l->peak = l->live;
	l->peak_timestamp = timestamp;
	return TRUE;
}

/* Before that: keeps a group's live bytes as of the last peak of its kind. */
static inline void kmt_counters_before(KmtCounters *l)
{
	if (l->epoch != l->sum->epoch) {
		l->epoch = l->sum->epoch;
		l->at_peak = l->live;
	}
}

static inline gboolean kmt_counters_alloc(KmtCounters *l, guint64 bytes_req,
					  guint64 bytes_alloc, gint64 timestamp)
{
	l->allocs++;
	l->bytes_req += bytes_req;
	l->bytes_alloc += bytes_alloc;
	return kmt_counters_change(l, FALSE, bytes_alloc, timestamp);
}

/* An object is live no more; if it was freed, that is told besides. */
static inline void kmt_counters_close(KmtCounters *l, guint64 bytes_req,
				      guint64 bytes_alloc)
{
	l->closed_req += bytes_req;
	l->live -= bytes_alloc;
	l->gone++;
}

static inline void kmt_counters_free(KmtCounters *l, gboolean cross)
{
	l->frees++;
	l->gone--;
	l->cross_cpu_frees += cross;
}

/* All begins now: of what was, only that it is live is known. */
void kmt_counters_restart(KmtCounters *counters, gint64 now);

KmtTotals kmt_counters_totals(const KmtCounters *counters);

#endif
