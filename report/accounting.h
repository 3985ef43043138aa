/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Accounting state of the pipeline's consumer while records are read. Private
 * to aggregate.c, basic-stats.c and detailed-*.c. */
#ifndef KMEMTRACE_REPORT_ACCOUNTING_H
#define KMEMTRACE_REPORT_ACCOUNTING_H

#include "report/aggregate.h"
#include "report/class-stats.h"
#include "lib/match/pipeline.h"

#define NO_CLASS G_MAXUINT32

/* A cached pointer to a counter of KmtFindingCounts: the number of findings of
 * @class with the same call sites. One call site is @call_site. A finding with
 * two call sites also has the call site of the allocation class @class_id. */
typedef struct {
	guint64 call_site;
	const KmtSymTag *tag; /* of call_site */
	guint64 *count;	      /* NULL: the slot is unused */
	guint32 class_id;     /* allocation class of the object; NO_CLASS: the
			       * finding has one call site */
	guint8 class;	      /* KmtFindingClass */
	guint8 type;	      /* type of the slow event */
} KmtFindingSlot;

/* A largest value of live bytes. */
typedef struct {
	guint64 bytes;
	gint64 time; /* merged time, ns */
} KmtPeak;

/* The state of the consumer. */
typedef struct {
	const KmtInputCapture *capture;
	const KmtAggregateOptions *options;
	KmtAggregate *aggregate;
	const KmtMatchPipeline *pipeline;
	gboolean basic;	      /* compute basic statistics only */
	gboolean has_details; /* an option needs details of the groups */
	gboolean counts_all;  /* no filter: count all FREE records */
	gboolean started;     /* a record was read */
	gint64 origin;	      /* merged time of the first record, ns */
	gint64 start;	      /* first moment of the span, merged time, ns */
	gint64 stop;	      /* last moment of the span, merged time, ns */
	gboolean inside;      /* the span has begun */
	gboolean ended;	      /* a record after the span was read */
	gboolean live_overflowed; /* live bytes exceeded 2^64 - 1 */
	guint window;		  /* index of the current window */
	gint64 window_end; /* last moment of the current window, merged time;
			    * G_MAXINT64: no further window begins */
	/* With windows: the peak of the span by kind. The peak in kinds is then
	 * that of the current window. */
	KmtPeak span_peaks[KMT_N_KINDS + 1];
	/* Sums by kind at the begin of the current window. */
	KmtTotals window_first[KMT_N_KINDS];
	GArray *touched; /* guint32: classes with an event since the last
			  * kmt_detailed_flush(); NULL in basic statistics */
	guint64 records; /* number of records read */
	guint64 slow_frees[KMT_N_KINDS]; /* basic statistics: frees that slow
					  * events added to the counters */
	KmtFindingSlot
		finding_slots[64];  /* cache of recently counted findings */
	KmtClassStats *class_stats; /* n_class_stats entries, by class_id */
	KmtClassInfo *class_infos;  /* as many entries, by class_id */
	KmtDetail **class_details;  /* with has_details: as many entries, by
				     * class_id; the details of the group, or
				     * NULL: the filter excludes the class */
	guint32 n_class_stats;
	gsize class_room;     /* number of entries for which there is room */
	gpointer stats_block; /* the allocation that contains class_stats */
	guint32 n_known;      /* the classes below this number are included in
			       * max_bytes_alloc and, in basic statistics, are
			       * initialised */
	guint64 max_bytes_alloc; /* largest bytes_alloc of a class */
	guint64 unflushed;	 /* no class has counted more records since its
				  * last kmt_class_stats_flush() */
	guint64 free_records[KMT_N_KINDS]; /* FREE records of the span, by kind;
					    * in basic statistics only those
					    * with op KMT_MATCH_STEP_NONE */
	/* Counters by kind. SLAB has only its live bytes, their peak, and the
	 * epoch. */
	KmtCounters kinds[KMT_N_KINDS + 1]; /* The last entry is the parent of
					     * kinds outside of slab; no figure
					     * depends on it. */
} KmtAccounting;

/*
 * Initialise the statistics of @class_id and grow class_stats if necessary.
 * Call this function only through kmt_accounting_class().
 */
void kmt_accounting_add(KmtAccounting *accounting, guint32 class_id);

/* Make room in class_stats and class_infos for the classes below @needed. No
 * entry of class_stats is in two cache lines on processors of 64 bits. */
void kmt_accounting_reserve(KmtAccounting *accounting, guint32 needed);

/*
 * Return whether the live bytes may exceed 2^63 - 1 in a block, if
 * max_bytes_alloc is at least that of each class of the block: each record
 * allocates one object at most.
 */
gboolean kmt_accounting_may_exceed(const KmtAccounting *accounting,
				   const KmtMatchedBlock *matched);

/*
 * Return the statistics of @class_id. The pointer is valid until the next call.
 */
