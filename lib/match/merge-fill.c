// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Read the records in merged order. A block is filled by runs of records of one
 * file. If a run is short, so that the files probably alternate, the next
 * records are merged one by one.
 */
#include "config.h"

#include <string.h>

#include "lib/match/merge-private.h"

/* A run of at least this many records is followed by another run. */
#define LONG_RUN 8

/* Number of records that are merged one by one after a short run. */
#define INTERLEAVED_RECORDS 512

/* Move file i, which is the first, to its record after the next one. */
static void step(KmtMatchMerge *merge, guint i)
{
	KmtMatchCursor *s = &merge->cursors[i];

	s->next += s->stride;
	s->settled = s->next;
	s->index++;
	kmt_match_cursor_find(merge, s);
	kmt_match_tree_update(merge, i);
}

/*
 * Advance the merged time to now, the time of a record of file. Remember the
 * largest step.
 */
static inline void advance_time(KmtMatchMerge *merge, gint64 now, guint file)
{
	gint64 before = MIN(merge->now, now);

	merge->now = now;
	if ((guint64)now - (guint64)before <=
	    (guint64)merge->jump_until - (guint64)merge->jump_from)
		return;
	merge->jump_from = before;
	merge->jump_until = now;
	merge->jump_file = file;
}

/*
 * Update the largest step of merged time with the n items of a block, including
 * the step from the previous block to the first item. Most blocks span less
 * than KMT_MATCH_TIME_JUMP_NS in total and need no search.
 */
static void find_time_jump(KmtMatchMerge *merge, KmtMatchEvent *const *items,
			   guint n)
{
	gint64 last = items[n - 1]->now;
	guint i;

	if ((guint64)last - (guint64)MIN(merge->now, items[0]->now) <
	    KMT_MATCH_TIME_JUMP_NS) {
		merge->now = last;
		return;
	}
	for (i = 0; i < n; i++)
		advance_time(merge, items[i]->now, items[i]->file);
}

gboolean kmt_match_merge_next(KmtMatchMerge *merge,
			      struct kmemtrace_event *event,
			      KmtMatchPosition *position)
{
	const KmtMatchCursor *s;
	guint i;

	if (merge->tree.winner == KMT_MATCH_TREE_END)
		return FALSE;
	i = kmt_match_tree_first(&merge->tree);
	s = &merge->cursors[i];
	position->file = s->file;
	position->index = s->index;
	memcpy(event, s->next, sizeof(*event));
	if (event->event_id != KMEMTRACE_EVENT_ALLOC)
		kmt_input_clear_free_fields(event);
	advance_time(merge, s->now, i);
	merge->last = MAX(merge->last, s->now);
	step(merge, i);
	return TRUE;
}

void kmt_match_block_init(KmtMatchBlock *block)
{
	block->n = 0;
	block->ends = g_array_new(FALSE, TRUE, sizeof(guint64));
	block->buffers = g_ptr_array_new_with_free_func(
		(GDestroyNotify)kmt_input_buffer_unref);
}

void kmt_match_block_clear(KmtMatchBlock *block)
{
	g_clear_pointer(&block->ends, g_array_unref);
	g_clear_pointer(&block->buffers, g_ptr_array_unref);
}

/* Add a reference to the buffer of s to the block, so that the buffer exists as
 * long as the block needs it. */
static void keep_buffer(KmtMatchBlock *block, const KmtMatchCursor *s)
{
	if (s->buffer)
		g_ptr_array_add(block->buffers,
				kmt_input_buffer_ref(s->buffer));
}

/* The careful path: append the next record, and examine the record after it
 * completely. */
static void fill_one(KmtMatchMerge *merge, KmtMatchBlock *block,
		     KmtMatchShardQueue *queue)
{
	guint i = kmt_match_tree_first(&merge->tree);
	KmtMatchCursor *s = &merge->cursors[i];
	const KmtInputBuffer *buffer = s->buffer;
	gboolean one_shard = queue->n_shards == 1;
	KmtMatchQueueEnd end = kmt_match_shard_queue_end(queue);

	kmt_match_shard_queue_put(queue, &end,
				  (const KmtInputRawEvent *)s->next, s->now, i,
				  one_shard);
	kmt_match_shard_queue_set_end(queue, &end, one_shard);
	step(merge, i);
	if (s->buffer != buffer)
		keep_buffer(block, s);
}

/* Append records of all files in turns. */
static void fill_interleaved(KmtMatchMerge *merge, KmtMatchShardQueue *queue)
{
	KmtMatchCursor *a = &merge->cursors[0], *b = &merge->cursors[1];
	guint n = MIN(KMT_MATCH_BLOCK_RECORDS - queue->n, INTERLEAVED_RECORDS);

	if (merge->n != 2 || merge->tree.losers[1] == KMT_MATCH_TREE_END ||
	    merge->stop != G_MAXINT64 || a->record_size != b->record_size ||
	    a->now != a->last || b->now != b->last)
		kmt_match_merge_fill_from_tree(merge, queue, n);
	else
		kmt_match_merge_fill_from_two(merge, queue, n);
}

/*
 * Mark the DEFERs of a block, and remove them from its ALLOCs:
 * kmt_match_shard_queue_put() takes each record with an odd event id for an
 * ALLOC, because that costs the usual record nothing.
 */
static void mark_defers(KmtMatchShardQueue *queue)
{
	KmtMatchEvent **allocs = queue->order->allocs;
	guint i, n = 0;

	for (i = 0; i < queue->n_allocs; i++) {
		KmtMatchEvent *item = allocs[i];

		if (item->op == KMT_MATCH_STEP_ALLOC)
			allocs[n++] = item;
		else
			item->op = KMT_MATCH_STEP_DEFER;
	}
	queue->n_allocs = n;
}

gboolean kmt_match_merge_fill(KmtMatchMerge *merge, KmtMatchBlock *block,
			      KmtMatchShardQueue *queue)
{
	gboolean interleaved = FALSE;
	guint i, n;

	g_ptr_array_set_size(block->buffers, 0);
	for (i = 0; i < merge->n; i++)
		keep_buffer(block, &merge->cursors[i]);
	queue->n = queue->n_allocs = 0;
	while (queue->n < KMT_MATCH_BLOCK_RECORDS &&
	       merge->tree.winner != KMT_MATCH_TREE_END &&
	       kmt_match_tree_time(&merge->tree) <= merge->stop) {
		if (interleaved) {
			fill_interleaved(merge, queue);
			interleaved = FALSE;
			continue;
		}
		n = kmt_match_merge_fill_from_first(merge, queue);
		if (n == 0)
			fill_one(merge, block, queue);
		interleaved = n > 0 && n < LONG_RUN;
	}
	if (merge->defer_records)
		mark_defers(queue);
	block->n = queue->n;
	g_array_set_size(block->ends, merge->n);
	for (i = 0; i < merge->n; i++) {
		kmt_match_cursor_settle(&merge->cursors[i]);
		g_array_index(block->ends, guint64, i) =
			merge->cursors[i].index;
	}
	if (block->n) {
		merge->last = MAX(merge->last,
				  queue->order->items[block->n - 1]->now);
		find_time_jump(merge, queue->order->items, block->n);
	}
	return block->n > 0;
}
