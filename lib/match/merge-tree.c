// SPDX-License-Identifier: GPL-2.0-or-later
/* Merge any number of files with a loser tree. */
#include "config.h"

#include "lib/match/merge-private.h"

static guint64 leaf_key(const KmtMatchMerge *merge, guint i)
{
	const KmtMatchCursor *s = &merge->cursors[i];

	return s->next == s->end ? KMT_MATCH_TREE_END
				 : kmt_match_tree_key(&merge->tree, s->now, i);
}

/* Build the tree below a node, and return its winner. */
static guint64 play(KmtMatchMerge *merge, guint node)
{
	guint64 a, b;

	if (node >= merge->n)
		return leaf_key(merge, node - merge->n);
	a = play(merge, 2 * node);
	b = play(merge, 2 * node + 1);
	merge->tree.losers[node] = MAX(a, b);
	return MIN(a, b);
}

void kmt_match_tree_build(KmtMatchMerge *merge)
{
	KmtMatchTree *tree = &merge->tree;
	gint64 base = G_MAXINT64;
	guint i;

	for (i = 0; i < merge->n; i++) {
		KmtMatchCursor *s = &merge->cursors[i];

		kmt_match_cursor_settle(s);
		if (s->next != s->end)
			base = MIN(base, s->now);
	}
	tree->base = base;
	tree->winner = play(merge, 1);
}

void kmt_match_tree_update(KmtMatchMerge *merge, guint i)
{
	KmtMatchTree *tree = &merge->tree;

	kmt_match_cursor_settle(&merge->cursors[i]);
	kmt_match_tree_replay(tree, i, leaf_key(merge, i));
	if (kmt_match_tree_is_far(tree))
		kmt_match_tree_build(merge);
}

/*
 * Return the smallest key at which fill() stops. Only records at or after
 * merge->stop, and records that keys cannot represent, have this key or a
 * larger one. The next record is not after merge->stop, so merge->stop is not
 * below base.
 */
static guint64 limit_of(const KmtMatchMerge *merge)
{
	guint64 distance = (guint64)merge->stop - (guint64)merge->tree.base;

	return MIN(distance, KMT_MATCH_TREE_FAR) << KMT_MATCH_TREE_ID_BITS;
}

/* The function is inlined with a constant one_shard. */
static inline __attribute__((always_inline)) void
fill(KmtMatchMerge *merge, KmtMatchShardQueue *queue, guint n,
     gboolean one_shard)
{
	KmtMatchQueueEnd end = kmt_match_shard_queue_end(queue);
	KmtMatchTree tree = merge->tree; /* a copy, which the compiler keeps in
					  * registers */
	KmtMatchCursor *cursors = merge->cursors;
	guint64 limit = limit_of(merge);

	for (; n && tree.winner < limit; n--) {
		guint i = kmt_match_tree_first(&tree);
		KmtMatchCursor *s = &cursors[i];
		const guint8 *next = s->next, *after = next + s->stride;
		const KmtInputRawEvent *event = (const KmtInputRawEvent *)after;
		gint64 now = kmt_match_tree_time(&tree);

		if (G_UNLIKELY(after == s->end ||
			       !kmt_match_cursor_accepts(s->first_head,
							 s->last_head, event,
							 now)))
			break;
		/* With many files, the processor does not prefetch by itself.
		 */
		__builtin_prefetch(after + KMT_MATCH_PREFETCH_BYTES);
		s->next = after;
		kmt_match_shard_queue_put(queue, &end,
					  (const KmtInputRawEvent *)next, now,
					  i, one_shard);
		kmt_match_tree_replay(
			&tree, i,
			kmt_match_tree_key(&tree, event->timestamp, i));
	}
	merge->tree = tree;
	kmt_match_shard_queue_set_end(queue, &end, one_shard);
}

void kmt_match_merge_fill_from_tree(KmtMatchMerge *merge,
				    KmtMatchShardQueue *queue, guint n)
{
	if (queue->n_shards == 1)
		fill(merge, queue, n, TRUE);
	else
		fill(merge, queue, n, FALSE);
	if (kmt_match_tree_is_far(&merge->tree))
		kmt_match_tree_build(merge);
}
