// SPDX-License-Identifier: GPL-2.0-or-later
/* Merge a run: consecutive records of one file. */
#include "config.h"

#include "lib/match/merge-private.h"

/* Return the largest merged time at which the first file precedes all others,
 * at most merge->stop. */
static gint64 run_end(const KmtMatchMerge *merge)
{
	const KmtMatchTree *tree = &merge->tree;
	guint i = kmt_match_tree_first(tree), node;
	guint64 second = KMT_MATCH_TREE_FAR << KMT_MATCH_TREE_ID_BITS, distance;

	for (node = (tree->n + i) / 2; node; node /= 2)
		second = MIN(second, tree->losers[node]);
	/* A key consists of a distance and a file number. At equal distances,
	 * the file with the smaller number comes first. */
	distance = (second - i - 1) >> KMT_MATCH_TREE_ID_BITS;
	if (distance > (guint64)merge->stop - (guint64)tree->base)
		return merge->stop;
	return (gint64)((guint64)tree->base + distance);
}

/*
 * Append at most n records of file i while their merged times do not exceed
 * until, or fewer if the record after the next one needs the careful path. The
 * function is inlined with constants for one_shard and, for the usual record
 * sizes, record_size; see merge-two-files.c.
 */
static inline __attribute__((always_inline)) void
fill(KmtMatchMerge *merge, guint i, KmtMatchShardQueue *queue, guint n,
     gint64 until, gboolean one_shard, guint record_size)
{
	const guint32 first_head = kmt_input_first_head(record_size);
	const guint32 last_head = kmt_input_last_head(record_size);
	const guint8 *next = merge->cursors[i].next;
	KmtMatchQueueEnd end = kmt_match_shard_queue_end(queue);
	gint64 now = merge->cursors[i].now;

	for (; n && now <= until; n--) {
		const guint8 *after = next + record_size;
		const KmtInputRawEvent *event = (const KmtInputRawEvent *)after;

		if (G_UNLIKELY(!kmt_match_cursor_accepts(first_head, last_head,
							 event, now)))
			break;
		__builtin_prefetch(after + KMT_MATCH_PREFETCH_BYTES);
		kmt_match_shard_queue_put(queue, &end,
					  (const KmtInputRawEvent *)next, now,
					  i, one_shard);
		next = after;
		now = event->timestamp;
	}
	kmt_match_shard_queue_set_end(queue, &end, one_shard);
	merge->cursors[i].next = next;
}

guint kmt_match_merge_fill_from_first(KmtMatchMerge *merge,
				      KmtMatchShardQueue *queue)
{
	guint i = kmt_match_tree_first(&merge->tree), n, n_before = queue->n;
	KmtMatchCursor *s = &merge->cursors[i];
	gint64 until = run_end(merge);

	kmt_match_cursor_settle(s);
	n = (guint)MIN(KMT_MATCH_BLOCK_RECORDS - queue->n,
		       kmt_match_cursor_spare(s));
	if (queue->n_shards > 1)
		fill(merge, i, queue, n, until, FALSE, s->record_size);
	else if (s->record_size == KMEMTRACE_EVENT_SIZE_V1)
		fill(merge, i, queue, n, until, TRUE, KMEMTRACE_EVENT_SIZE_V1);
	else if (s->record_size == KMEMTRACE_EVENT_SIZE_V2)
		fill(merge, i, queue, n, until, TRUE, KMEMTRACE_EVENT_SIZE_V2);
	else
		fill(merge, i, queue, n, until, TRUE, s->record_size);
	if (queue->n != n_before)
		kmt_match_tree_update(merge, i);
	return queue->n - n_before;
}
