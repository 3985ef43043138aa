/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging and matching with several threads:
 *
 *     merge  ->  match, one stage per shard  ->  consumer
 *
 * Records pass through the stages in blocks. Each stage processes one block at
 * a time, in order. The stages run in parallel on at most options->jobs
 * threads. The data that the consumer receives does not depend on the number of
 * threads, except that delayed decisions about different addresses that precede
 * the same record may come in another order.
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
	KMT_MATCH_SLOW_DEFER,
	KMT_MATCH_SLOW_DOUBLE_DEFER,
	KMT_MATCH_SLOW_UNMATCHED_DEFER,
} KmtMatchSlowOp;

/*
 * A slow event: a decision that the matcher reported by a callback of
 * KmtMatchOps, because the step of a KmtMatchEvent cannot represent it. Its
 * members have the same meaning as the arguments of the callback. A slow event
 * is unrelated to the slow path of the kernel's probe, whose events are called
 * slow-path events.
 */
typedef struct {
	guint32 index;	  /* index in the block of the record to which the
			   * decision belongs; KmtMatchedBlock.n: the decision
			   * comes after the last record of all blocks */
	guint8 op;	  /* KmtMatchSlowOp */
	guint8 delayed;	  /* the decision precedes the record; otherwise it
			   * belongs to the record and precedes the step of the
			   * record, if there is one */
	guint8 mismatch;  /* FREE */
	guint8 class;	  /* DOUBLE: KmtMatchDoubleAlloc; UNMATCHED and
			   * UNMATCHED_DEFER: KmtMatchUnmatched; DEFER:
			   * KmtMatchDeferEffect; DOUBLE_DEFER: after_loss */
	guint8 late_free; /* DOUBLE: the record at index is the late FREE */
	/* Fields of the event that the callback received, which may be an
	 * earlier record than that at index. */
	guint8 type;
	guint16 file;
	guint64 ptr;
	guint64 call_site;
	gint64 now;	       /* merged time */
	KmtMatchObject object; /* the object; undefined unless
				* kmt_match_slow_event_has_object() */
} KmtMatchSlowEvent;

/*
 * Return TRUE if the decision is about a known object. The object of an
 * unmatched FREE or DEFER is unknown, as is the object of a DEFER that comes
 * after the FREE of its object.
 */
static inline gboolean
kmt_match_slow_event_has_object(const KmtMatchSlowEvent *slow_event)
{
	return slow_event->op != KMT_MATCH_SLOW_UNMATCHED &&
	       slow_event->op != KMT_MATCH_SLOW_UNMATCHED_DEFER &&
	       (slow_event->op != KMT_MATCH_SLOW_DEFER ||
		slow_event->class != KMT_MATCH_DEFER_LATE);
}

/* The matched records of one block. */
typedef struct {
	guint n;
	KmtMatchEvent *const *items; /* n events in merged order */
	const KmtMatchSlowEvent *
		*slow_events; /* n_slow_events decisions in order */
	guint n_slow_events;
	guint32 n_classes; /* number of allocation classes so far; 0 in the
			    * call after the last block, with the decisions
			    * after the last record */
} KmtMatchedBlock;

/*
 * Called for each block in order, and once after the last block, by one thread
 * at a time, which may be any thread of the pipeline. matched is valid until
 * the function returns. The function may read the properties of the first
 * n_classes classes. In the call after the last block, n_classes is 0, and the
 * function may read the properties of all classes of the earlier calls.
 */
typedef void (*KmtMatchConsumer)(gpointer user, const KmtMatchedBlock *matched);

typedef struct KmtMatchShard KmtMatchShard;
typedef struct KmtMatchPipelineBlock KmtMatchPipelineBlock;

/*
 * Matches the events of a block by kmt_match_block() of match-block.h, and
 * accounts for each event at once. The calls and @matched are those of a
 * KmtMatchConsumer, but the events of @matched are not matched yet, and
 * slow_events is empty.
 */
typedef void (*KmtMatchBlockFunc)(gpointer user, KmtMatchShard *shard,
				  KmtMatchPipelineBlock *work,
				  const KmtMatchedBlock *matched);

typedef struct {
	/* Maximum number of threads. The pipeline starts at most one thread per
	 * processor and at most 16. */
	guint jobs;
	/* Number of shards; 0: one less than the threads, at least one, because
	 * one thread merges and consumes. */
	guint shards;
	gint64 clock_tolerance_ns;
	KmtMatchKeys *keys; /* the merge stage alone adds to the keys; NULL:
			     * the consumer needs no allocation classes, and
			     * the class of every event is 0 */
	/* Merged time in ns, counted from the first record, after which records
	 * are not needed; G_MAXINT64: all are needed. The merge reads further
	 * by the clock tolerance, to decide about ambiguous events. */
	gint64 stop_ns;
	/* With one shard, replaces the consumer for all blocks, but not for the
	 * call after the last block. NULL: the consumer receives all blocks. */
	KmtMatchBlockFunc match_block;
} KmtMatchPipelineOptions;

typedef struct KmtMatchPipeline KmtMatchPipeline;

/* Create a pipeline. capture and options->keys must outlive it. */
KmtMatchPipeline *kmt_match_pipeline_new(const KmtInputCapture *capture,
					 const KmtMatchPipelineOptions *options,
					 KmtMatchConsumer consumer,
					 gpointer user);
/* Free a pipeline, its matchers and its merge; NULL is allowed. */
void kmt_match_pipeline_free(KmtMatchPipeline *pipeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchPipeline, kmt_match_pipeline_free)

/* Process all records. Call this once. */
void kmt_match_pipeline_run(KmtMatchPipeline *pipeline);

/*
 * Return the merge, for its counts and warnings. The pipeline owns the merge.
 * Valid after kmt_match_pipeline_run().
 */
const KmtMatchMerge *kmt_match_pipeline_merge(const KmtMatchPipeline *pipeline);
/*
 * Set *findings to the numbers of the findings of all shards. Valid after
 * kmt_match_pipeline_run().
 */
void kmt_match_pipeline_findings(const KmtMatchPipeline *pipeline,
				 KmtMatchFindings *findings);
/*
 * Call func for each object that is live after the last record, in no
 * particular order. Valid after kmt_match_pipeline_run().
 */
void kmt_match_pipeline_foreach_live(KmtMatchPipeline *pipeline,
				     void (*func)(gpointer user,
						  const KmtMatchObject *object),
				     gpointer user);
/* As kmt_match_pipeline_foreach_live(), for the deferred objects only. */
void kmt_match_pipeline_foreach_deferred(
	KmtMatchPipeline *pipeline,
	void (*func)(gpointer user, const KmtMatchObject *object),
	gpointer user);

#endif
