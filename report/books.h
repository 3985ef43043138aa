/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept while records are read.  Internal to aggregate.c and plain.c. */
#ifndef KMEMTRACE_REPORT_BOOKS_H
#define KMEMTRACE_REPORT_BOOKS_H

#include "report/aggregate.h"
#include "trace/pipeline.h"

/* Where the figures of a cell are kept; ledger is NULL if that is not known. */
typedef struct {
	KmtLedger *ledger;
	KmtLedger *kind;
	KmtLedger *sum;
} KmtCellRef;

/* What the consumer works on. */
typedef struct {
	const KmtCapture *capture;
	const KmtAggregateOptions *options;
	KmtAggregate *aggregate;
	const KmtPipeline *pipeline;
	gboolean plain;	     /* nothing but the figures that all reports have */
	gboolean counts_all; /* no filter: frees are those of all records */
	gboolean started;    /* there was a record: */
	gint64 origin;	     /* its merged time */
	gint64 start;	     /* of the span, merged time, */
	gint64 stop;	     /* and its last moment */
	gboolean inside;     /* the span has begun */
	gboolean ended;	     /* there is a record after it */
	guint window;	     /* that is filled */
	gint64 window_end;
	KmtLedger window_kinds[KMT_N_KINDS];
	guint64 window_frees[KMT_N_KINDS]; /* like free_records */
	guint64 records;		   /* so far */
	guint64 extra_frees[KMT_N_KINDS];  /* that no step told */
	const KmtIntern *sizes;
	guint32 n_sizes; /* that were looked at */
	gboolean odd_sizes;
	KmtCellRef *refs; /* n_refs of them, by the number of a cell */
	guint32 n_refs;
	gboolean kinds_apart; /* groups are of kmalloc or cache, not slab */
	guint64 free_records[KMT_N_KINDS]; /* of each kind, matched or not */
	/* Of slab, only what is live and its peak. */
	KmtLedger kinds[KMT_N_KINDS + 1]; /* the last: see plain_step() */
} KmtBooks;

/*
 * plain.c: the figures that every report has, when nobody asked for others.
 * Sums of kinds are made of those of groups, at the end; but peaks are not.
 */
void kmt_plain_steps(KmtBooks *run, const KmtMatched *matched, guint from,
		     guint to);
/* After kmt_groups_finish(). */
void kmt_plain_kinds(KmtBooks *run);

#endif
