/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The requests of kmalloc() by size: how many objects of each requested size
 * are live at the peak of kmalloc() and at the end, and how many were allocated
 * in all. Objects of whole pages ("large") are counted apart, because no size
 * class serves them.
 */
#ifndef KMEMTRACE_REPORT_SIZE_DEMAND_H
#define KMEMTRACE_REPORT_SIZE_DEMAND_H

#include "report/replay.h"

typedef enum {
	KMT_SIZE_AT_PEAK, /* live at the peak of the bytes of kmalloc() */
	KMT_SIZE_AT_END,  /* live at the end of the time of the report */
	KMT_SIZE_ALL,	  /* allocated in the time of the report */
	KMT_SIZE_N_MOMENTS
} KmtSizeMoment;

typedef struct {
	guint32 limit; /* largest requested size that has a class */
	/* Objects by requested size, limit + 1 numbers; valid after on_end. */
	guint64 *objects[KMT_SIZE_N_MOMENTS];
	/* Sums of the objects; valid after on_end. allocated is as recorded. */
	guint64 n_objects[KMT_SIZE_N_MOMENTS];
	guint64 requested[KMT_SIZE_N_MOMENTS];
	guint64 allocated[KMT_SIZE_N_MOMENTS];
	guint64 large;	    /* large objects allocated in the time */
	guint64 unselected; /* objects that the filter does not select */
	/* private */
	KmtReplayGauge *live; /* by requested size */
	KmtReplayGauge live_allocated;
} KmtSizeDemand;

KmtSizeDemand *kmt_size_demand_new(guint32 limit);
void kmt_size_demand_free(KmtSizeDemand *demand);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSizeDemand, kmt_size_demand_free)

/* Return the consumer that counts the events of a replay in demand. */
KmtReplayConsumer kmt_size_demand_consumer(KmtSizeDemand *demand);

/* Return whether an object is served by a size class: it is of kmalloc() and
 * neither the request nor the object exceeds limit. */
static inline gboolean kmt_size_demand_is_classed(const KmtReplayClass *class,
						  guint32 limit)
{
	return class->kind == KMT_KIND_KMALLOC && class->bytes_req <= limit &&
	       class->bytes_alloc <= limit;
}

/* Return whether an event ends an object. */
static inline gboolean kmt_size_demand_is_end(const KmtReplayEvent *event)
{
	return event->op == KMT_REPLAY_FREE || event->op == KMT_REPLAY_REPLACED;
}

#endif
