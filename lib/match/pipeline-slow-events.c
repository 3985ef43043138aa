// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores the decisions that the matcher reports by callbacks of KmtMatchOps as
 * slow events of a block. */
#include "config.h"

#include "lib/match/pipeline-private.h"

/*
 * Return the index of the first record in the block whose merged time exceeds
 * time. The search starts at the current event, because the record is close to
 * it.
 */
static guint index_after(const KmtMatchShard *shard, gint64 time)
{
	const KmtMatchPipelineBlock *work = shard->work;
	guint to = shard->item ? shard->item->index : work->block.n;
	guint step = 1, from = to - MIN(to, step);

	while (from && work->order.items[from - 1]->now > time) {
		to = from - 1;
		step *= 2;
		from = to - MIN(to, step);
	}
	while (from < to) {
		guint middle = from + (to - from) / 2;

		if (work->order.items[middle]->now > time)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

static KmtMatchSlowEvent *add_slow_event(KmtMatchShard *shard,
					 KmtMatchSlowOp op,
					 const struct kmemtrace_event *event,
					 const KmtMatchPosition *position)
{
	KmtMatchShardBlock *shard_block =
		&shard->work->shard_blocks[shard->number];
	KmtMatchSlowEvent *slow_event;
	gint64 time;

	if (shard_block->n_slow_events == shard_block->slow_events->len)
		g_array_set_size(shard_block->slow_events,
				 2 * shard_block->n_slow_events + 16);
	slow_event = &g_array_index(shard_block->slow_events, KmtMatchSlowEvent,
				    shard_block->n_slow_events++);
	slow_event->op = (guint8)op;
	slow_event->mismatch = slow_event->class = slow_event->late_free = 0;
	slow_event->type = event->type_id;
	slow_event->file = (guint16)position->file->position;
	slow_event->ptr = event->ptr;
	slow_event->call_site = event->call_site;
	slow_event->now = event->timestamp;
	slow_event->delayed =
		kmt_matcher_is_delayed(shard->matcher, &time) != FALSE;
	slow_event->index = slow_event->delayed ? index_after(shard, time)
						: shard->item->index;
	return slow_event;
}

static KmtMatchSlowEvent *add_object_event(KmtMatchShard *shard,
					   KmtMatchSlowOp op,
					   const KmtMatchObject *object,
					   const struct kmemtrace_event *event,
					   const KmtMatchPosition *position)
{
	KmtMatchSlowEvent *slow_event =
		add_slow_event(shard, op, event, position);

	slow_event->object = *object;
	return slow_event;
}

static void on_alloc(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position)
{
	add_object_event(user, KMT_MATCH_SLOW_ALLOC, object, event, position);
}

static void on_free(gpointer user, const KmtMatchObject *object,
		    const struct kmemtrace_event *event,
		    const KmtMatchPosition *position, gboolean mismatch)
{
	KmtMatchSlowEvent *slow_event = add_object_event(
		user, KMT_MATCH_SLOW_FREE, object, event, position);

	slow_event->mismatch = mismatch != FALSE;
}

static void on_replaced(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position)
{
	add_object_event(user, KMT_MATCH_SLOW_REPLACED, object, event,
			 position);
}

static void on_double(gpointer user, const KmtMatchObject *old_object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	KmtMatchSlowEvent *slow_event = add_object_event(
		user, KMT_MATCH_SLOW_DOUBLE, old_object, event, position);

	slow_event->class = (guint8) class;
	slow_event->late_free = free_event != NULL;
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	add_slow_event(user, KMT_MATCH_SLOW_UNMATCHED, event, position)->class =
		(guint8) class;
}

static void on_defer(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position,
		     KmtMatchDeferEffect effect)
{
	KmtMatchSlowEvent *slow_event =
		add_slow_event(user, KMT_MATCH_SLOW_DEFER, event, position);

	slow_event->class = (guint8)effect;
	if (object)
		slow_event->object = *object;
}

static void on_double_defer(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position,
			    gboolean after_loss)
{
	add_object_event(user, KMT_MATCH_SLOW_DOUBLE_DEFER, object, event,
			 position)
		->class
		= after_loss != FALSE;
}

static void on_unmatched_defer(gpointer user,
			       const struct kmemtrace_event *event,
			       const KmtMatchPosition *position,
			       KmtMatchUnmatched class)
{
	add_slow_event(user, KMT_MATCH_SLOW_UNMATCHED_DEFER, event, position)
		->class
		= (guint8) class;
}

const KmtMatchOps kmt_match_slow_event_ops = {
	.on_alloc = on_alloc,
	.on_free = on_free,
	.on_replaced = on_replaced,
	.on_double = on_double,
	.on_unmatched = on_unmatched,
	.on_defer = on_defer,
	.on_double_defer = on_double_defer,
	.on_unmatched_defer = on_unmatched_defer};

static gboolean is_before(const KmtMatchSlowEvent *a,
			  const KmtMatchSlowEvent *b)
{
	return a->index < b->index ||
	       (a->index == b->index && a->delayed > b->delayed);
}

/*
 * Merge the slow events of all shards. The events of one shard are in order,
 * and different shards have different addresses.
 */
void kmt_match_order_slow_events(const KmtMatchPipeline *p,
				 KmtMatchPipelineBlock *work)
{
	g_autofree guint *next = NULL;
	guint i, n = 0;

	for (i = 0; i < p->n_shards; i++)
		n += work->shard_blocks[i].n_slow_events;
	g_ptr_array_set_size(work->all_slow_events, (gint)n);
	if (p->n_shards == 1) {
		for (i = 0; i < n; i++)
			work->all_slow_events->pdata[i] = &g_array_index(
				work->shard_blocks[0].slow_events,
				KmtMatchSlowEvent, i);
		return;
	}
	next = g_new0(guint, p->n_shards);
	for (n = 0; n < work->all_slow_events->len; n++) {
		const KmtMatchSlowEvent *first = NULL;
		guint from = 0;

		for (i = 0; i < p->n_shards; i++) {
			const KmtMatchShardBlock *shard_block =
				&work->shard_blocks[i];
			const KmtMatchSlowEvent *slow_event;

			if (next[i] == shard_block->n_slow_events)
				continue;
			slow_event = &g_array_index(shard_block->slow_events,
						    KmtMatchSlowEvent, next[i]);
			if (first && !is_before(slow_event, first))
				continue;
			first = slow_event;
			from = i;
		}
		work->all_slow_events->pdata[n] = (gpointer)first;
		next[from]++;
	}
}
