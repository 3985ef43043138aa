// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/online.h"

#include "lib/match/matcher-private.h"
#include "lib/match/merge-private.h"
#include "lib/match/pipeline-private.h"

struct KmtMatchOnline {
	KmtMatchOnlineOptions options;
	KmtMatchPipeline *pipeline; /* one shard, one thread */
	gboolean limited;	    /* a limit was reached */
	guint64 gap_records;	    /* LOST records so far */
	guint64 n_live;		    /* live objects */
};

static KmtMatcher *matcher_of(const KmtMatchOnline *online)
{
	return online->pipeline->shards[0].matcher;
}

KmtMatchOnline *kmt_match_online_new(const KmtInputCapture *capture,
				     const KmtMatchOnlineOptions *options)
{
	const KmtMatchPipelineOptions pipeline_options = {
		.jobs = 1,
		.shards = 1,
		.clock_tolerance_ns = options->clock_tolerance_ns,
		.keys = options->keys,
		.stop_ns = G_MAXINT64,
	};
	KmtMatchOnline *online = g_new0(KmtMatchOnline, 1);

	online->options = *options;
	online->pipeline = kmt_match_pipeline_new(
		capture, &pipeline_options, options->consumer, options->user);
	kmt_match_merge_set_source(online->pipeline->merge, options->next_batch,
				   options->user);
	return online;
}

void kmt_match_online_free(KmtMatchOnline *online)
{
	if (!online)
		return;
	kmt_match_pipeline_free(online->pipeline);
	g_free(online);
}

/* ---- limits ---- */

/* Return how many of the next ALLOCs can be tracked. */
static guint64 room(const KmtMatchOnline *online)
{
	guint64 live = kmt_match_online_live(online);
	guint64 max = online->options.max_live;

	if (!max)
		return G_MAXUINT64;
	return max - MIN(max, live);
}

/*
 * Remove the ALLOCs of a block beyond the limits from the block. Their FREEs
 * will have no object.
 */
static void drop_untracked(KmtMatchOnline *online, KmtMatchPipelineBlock *work,
			   guint64 n_room)
{
	const KmtMatchOnlineOptions *options = &online->options;
	KmtMatchEvent *items = work->shard_blocks[0].items;
	guint n = work->block.n, kept = 0, i;

	for (i = 0; i < n; i++) {
		gboolean is_alloc = items[i].op == KMT_MATCH_STEP_ALLOC;

		if (is_alloc &&
		    (!n_room || items[i].class_id == KMT_MATCH_NO_CLASS)) {
			options->on_untracked(options->user, items[i].class_id);
			continue;
		}
		n_room -= is_alloc;
		items[kept] = items[i];
		items[kept].index = (guint16)kept;
		kept++;
	}
	if (kept != n && !online->limited) {
		online->limited = TRUE;
		kmt_match_online_note_loss(online);
	}
	work->block.n = work->shard_blocks[0].n = kept;
}

/* ---- blocks ---- */

/* Set the allocation class of each ALLOC of the block. Return FALSE if one has
 * none. */
static gboolean assign_classes(KmtMatchOnline *online)
{
	const KmtMatchOnlineOptions *options = &online->options;
	const KmtMatchShardQueue *queue = &online->pipeline->queue;
	KmtMatchEvent *const *allocs = queue->order->allocs;
	gboolean all = TRUE;
	guint i;

	for (i = 0; i < queue->n_allocs; i++) {
		allocs[i]->class_id = options->class_of(
			options->user, allocs[i]->event, allocs[i]->file);
		all &= allocs[i]->class_id != KMT_MATCH_NO_CLASS;
	}
	return all;
}

/* Fill a block with the next records. Return FALSE if there are none. */
static gboolean merge_block(KmtMatchOnline *online, KmtMatchPipelineBlock *work)
{
	KmtMatchPipeline *p = online->pipeline;
	KmtMatchShardQueue *queue = &p->queue;
	guint64 n_room = room(online);

	queue->order = &work->order;
	queue->items = work->shard_blocks[0].items;
	if (!kmt_match_merge_fill(p->merge, &work->block, queue))
		return FALSE;
	work->shard_blocks[0].n = queue->n;
	if (p->merge->gap_records != online->gap_records) {
		online->gap_records = p->merge->gap_records;
		kmt_match_online_note_loss(online);
	}
	if (!assign_classes(online) || n_room < queue->n_allocs)
		drop_untracked(online, work, n_room);
	work->n_classes = p->keys->classes->n;
	return TRUE;
}

/* Update the number of live objects by the decisions of a block. */
static void count_live(KmtMatchOnline *online,
		       const KmtMatchPipelineBlock *work)
{
	const KmtMatchShardBlock *decided = &work->shard_blocks[0];
	guint i;

	for (i = 0; i < work->block.n; i++) {
		guint op = decided->items[i].op;

		online->n_live += op == KMT_MATCH_STEP_ALLOC;
		online->n_live -= op == KMT_MATCH_STEP_FREE;
	}
	for (i = 0; i < decided->n_slow_events; i++) {
		guint op = g_array_index(decided->slow_events,
					 KmtMatchSlowEvent, i)
				   .op;

		online->n_live += op == KMT_MATCH_SLOW_ALLOC;
		online->n_live -= op == KMT_MATCH_SLOW_FREE ||
				  op == KMT_MATCH_SLOW_REPLACED;
	}
}

void kmt_match_online_advance(KmtMatchOnline *online, gint64 until)
{
	KmtMatchPipeline *p = online->pipeline;
	KmtMatchPipelineBlock *work = &p->ring[0];

	kmt_match_merge_resume(p->merge, until);
	while (merge_block(online, work)) {
		if (!work->block.n)
			continue;
		kmt_match_stage_match(p, &p->shards[0], work);
		count_live(online, work);
		kmt_match_stage_pass_on(p, work);
	}
}

void kmt_match_online_finish(KmtMatchOnline *online)
{
	KmtMatchPipeline *p = online->pipeline;

	kmt_match_online_advance(online, G_MAXINT64);
	p->shards[0].work = &p->end;
	kmt_matcher_finish(matcher_of(online));
	count_live(online, &p->end);
	p->end.n_classes = p->keys->classes->n;
	kmt_match_stage_pass_on(p, &p->end);
}

/* ---- state ---- */

void kmt_match_online_note_loss(KmtMatchOnline *online)
{
	matcher_of(online)->lossy = TRUE;
}

guint64 kmt_match_online_live(const KmtMatchOnline *online)
{
	return online->n_live;
}

guint64 kmt_match_online_bytes(const KmtMatchOnline *online)
{
	return kmt_match_table_bytes(&matcher_of(online)->table);
}

gboolean kmt_match_online_is_limited(const KmtMatchOnline *online)
{
	return online->limited;
}
