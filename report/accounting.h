/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept while records are read, by the pipeline's consumer.  Internal to
 * aggregate.c, asked.c and plain.c. */
#ifndef KMEMTRACE_REPORT_ACCOUNTING_H
#define KMEMTRACE_REPORT_ACCOUNTING_H

#include "report/aggregate.h"
#include "lib/match/pipeline.h"

/* What a class_id is in the terms of the figures. */
typedef struct {
	KmtCounters
		*counters; /* of its group; NULL: the class_id has no group */
	union {
		guint64 records[2]; /* plain ones: FREE, ALLOC */
		struct {
			guint64 window; /* the last one with an event */
			guint64 allocs; /* in the span */
		} asked;
	};
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint32 group; /* KMT_NO_GROUP: the filter does not want it */
	guint8 kind;   /* KmtKind, but for SLAB */
	guint8 known;
} KmtClassStats;

#define NO_CLASS G_MAXUINT32

/* Where findings of two call sites are counted, the older one's by a class_id.
 */
typedef struct {
	guint64 call_site;
	guint64 *count;	  /* NULL: nowhere yet */
	guint32 class_id; /* NO_CLASS: there is but one call site */
	guint8 class;	  /* KmtFindingClass */
	guint8 type;	  /* of call_site's record */
} KmtFindingSlot;

/* What the consumer works on. */
typedef struct {
	const KmtInputCapture *capture;
	const KmtAggregateOptions *options;
	KmtAggregate *aggregate;
	const KmtMatchPipeline *pipeline;
	gboolean plain;	     /* nothing but the figures that all reports have */
	gboolean counts_all; /* no filter: frees are those of all records */
	gboolean started;    /* there was a record: */
	gint64 origin;	     /* its merged time */
	gint64 start;	     /* of the span, merged time, */
	gint64 stop;	     /* and its last moment */
	gboolean inside;     /* the span has begun */
	gboolean ended;	     /* there is a record after it */
	gboolean live_overflowed; /* what was live was above 2^64 - 1 once */
	guint window;		  /* that is filled */
	gint64 window_end;
	KmtCounters window_kinds[KMT_N_KINDS];
	guint64 window_frees[KMT_N_KINDS]; /* like free_records */
	guint64 records;		   /* so far */
	guint64 slow_frees[KMT_N_KINDS];   /* if plain, those that no step told
					    */
	KmtFindingSlot finding_slots[64];  /* of those found lately */
	KmtClassStats *class_stats;	   /* n_class_stats, by number */
	guint32 n_class_stats;
	guint32 n_plain;		   /* that plain steps may have */
	guint64 free_records[KMT_N_KINDS]; /* of each kind; if plain, those that
					      are no step */
	/* Of slab, only what is live and its peak. */
	KmtCounters kinds[KMT_N_KINDS + 1]; /* the last is a sum for nobody,
					     * so that each kind has one */
} KmtAccounting;

/* Private, in plain.c: of a class_id that is not known yet. */
void kmt_accounting_add(KmtAccounting *accounting, guint32 class_id);

/* Lives until the next call. */
static inline KmtClassStats *kmt_accounting_class(KmtAccounting *accounting,
						  guint32 class_id)
{
	if (G_UNLIKELY(class_id >= accounting->n_class_stats ||
		       !accounting->class_stats[class_id].known))
		kmt_accounting_add(accounting, class_id);
	return &accounting->class_stats[class_id];
}

/*
 * plain.c: the figures that every report has, when nobody asked for others.
 * Sums of kinds are made of those of groups, at the end; but peaks are not.
 */
void kmt_basic_steps(KmtAccounting *accounting, const KmtMatchedBlock *matched,
		     guint from, guint to);
/* At the end, before kmt_groups_finish(), and after it. */
void kmt_basic_groups(KmtAccounting *accounting);
void kmt_basic_kinds(KmtAccounting *accounting);

/*
 * asked.c: the figures that somebody asked for: of a span, of windows, of what
 * passes a filter, with details.
 */
void kmt_detailed_steps(KmtAccounting *accounting,
			const KmtMatchedBlock *matched, guint from, guint to);
/* What the steps do not tell, findings among it; also of plain figures. */
void kmt_detailed_slow_event(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched,
			     const KmtMatchSlowEvent *extra);
/* Time has come to now: spans and windows begin and end. */
void kmt_detailed_at_time(KmtAccounting *accounting, gint64 now);
/* After the span, from a record and an extra on: what is freed then was live
 * when it ended. */
void kmt_detailed_after_span(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched, guint from,
			     guint next);
/* At the end, if there was a record; and after kmt_groups_finish(). */
void kmt_detailed_finish(KmtAccounting *accounting, KmtMatchPipeline *pipeline);
void kmt_detailed_kinds(KmtAccounting *accounting);

#endif
