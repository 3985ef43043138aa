/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the pipeline that pipeline.c and pipeline-*.c share. */
#ifndef KMEMTRACE_MATCH_PIPELINE_PRIVATE_H
#define KMEMTRACE_MATCH_PIPELINE_PRIVATE_H

#include "lib/match/pipeline.h"

/* Largest number of blocks in the ring. More blocks would exceed the
 * processor's cache. */
#define KMT_MATCH_MAX_BLOCKS 8

/* Size of a cache line of the processor. */
#define KMT_MATCH_CACHE_LINE_BYTES 64

/*
 * Number of events from the one that is matched to the one whose entry is
 * prefetched, because memory latency bounds large captures. report-small and
 * the fuzzers use a smaller number.
 */
#ifndef KMT_MATCH_PREFETCH_DISTANCE
#define KMT_MATCH_PREFETCH_DISTANCE 32
#endif

/*
 * The events of one shard in one block, and room for unused events, so that
 * kmt_match_block() prefetches without a test. Shards write to different cache
 * lines.
 */
typedef struct {
	KmtMatchEvent
		items[KMT_MATCH_BLOCK_RECORDS + KMT_MATCH_PREFETCH_DISTANCE]
		__attribute__((aligned(KMT_MATCH_CACHE_LINE_BYTES)));
	guint n;
	guint n_slow_events;
	GArray *slow_events; /* array of KmtMatchSlowEvent; only the first
			      * n_slow_events are valid */
} KmtMatchShardBlock;

/* A block with the results of all stages. */
struct KmtMatchPipelineBlock {
	KmtMatchBlock block;
	KmtMatchOrder order;
	KmtMatchShardBlock *shard_blocks; /* one for each shard */
	GPtrArray *all_slow_events; /* of KmtMatchSlowEvent *, of all shards in
				     * order */
	guint32 n_classes;	    /* number of classes after the merge of the
				     * block */
};

/* A part of the addresses, with its matcher. */
struct KmtMatchShard {
	KmtMatcher *matcher;
	guint number;		     /* index in KmtMatchPipeline.shards */
	KmtMatchPipelineBlock *work; /* the current block */
	const KmtMatchEvent *item; /* the current event; NULL after the last */
	/* Protected by the lock of the pipeline: */
	guint64 done;  /* number of blocks that this shard has matched */
	gboolean busy; /* whether a thread matches a block of this shard */
};

struct KmtMatchPipeline {
	const KmtInputCapture *capture;
	KmtMatchConsumer consumer;
	KmtMatchBlockFunc match_block; /* or NULL */
	gpointer user;
	guint n_shards, n_threads;
	gboolean has_enough_cpus; /* there are at least as many processors as
				   * threads */
	guint n_ring;
	KmtMatchMerge *merge;
	KmtMatchKeys *keys;	  /* only the merge stage adds to the keys */
	KmtMatchShardQueue queue; /* used by the merge stage only */
	KmtMatchShard *shards;
	KmtMatchPipelineBlock
		ring[KMT_MATCH_MAX_BLOCKS]; /* the first n_ring are used */
	KmtMatchPipelineBlock end; /* decisions after the last record */

	/* Number of finished turns, modulo 2^32; a turn is the work of one
	 * stage on one block. Threads write the number under the lock; spinning
	 * threads read it without the lock. */
	gint stage_runs;

	GMutex lock;
	GCond changed;
	/* Protected by the lock: */
	guint64 merged;		     /* number of merged blocks */
	guint64 consumed;	     /* number of consumed blocks */
	gboolean merging, consuming; /* whether a thread executes the stage */
	gboolean waiting;	     /* whether a thread sleeps on changed */
	gboolean at_end;	     /* whether the merge has reached the end */
};

/* Callbacks of a shard's matcher: store each decision as a slow event. The user
 * data is the KmtMatchShard. */
extern const KmtMatchOps kmt_match_slow_event_ops;

/* Sort the slow events of all shards in a block into all_slow_events. */
void kmt_match_order_slow_events(const KmtMatchPipeline *p,
				 KmtMatchPipelineBlock *work);

/*
 * The stages. A stage processes one block at a time, in order; the lock is not
 * held. kmt_match_stage_merge() returns FALSE at the end.
 */
gboolean kmt_match_stage_merge(KmtMatchPipeline *p,
			       KmtMatchPipelineBlock *work);
void kmt_match_stage_match(KmtMatchPipeline *p, KmtMatchShard *shard,
			   KmtMatchPipelineBlock *work);
/* Pass a matched block to the consumer, unless match_block did so. */
void kmt_match_stage_pass_on(KmtMatchPipeline *p, KmtMatchPipelineBlock *work);
/* Call kmt_match_stage_pass_on(), and release the records of the block. */
void kmt_match_stage_consume(KmtMatchPipeline *p, KmtMatchPipelineBlock *work);

/* Return the number of processors that this process may use. */
guint kmt_match_n_processors(void);

/* Run the stages on p->n_threads threads, including the calling one, until all
 * blocks are consumed. */
void kmt_match_run_threads(KmtMatchPipeline *p);

#endif
