// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge exactly two files, as a capture of two CPUs has, without the tree: 43
 * instead of 60 instructions per record.
 */
#include "config.h"

#include "lib/match/branch-free.h"
#include "lib/match/merge-private.h"

static inline const KmtInputRawEvent *at(const guint8 *record)
{
	return (const KmtInputRawEvent *)record;
}

/*
 * Append n records, or fewer if the record after the next one needs the careful
 * path. The function is inlined with a constant one_shard.
 */
static inline __attribute__((always_inline)) void
fill(KmtMatchCursor *a, KmtMatchCursor *b, KmtMatchShardQueue *queue, guint n,
     gboolean one_shard)
{
	const guint32 first_head = a->first_head, last_head = a->last_head;
	const guint stride = a->stride;
	const guint8 *next_a = a->next, *next_b = b->next;
	KmtMatchQueueEnd end = kmt_match_shard_queue_end(queue);

	for (n += end.n; end.n != n;) {
		gint64 now = at(next_a)->timestamp;
		const guint8 *next = next_a, *after;
		guint file = kmt_match_choose_earlier(
			&now, at(next_b)->timestamp, &next, next_b);

		after = next + stride;
		if (G_UNLIKELY(!kmt_match_cursor_accepts(first_head, last_head,
							 at(after), now)))
			break;
		__builtin_prefetch(after + KMT_MATCH_PREFETCH_BYTES);
		kmt_match_set_chosen(file, after, &next_a, &next_b);
		kmt_match_shard_queue_put(queue, &end, at(next), now, file,
					  one_shard);
	}
	kmt_match_shard_queue_set_end(queue, &end);
	a->next = next_a;
	b->next = next_b;
}

void kmt_match_merge_fill_from_two(KmtMatchMerge *merge,
				   KmtMatchShardQueue *queue, guint n)
{
	KmtMatchCursor *a = &merge->cursors[0], *b = &merge->cursors[1];

	if (queue->n_shards == 1)
		fill(a, b, queue, n, TRUE);
	else
		fill(a, b, queue, n, FALSE);
	kmt_match_tree_build(merge);
}
