// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge exactly two files, as a capture of two CPUs has, without the tree: 47
 * instead of 78 instructions per record.
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
 * path. The function is inlined with constants for one_shard and, for the usual
 * record sizes, record_size, because the loop otherwise needs more registers
 * than the processor has (7 % of its instructions).
 */
static inline __attribute__((always_inline)) void
fill(KmtMatchMerge *merge, KmtMatchShardQueue *queue, guint n,
     gboolean one_shard, guint record_size)
{
	const guint32 first_head = kmt_input_first_head(record_size);
	const guint32 last_head = kmt_input_last_head(record_size);
	const guint8 *next_a = merge->cursors[0].next;
	const guint8 *next_b = merge->cursors[1].next;
	KmtMatchQueueEnd end = kmt_match_shard_queue_end(queue);
	const guint64 n_max = end.n + n;

	while (end.n != n_max) {
		gint64 now = at(next_a)->timestamp;
		const guint8 *next = next_a, *after;
		guint file = kmt_match_choose_earlier(
			&now, at(next_b)->timestamp, &next, next_b);

		after = next + record_size;
		if (G_UNLIKELY(!kmt_match_cursor_accepts(first_head, last_head,
							 at(after), now)))
			break;
		__builtin_prefetch(after + KMT_MATCH_PREFETCH_BYTES);
		kmt_match_set_chosen(file, after, &next_a, &next_b);
		kmt_match_shard_queue_put(queue, &end, at(next), now, file,
					  one_shard);
	}
	kmt_match_shard_queue_set_end(queue, &end);
	merge->cursors[0].next = next_a;
	merge->cursors[1].next = next_b;
}

void kmt_match_merge_fill_from_two(KmtMatchMerge *merge,
				   KmtMatchShardQueue *queue, guint n)
{
	guint record_size = merge->cursors[0].record_size;

	if (queue->n_shards > 1)
		fill(merge, queue, n, FALSE, record_size);
	else if (record_size == KMEMTRACE_EVENT_SIZE_V1)
		fill(merge, queue, n, TRUE, KMEMTRACE_EVENT_SIZE_V1);
	else if (record_size == KMEMTRACE_EVENT_SIZE_V2)
		fill(merge, queue, n, TRUE, KMEMTRACE_EVENT_SIZE_V2);
	else
		fill(merge, queue, n, TRUE, record_size);
	kmt_match_tree_build(merge);
}
