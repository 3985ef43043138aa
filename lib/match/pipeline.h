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
	KMT_MATCH_SLOW_ALLOC,
	KMT_MATCH_SLOW_FREE,
	KMT_MATCH_SLOW_REPLACED,
	KMT_MATCH_SLOW_DOUBLE,
	KMT_MATCH_SLOW_UNMATCHED,
} KmtMatchSlowOp;

/* What the matcher told by a call of KmtMatchOps, which see. */
typedef struct {
	guint32 index;	  /* the record that it goes with; n at the very end */
	guint8 op;	  /* KmtMatchSlowOp */
	guint8 deferred;  /* comes before that record, else instead of its step
			   */
	guint8 mismatch;  /* FREE */
	guint8 class;	  /* DOUBLE: KmtMatchDoubleAlloc, UNMATCHED:
			     KmtMatchUnmatched */
	guint8 late_free; /* DOUBLE: object was freed by record index */
	/* Of event: */
	guint8 type;
	guint16 file;
	guint64 ptr;
	guint64 call_site;
	gint64 now;	       /* merged time */
	KmtMatchObject object; /* but for UNMATCHED */
} KmtMatchSlowEvent;

typedef struct {
	guint n;
	KmtMatchEvent *const *items; /* n of them, in merged order */
	const KmtMatchSlowEvent *
		*slow_events; /* n_slow_events of them, in their order */
	guint n_slow_events;
	guint32 n_classes; /* so far: those of all records are below */
} KmtMatchedBlock;

/* Called for one block after the other, by one thread at a time, whichever.
 * matched is valid until it returns; what keys has of n_classes may be read. */
typedef void (*KmtMatchConsumer)(gpointer user, const KmtMatchedBlock *matched);

typedef struct {
	/* Threads at most.  No more are started than there are processors,
	 * and no more than 16. */
	guint jobs;
	/* Parts of the addresses; 0: one for each thread but one, which merges
	 * and consumes meanwhile. */
	guint shards;
	gint64 clock_tolerance_ns;
	KmtMatchKeys *keys; /* to which the stage that merges alone adds */
	/* Merged time from the first record after which nothing is of interest,
	 * ns; some more is read, to decide what is near it. */
	gint64 stop_ns;
	/* What a thread may do instead of waiting, for some us; FALSE: there is
	 * nothing.  Any thread, several at once; or NULL. */
	gboolean (*idle)(gpointer user);
	gpointer idle_user;
} KmtMatchPipelineOptions;

typedef struct KmtMatchPipeline KmtMatchPipeline;

/* capture and options->keys must live as long. */
KmtMatchPipeline *kmt_match_pipeline_new(const KmtInputCapture *capture,
					 const KmtMatchPipelineOptions *options,
					 KmtMatchConsumer consumer,
					 gpointer user);
void kmt_match_pipeline_free(KmtMatchPipeline *pipeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchPipeline, kmt_match_pipeline_free)

/* Takes all records through, once. */
void kmt_match_pipeline_run(KmtMatchPipeline *pipeline);

/* After kmt_match_pipeline_run(). */
const KmtMatchMerge *kmt_match_pipeline_merge(const KmtMatchPipeline *pipeline);
void kmt_match_pipeline_foreach_live(KmtMatchPipeline *pipeline,
				     void (*func)(gpointer user,
						  const KmtMatchObject *object),
				     gpointer user);

#endif
