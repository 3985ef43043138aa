// SPDX-License-Identifier: GPL-2.0-or-later
/* The work of each stage of the pipeline on one block. */
#include "config.h"

#include "lib/match/matcher-private.h"
#include "lib/match/pipeline-private.h"

/*
 * Number of records whose table entries are prefetched at once, because memory
 * latency bounds large captures. report-small and the fuzzers use fewer.
 */
#ifndef KMT_MATCH_PREFETCH_BATCH
#define KMT_MATCH_PREFETCH_BATCH 128
#endif

static gboolean is_remote(const KmtMatchPipeline *p, const KmtMatchEvent *item)
{
	const KmtInputCpuFile *file = p->capture->files->pdata[item->file];
	const gint32 node = item->event->node;

	return node >= 0 && file->node >= 0 && node != file->node;
}

/*
 * Set the allocation class of each ALLOC. parts must be p->keys->parts; it is a
 * parameter so that the compiler removes the code for parts from the loop of
 * the default report.
 */
static inline __attribute__((always_inline)) void
assign_classes(KmtMatchPipeline *p, KmtMatchKeyParts parts)
{
	KmtMatchEvent *const *alloc = p->queue.order->allocs;
	KmtMatchEvent *const *end = alloc + p->queue.n_allocs;
	KmtMatchKeys *keys = p->keys;

	for (; alloc != end; alloc++) {
		KmtMatchEvent *item = *alloc;
		const KmtInputRawEvent *event = item->event;

		item->class_id =
			kmt_match_keys_class(keys, parts, event, item->file);
		if (G_UNLIKELY(event->node != KMEMTRACE_NODE_NONE))
			item->remote = is_remote(p, item);
	}
}

gboolean kmt_match_stage_merge(KmtMatchPipeline *p, KmtMatchPipelineBlock *work)
{
	KmtMatchShardQueue *queue = &p->queue;
	guint i;

	queue->order = &work->order;
	queue->items = work->shard_blocks[0].items;
	for (i = 0; i < p->n_shards; i++)
		queue->next[i] = work->shard_blocks[i].items;
	if (!kmt_match_merge_fill(p->merge, &work->block, queue))
		return FALSE;
	for (i = 0; i < p->n_shards; i++)
		work->shard_blocks[i].n =
			(guint)(queue->next[i] - work->shard_blocks[i].items);
	if (p->n_shards == 1)
		work->shard_blocks[0].n = queue->n;
	if (p->keys) {
		if (p->keys->parts)
			assign_classes(p, p->keys->parts);
		else
			assign_classes(p, 0);
		work->n_classes = p->keys->classes->n;
	}
	return TRUE;
}

/* Find the probable entries of a batch of events, and prefetch their memory. */
static void prefetch_entries(KmtMatchTable *table, const KmtMatchEvent *items,
			     guint n, KmtMatchEntry **entries)
{
	const KmtMatchSlotGroup *groups[KMT_MATCH_PREFETCH_BATCH];
	guint missed[KMT_MATCH_PREFETCH_BATCH], n_missed = 0, k;

	for (k = 0; k < n; k++) {
		guint64 hash = items[k].hash;

		entries[k] = *kmt_match_table_cached_entry(table, hash);
		/* Without a branch, because a cache miss cannot be predicted.
		 */
		missed[n_missed] = k;
		n_missed += entries[k]->hash != hash;
	}
	for (k = 0; k < n_missed; k++)
		groups[k] = kmt_match_table_prefetch_slot(
			table, items[missed[k]].hash);
	for (k = 0; k < n_missed; k++) {
		guint64 hash = items[missed[k]].hash;

		entries[missed[k]] = *kmt_match_table_cached_entry(table,
								   hash) =
			kmt_match_table_prefetch_entry(table, hash, groups[k]);
	}
}

static void match(KmtMatchShard *shard, KmtMatchEvent *items, guint n,
		  KmtMatchEntry **entries)
{
	KmtMatcher *m = shard->matcher;
	guint64 n_closed = m->table.n_closed;
	guint k;

	for (k = 0; k < n; k++) {
		KmtMatchEvent *item = &items[k];

		if (G_LIKELY(kmt_match_fast_path(m, item, entries[k],
						 &n_closed)))
			continue;
		m->table.n_closed = n_closed;
		shard->item = item;
		kmt_match_slow_path(m, entries[k], item);
		n_closed = m->table.n_closed;
	}
	m->table.n_closed = n_closed;
}

void kmt_match_stage_match(KmtMatchShard *shard, KmtMatchPipelineBlock *work)
{
	KmtMatchShardBlock *shard_block = &work->shard_blocks[shard->number];
	KmtMatchTable *table = &shard->matcher->table;
	KmtMatchEntry *entries[2][KMT_MATCH_PREFETCH_BATCH];
	KmtMatchEvent *items = shard_block->items;
	guint left = shard_block->n, n, n_next, now = 0;

	shard->work = work;
	shard_block->n_slow_events = 0;
	n = MIN(left, KMT_MATCH_PREFETCH_BATCH);
	prefetch_entries(table, items, n, entries[now]);
	for (; n; left -= n, items += n, n = n_next, now = !now) {
		n_next = MIN(left - n, KMT_MATCH_PREFETCH_BATCH);
		prefetch_entries(table, items + n, n_next, entries[!now]);
		match(shard, items, n, entries[now]);
	}
	shard->item = NULL;
	kmt_matcher_advance(shard->matcher,
			    work->order.items[work->block.n - 1]->now);
}

void kmt_match_stage_pass_on(KmtMatchPipeline *p, KmtMatchPipelineBlock *work)
{
	KmtMatchedBlock matched = {.n = work->block.n,
				   .items = work->order.items,
				   .n_classes = work->n_classes};

	kmt_match_order_slow_events(p, work);
	matched.slow_events =
		(const KmtMatchSlowEvent **)work->all_slow_events->pdata;
	matched.n_slow_events = work->all_slow_events->len;
	p->consumer(p->user, &matched);
}

void kmt_match_stage_consume(KmtMatchPipeline *p, KmtMatchPipelineBlock *work)
{
	kmt_match_stage_pass_on(p, work);
	kmt_match_merge_release(p->merge, &work->block);
}
