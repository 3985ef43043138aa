/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging and matching on all processors:
 *
 *     merge  ->  match, a shard of the addresses each  ->  the consumer
 *
 * Records pass in blocks.  Each stage (each shard is one) works on one block at
 * a time and takes the blocks in order; the stages run at the same time, on as
 * many threads as there are jobs.  What the consumer is given does not depend
 * on how many these are.
 */
#ifndef KMEMTRACE_MATCH_PIPELINE_H
#define KMEMTRACE_MATCH_PIPELINE_H

#include "lib/match/matcher.h"

typedef enum {
	KMT_EXTRA_ALLOC,
	KMT_EXTRA_FREE,
	KMT_EXTRA_REPLACED,
	KMT_EXTRA_DOUBLE,
	KMT_EXTRA_UNMATCHED,
} KmtExtraOp;

/* What the matcher told by a call of KmtMatchOps, which see. */
typedef struct {
	guint32 place; /* the record that it goes with; n at the very end */
	guint8 op;     /* KmtExtraOp */
	guint8 late;   /* comes before that record, else instead of its step */
	guint8 mismatch;  /* FREE */
	guint8 class;	  /* DOUBLE: KmtDouble, UNMATCHED: KmtUnmatched */
	guint8 late_free; /* DOUBLE: object was freed by record place */
	/* Of event: */
	guint8 type;
	guint16 file;
	guint64 ptr;
	guint64 call_site;
	gint64 now;	  /* merged time */
	KmtObject object; /* but for UNMATCHED */
} KmtExtra;

typedef struct {
	guint n;
	KmtItem *const *items;	 /* n of them, in merged order */
	const KmtExtra **extras; /* n_extras of them, in their order */
	guint n_extras;
	guint32 n_lots; /* so far: those of all records are below */
} KmtMatched;

/* Called for one block after the other, by one thread at a time, whichever.
 * matched is valid until it returns; what cells has of n_lots may be read. */
typedef void (*KmtConsumer)(gpointer user, const KmtMatched *matched);

typedef struct {
	/* Threads at most.  No more are started than there are processors,
	 * and no more than 16. */
	guint jobs;
	/* Parts of the addresses; 0: one for each thread but one, which merges
	 * and consumes meanwhile. */
	guint shards;
	gint64 clock_tolerance_ns;
	KmtCells *cells; /* to which the stage that merges alone adds */
	/* Merged time from the first record after which nothing is of interest,
	 * ns; some more is read, to decide what is near it. */
	gint64 stop_ns;
	/* What a thread may do instead of waiting, for some us; FALSE: there is
	 * nothing.  Any thread, several at once; or NULL. */
	gboolean (*idle)(gpointer user);
	gpointer idle_user;
} KmtPipelineOptions;

typedef struct KmtPipeline KmtPipeline;

/* capture and options->cells must live as long. */
KmtPipeline *kmt_pipeline_new(const KmtCapture *capture,
			      const KmtPipelineOptions *options,
			      KmtConsumer consumer, gpointer user);
void kmt_pipeline_free(KmtPipeline *pipeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtPipeline, kmt_pipeline_free)

/* Takes all records through, once. */
void kmt_pipeline_run(KmtPipeline *pipeline);

/* After kmt_pipeline_run(). */
const KmtMerge *kmt_pipeline_merge(const KmtPipeline *pipeline);
void kmt_pipeline_foreach_live(KmtPipeline *pipeline,
			       void (*func)(gpointer user,
					    const KmtObject *object),
			       gpointer user);

#endif
