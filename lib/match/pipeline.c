// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/pipeline-private.h"

/* Blocks in the ring per thread, so that a thread can work ahead of the others.
 * A single thread needs only one block. */
#define BLOCKS_PER_THREAD 2

/*
 * Return the largest useful number of threads. match-dump-small, report-small
 * and the fuzzers use more.
 */
#ifdef KMT_MATCH_MAX_THREADS
static guint max_threads(const KmtInputCapture *capture)
{
	return KMT_MATCH_MAX_THREADS;
}
#else
/* More threads bring no gain: merging and counting run on one thread each at a
 * time, and many shards cost more than they save. */
#define MAX_THREADS	       16

/* A capture of fewer events is analysed in less time than it takes to start
 * threads and to fill their caches. */
#define MIN_EVENTS_FOR_THREADS 65536

static guint max_threads(const KmtInputCapture *capture)
{
	guint64 n = 0;
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		/* The number of records of a stream is unknown. */
		n += file->stream ? MIN_EVENTS_FOR_THREADS : file->n_records;
	}
	return n < MIN_EVENTS_FOR_THREADS
		       ? 1
		       : MIN(MAX_THREADS, kmt_match_n_processors());
}
#endif

static void block_init(KmtMatchPipelineBlock *work, guint n_shards)
{
	guint i;

	kmt_match_block_init(&work->block);
	work->shard_blocks =
		g_aligned_alloc0(n_shards, sizeof(KmtMatchShardBlock),
				 KMT_MATCH_CACHE_LINE_BYTES);
	for (i = 0; i < n_shards; i++)
		work->shard_blocks[i].slow_events =
			g_array_new(FALSE, FALSE, sizeof(KmtMatchSlowEvent));
	if (n_shards == 1)
		kmt_match_order_init_identity(&work->order,
					      work->shard_blocks[0].items);
	work->all_slow_events = g_ptr_array_new();
}

static void block_clear(KmtMatchPipelineBlock *work, guint n_shards)
{
	guint i;

	for (i = 0; i < n_shards; i++)
		g_array_unref(work->shard_blocks[i].slow_events);
	g_aligned_free(work->shard_blocks);
	g_ptr_array_unref(work->all_slow_events);
	kmt_match_block_clear(&work->block);
}

KmtMatchPipeline *kmt_match_pipeline_new(const KmtInputCapture *capture,
					 const KmtMatchPipelineOptions *options,
					 KmtMatchConsumer consumer,
					 gpointer user)
{
	const guint threads = CLAMP(options->jobs, 1, max_threads(capture));
	const KmtMatchOptions match_options = {
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.keys = options->keys,
		.hash_seed = kmt_hash_odd_seed(),
		.shards =
			options->shards ? options->shards : MAX(2, threads) - 1,
	};
	KmtMatchPipeline *p = g_new0(KmtMatchPipeline, 1);
	guint i;

	p->capture = capture;
	p->consumer = consumer;
	p->user = user;
	p->n_threads = threads;
	p->n_ring = p->n_threads == 1 ? 1
				      : MIN(KMT_MATCH_MAX_BLOCKS,
					    BLOCKS_PER_THREAD * p->n_threads);
	p->n_shards = match_options.shards;
	if (p->n_shards == 1)
		p->match_block = options->match_block;
	p->keys = options->keys;
	p->queue = (KmtMatchShardQueue){
		.seed = match_options.hash_seed,
		.n_shards = p->n_shards,
		.next = g_new(KmtMatchEvent *, p->n_shards)};
	p->merge = kmt_match_merge_new(capture);
	kmt_match_merge_stop_after(p->merge, options->stop_ns,
				   CLAMP(options->clock_tolerance_ns, 0,
					 KMT_MATCH_CLOCK_TOLERANCE_MAX_NS));
	p->shards = g_new0(KmtMatchShard, p->n_shards);
	for (i = 0; i < p->n_shards; i++) {
		KmtMatchShard *shard = &p->shards[i];

		shard->number = i;
		shard->matcher =
			kmt_matcher_new(capture, &match_options,
					&kmt_match_slow_event_ops, shard);
	}
	for (i = 0; i < p->n_ring; i++)
		block_init(&p->ring[i], p->n_shards);
	block_init(&p->end, p->n_shards);
	g_mutex_init(&p->lock);
	g_cond_init(&p->changed);
	return p;
}

void kmt_match_pipeline_free(KmtMatchPipeline *p)
{
	guint i;

	if (!p)
		return;
	for (i = 0; i < p->n_ring; i++)
		block_clear(&p->ring[i], p->n_shards);
	block_clear(&p->end, p->n_shards);
	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_free(p->shards[i].matcher);
	kmt_match_merge_free(p->merge);
	g_free(p->queue.next);
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->changed);
	g_free(p->shards);
	g_free(p);
}

void kmt_match_pipeline_run(KmtMatchPipeline *p)
{
	guint i;

	kmt_match_run_threads(p);
	for (i = 0; i < p->n_shards; i++) {
		p->shards[i].work = &p->end;
		kmt_matcher_finish(p->shards[i].matcher);
	}
	kmt_match_stage_consume(p, &p->end);
	kmt_match_merge_drain(p->merge);
}

const KmtMatchMerge *kmt_match_pipeline_merge(const KmtMatchPipeline *p)
{
	return p->merge;
}

/* Add n counts of from to those of to. */
static void add_counts(guint64 *to, const guint64 *from, guint n)
{
	guint i;

	for (i = 0; i < n; i++)
		to[i] += from[i];
}

void kmt_match_pipeline_findings(const KmtMatchPipeline *p,
				 KmtMatchFindings *all)
{
	guint i;

	*all = (KmtMatchFindings){0};
	for (i = 0; i < p->n_shards; i++) {
		const KmtMatchFindings *f =
			kmt_matcher_findings(p->shards[i].matcher);

		add_counts(all->unmatched_defers, f->unmatched_defers,
			   KMT_MATCH_N_UNMATCHED);
		add_counts(all->unmatched, f->unmatched, KMT_MATCH_N_UNMATCHED);
		add_counts(all->doubles, f->doubles, KMT_MATCH_N_DOUBLE);
		all->double_defers += f->double_defers;
		all->double_defers_after_loss += f->double_defers_after_loss;
		all->mismatches += f->mismatches;
		all->mismatches_after_loss += f->mismatches_after_loss;
	}
}

void kmt_match_pipeline_foreach_live(KmtMatchPipeline *p,
				     void (*func)(gpointer user,
						  const KmtMatchObject *object),
				     gpointer user)
{
	guint i;

	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_foreach_live(p->shards[i].matcher, func, user);
}

void kmt_match_pipeline_foreach_deferred(
	KmtMatchPipeline *p,
	void (*func)(gpointer user, const KmtMatchObject *object),
	gpointer user)
{
	guint i;

	for (i = 0; i < p->n_shards; i++)
		kmt_matcher_foreach_deferred(p->shards[i].matcher, func, user);
}
