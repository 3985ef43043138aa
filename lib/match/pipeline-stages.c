// SPDX-License-Identifier: GPL-2.0-or-later
/* The work of each stage of the pipeline on one block. */
#include "config.h"

#include "lib/match/match-block.h"

static gboolean is_remote(const KmtMatchPipeline *p, const KmtMatchEvent *item)
{
	const KmtInputCpuFile *file = p->capture->files->pdata[item->file];
	const gint32 node = item->event->node;

	return node >= 0 && file->node >= 0 && node != file->node;
}

static void assign_class(KmtMatchPipeline *p, KmtMatchEvent *item)
{
	item->class_id = kmt_match_keys_class(p->keys, item->event, item->file);
	if (is_remote(p, item)) {
		item->remote = TRUE;
		item->op |= KMT_MATCH_OP_REMOTE;
	}
}

/* Set the allocation class of each ALLOC, and whether it is remote. */
static void assign_classes(KmtMatchPipeline *p)
{
	KmtMatchEvent *const *alloc = p->queue.order->allocs;
	KmtMatchEvent *const *end = alloc + p->queue.n_allocs;

	for (; alloc != end; alloc++)
		assign_class(p, *alloc);
}

/* assign_classes() for keys without parts. On x86-64, the loop takes 29
 * instructions per ALLOC, instead of 70. */
static void assign_plain_classes(KmtMatchPipeline *p)
{
	KmtMatchEvent *const *alloc = p->queue.order->allocs;
	KmtMatchEvent *const *end = alloc + p->queue.n_allocs;
	const KmtMatchClassTable *classes = p->keys->classes;
	KmtMatchClassSlots slots = classes->slots;

	for (; alloc != end; alloc++) {
		KmtMatchEvent *item = *alloc;
		const KmtMatchClass *found =
			kmt_match_class_table_peek(classes, slots, item->event);

		if (G_UNLIKELY(!found)) {
			assign_class(p, item);
			slots = classes->slots;
			continue;
		}
		item->class_id = found->number;
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
			assign_classes(p);
		else
			assign_plain_classes(p);
		work->n_classes = p->keys->classes->n;
	}
	return TRUE;
}

/* Store the decision about an event for the consumer. */
static inline void store_step(gpointer user, KmtMatchEvent *item,
			      const KmtMatchDecision *d)
{
	item->class_id = (guint32)d->class_id;
	item->alloc_time = d->alloc_time;
	item->alloc_file = d->alloc_file;
	item->flag = d->flag;
}

static KmtMatchedBlock matched_block(const KmtMatchPipelineBlock *work)
{
	return (KmtMatchedBlock){.n = work->block.n,
				 .items = work->order.items,
				 .n_classes = work->n_classes};
}

void kmt_match_stage_match(KmtMatchPipeline *p, KmtMatchShard *shard,
			   KmtMatchPipelineBlock *work)
{
	static const KmtMatchBlockOps ops = {.step = store_step};
	KmtMatchedBlock matched;

	if (!p->match_block) {
		kmt_match_block(shard, work, &ops, NULL);
		return;
	}
	matched = matched_block(work);
	p->match_block(p->user, shard, work, &matched);
}

void kmt_match_stage_pass_on(KmtMatchPipeline *p, KmtMatchPipelineBlock *work)
{
	KmtMatchedBlock matched = matched_block(work);

	if (p->match_block && work != &p->end)
		return;
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
	/* Release the buffers now, so that the merge reuses them for the next
	 * block while they are in the processor's cache. */
	g_ptr_array_set_size(work->block.buffers, 0);
}