static inline KmtClassStats *kmt_accounting_class(KmtAccounting *accounting,
						  guint32 class_id)
{
	if (G_UNLIKELY(class_id >= accounting->n_class_stats ||
		       !accounting->class_infos[class_id].is_initialised))
		kmt_accounting_add(accounting, class_id);
	return &accounting->class_stats[class_id];
}

/* Return the number of a class. */
static inline guint32 kmt_accounting_class_id(const KmtAccounting *accounting,
					      const KmtClassStats *stats)
{
	return (guint32)(stats - accounting->class_stats);
}

static inline KmtClassInfo *kmt_accounting_info(const KmtAccounting *accounting,
						const KmtClassStats *stats)
{
	return &accounting->class_infos[stats - accounting->class_stats];
}

/* Return the counters of the kind of a class. */
static inline KmtCounters *kmt_accounting_kind(KmtAccounting *accounting,
					       const KmtClassStats *stats)
{
	return &accounting->kinds[kmt_accounting_info(accounting, stats)->kind];
}

/* Return the requested bytes of the allocations of a class. */
static inline guint64 kmt_accounting_bytes_req(const KmtAccounting *accounting,
					       const KmtClassStats *stats)
{
	return kmt_match_keys_size_of_class(
		       accounting->aggregate->keys,
		       kmt_accounting_class_id(accounting, stats))
		.req;
}

/* Return the details of the group of a class; NULL: no option needs details, or
 * the filter excludes the class. */
static inline KmtDetail *kmt_accounting_detail(const KmtAccounting *accounting,
					       const KmtClassStats *stats)
{
	return accounting->has_details
		       ? accounting->class_details[stats -
						   accounting->class_stats]
		       : NULL;
}

/*
 * Match the events of a block and account for them, including slow events, in
 * the basic statistics. An option that selects detailed statistics excludes
 * this function and kmt_basic_steps(). basic-stats.c computes the sums of a
 * kind from its groups at the end. Peaks depend on the order of events, so each
 * step updates them.
 */
void kmt_basic_block(KmtAccounting *accounting, KmtMatchShard *shard,
		     KmtMatchPipelineBlock *work,
		     const KmtMatchedBlock *matched);
/*
 * Account for the records @from to @to - 1 of a matched block in the basic
 * statistics. Several shards need this function.
 */
void kmt_basic_steps(KmtAccounting *accounting, const KmtMatchedBlock *matched,
		     guint from, guint to);
/*
 * Add the record counts of each class to the counters of its group. Call
 * kmt_basic_groups() before kmt_groups_finish(), and kmt_basic_kinds(), which
 * computes the totals of the kinds, after kmt_groups_finish().
 */
void kmt_basic_groups(KmtAccounting *accounting);
void kmt_basic_kinds(KmtAccounting *accounting);

/*
 * Account for the records @from to @to - 1 of a block in the detailed
 * statistics (detailed-stats.c). Options select these statistics: a span,
 * windows, a filter, details of groups, cross-CPU frees, or a --by that does
 * not separate the kinds.
 */
void kmt_detailed_steps(KmtAccounting *accounting,
			const KmtMatchedBlock *matched, guint from, guint to);
/*
 * Account for one slow event, including its finding. Basic statistics use
 * this function, too.
 */
void kmt_detailed_slow_event(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched,
			     const KmtMatchSlowEvent *slow_event);
/* Begin the span and end windows as kmt_detailed_at_time() specifies. Call this
 * function only through kmt_detailed_at_time(). */
void kmt_detailed_advance(KmtAccounting *accounting, gint64 now);

/*
 * Begin the span if it starts at or before @now, merged time in ns, and end
 * each window whose last moment is before @now. The detailed statistics call
 * this function for each record, so the test is inline.
 */
static inline void kmt_detailed_at_time(KmtAccounting *accounting, gint64 now)
{
	if (accounting->inside ? now > accounting->window_end
			       : now >= accounting->start)
		kmt_detailed_advance(accounting, now);
}
/* Account for the part of a block after the span: the records from @from on and
 * the slow events from @next on. An object that these free or replace was live
 * at the end of the span, unless it was allocated after the span. */
void kmt_detailed_after_span(KmtAccounting *accounting,
			     const KmtMatchedBlock *matched, guint from,
			     guint next);
/*
 * Complete the windows, the figures of live objects, and the sizes. Call
 * kmt_detailed_finish() after the last record if any record was read, and
 * kmt_detailed_kinds(), which computes the totals of the kinds, after
 * kmt_groups_finish().
 */
void kmt_detailed_finish(KmtAccounting *accounting, KmtMatchPipeline *pipeline);
/* Basic statistics: count the objects that are deferred at the end. */
void kmt_detailed_finish_deferred(KmtAccounting *accounting,
				  KmtMatchPipeline *pipeline);
void kmt_detailed_kinds(KmtAccounting *accounting);

#endif
