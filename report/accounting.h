/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept while records are read, by the pipeline's consumer.  Internal to
 * aggregate.c, asked.c and plain.c. */
#ifndef KMEMTRACE_REPORT_ACCOUNTING_H
#define KMEMTRACE_REPORT_ACCOUNTING_H

#include "report/aggregate.h"
#include "lib/match/pipeline.h"

/* What a lot is in the terms of the figures. */
typedef struct {
	KmtLedger *ledger; /* of its group; NULL: the lot has no group */
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
} KmtLotBook;

#define NO_LOT G_MAXUINT32

/* Where findings of two call sites are counted, the older one's by a lot. */
typedef struct {
	guint64 call_site;
	guint64 *count;	  /* NULL: nowhere yet */
	guint32 class_id; /* NO_LOT: there is but one call site */
	guint8 class;	  /* KmtTallyClass */
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
	KmtLedger window_kinds[KMT_N_KINDS];
	guint64 window_frees[KMT_N_KINDS]; /* like free_records */
	guint64 records;		   /* so far */
	guint64 extra_frees[KMT_N_KINDS];  /* if plain, those that no step told
					    */
	KmtFindingSlot finding_slots[64];  /* of those found lately */
	KmtLotBook *lot_books;		   /* n_lot_books, by number */
	guint32 n_lot_books;
	guint32 n_plain;		   /* that plain steps may have */
	guint64 free_records[KMT_N_KINDS]; /* of each kind; if plain, those that
					      are no step */
	/* Of slab, only what is live and its peak. */
	KmtLedger kinds[KMT_N_KINDS + 1]; /* the last is a sum for nobody,
					   * so that each kind has one */
} KmtBooks;

/* Private, in plain.c: of a lot that is not known yet. */
void kmt_books_add(KmtBooks *books, guint32 lot);

/* Lives until the next call. */
static inline KmtLotBook *kmt_books_lot(KmtBooks *books, guint32 lot)
{
	if (G_UNLIKELY(lot >= books->n_lot_books ||
		       !books->lot_books[lot].known))
		kmt_books_add(books, lot);
	return &books->lot_books[lot];
}

/*
 * plain.c: the figures that every report has, when nobody asked for others.
 * Sums of kinds are made of those of groups, at the end; but peaks are not.
 */
void kmt_plain_steps(KmtBooks *books, const KmtMatchedBlock *matched,
		     guint from, guint to);
/* At the end, before kmt_groups_finish(), and after it. */
void kmt_plain_groups(KmtBooks *books);
void kmt_plain_kinds(KmtBooks *books);

/*
 * asked.c: the figures that somebody asked for: of a span, of windows, of what
 * passes a filter, with details.
 */
void kmt_asked_steps(KmtBooks *books, const KmtMatchedBlock *matched,
		     guint from, guint to);
/* What the steps do not tell, findings among it; also of plain figures. */
void kmt_asked_extra(KmtBooks *books, const KmtMatchedBlock *matched,
		     const KmtMatchSlowEvent *extra);
/* Time has come to now: spans and windows begin and end. */
void kmt_asked_at_time(KmtBooks *books, gint64 now);
/* After the span, from a record and an extra on: what is freed then was live
 * when it ended. */
void kmt_asked_after_span(KmtBooks *books, const KmtMatchedBlock *matched,
			  guint from, guint next);
/* At the end, if there was a record; and after kmt_groups_finish(). */
void kmt_asked_finish(KmtBooks *books, KmtMatchPipeline *pipeline);
void kmt_asked_kinds(KmtBooks *books);

#endif
