/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs of objects that a task allocates one directly after the other, counted
 * by the two call sites. Private to advice-pairs.c and advice-together.c.
 */
#ifndef KMEMTRACE_REPORT_ADVICE_PAIRS_H
#define KMEMTRACE_REPORT_ADVICE_PAIRS_H

#include "report/advice-sites.h"

/* The pairs whose first object has one site and whose second has another. */
typedef struct {
	guint32 first, second;	/* sites */
	guint64 pairs;		/* objects allocated one after the other */
	guint64 broken;		/* pairs of which an object was freed */
	guint64 freed_together; /* pairs of which both objects were freed, one
				 * directly after the other */
	KmtReplayGauge live; /* pairs of two live objects; the peak is that of
			      * slab */
} KmtAdvicePair;

/* The last allocation and free of a task, or of the interrupts of a CPU. */
typedef struct {
	guint64 task; /* pid, or a number of the CPU's interrupts or idle task
		       */
	guint64 last_alloc; /* id of the last allocated object; 0: none */
	guint32 last_slot;  /* slot of that object */
	guint32 last_site;  /* site of that object */
	gint64 last_time;   /* of that allocation, ns */
	guint64 last_free;  /* id of the last freed object; 0: none */
} KmtAdviceTaskOrder;

/* The links of a live object to the objects before and after it. */
typedef struct {
	guint64 id;			  /* unique number of the object */
	guint64 previous, next;		  /* ids; 0: no link */
	guint32 previous_pair, next_pair; /* numbers of pairs */
	guint32 previous_slot, next_slot;
} KmtAdviceLinks;

typedef struct {
	const KmtAdviceSites *sites;
	GArray *pairs; /* KmtAdvicePair */
	KmtIndex pair_index;
	GArray *orders; /* KmtAdviceTaskOrder */
	KmtIndex order_index;
	GArray *links; /* KmtAdviceLinks by slot */
	guint64 last_id;
	guint64 seed;
} KmtAdvicePairs;

KmtAdvicePairs *kmt_advice_pairs_new(const KmtAdviceSites *sites);
void kmt_advice_pairs_free(KmtAdvicePairs *pairs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAdvicePairs, kmt_advice_pairs_free)

/* Count an event of the replay. */
void kmt_advice_pairs_event(KmtAdvicePairs *pairs, const KmtReplay *replay,
			    const KmtReplayEvent *event);

#endif
