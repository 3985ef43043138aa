// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge exactly two files, as a capture of two CPUs has, without the tree: 40
 * instead of 78 instructions per record.
 */
#include "config.h"

#include "lib/match/branch-free.h"
#include "lib/match/merge-private.h"

/*
 * Append n records, or fewer if the record after the next one needs the careful
 * path. Return the number of records that are not appended. The function is
 * inlined with constants for one_shard and, for the usual record sizes,
 * record_size, because the loop otherwise needs more registers than the
 * processor has (7 % of its instructions).
 */
static inline __attribute__((always_inline)) guint
fill(KmtMatchMerge *merge, KmtMatchShardQueue *queue, guint n,
     gboolean one_shard, guint record_size)
{
	const guint32 first_head = kmt_input_first_head(record_size);
	const guint32 last_head = kmt_input_last_head(record_size);
	const guint8 *next_a = merge->cursors[0].next;
	const guint8 *next_b = merge->cursors[1].next;
	KmtMatchQueueEnd end = kmt_match_shard_queue_end(queue);
	guint file = 0;

	for (; n; n--) {
		const guint8 *after;
		gint64 now;

		file = kmt_match_choose_earlier(&next_a, &next_b, record_size,
						&after, &now);
		if (G_UNLIKELY(!kmt_match_cursor_accepts(
			    first_head, last_head,
			    (const KmtInputRawEvent *)after, now)))
			break;
		__builtin_prefetch(after + KMT_MATCH_PREFETCH_BYTES);
		kmt_match_shard_queue_put(
			queue, &end,
			(const KmtInputRawEvent *)(after - record_size), now,
			file, one_shard);
	}
	kmt_match_shard_queue_set_end(queue, &end, one_shard);
	merge->cursors[0].next = next_a;
	merge->cursors[1].next = next_b;
	/* Correct the cursor in memory, because a correction of next_a or
	 * next_b costs the loop 4 instructions that copy registers. */
	if (n)
		merge->cursors[file].next -= record_size;
	return n;
}

/*
 * Call fill() with constants. If the compiler inlines this function into the
 * loop of the caller, fill() copies more registers, 5 instructions per record.
 */
static __attribute__((noinline)) guint
fill_part(KmtMatchMerge *merge, KmtMatchShardQueue *queue, guint n)
{
	guint record_size = merge->cursors[0].record_size;

	if (queue->n_shards > 1)
		return fill(merge, queue, n, FALSE, record_size);
	if (record_size == KMEMTRACE_EVENT_SIZE_V1)
		return fill(merge, queue, n, TRUE, KMEMTRACE_EVENT_SIZE_V1);
	if (record_size == KMEMTRACE_EVENT_SIZE_V2)
		return fill(merge, queue, n, TRUE, KMEMTRACE_EVENT_SIZE_V2);
	return fill(merge, queue, n, TRUE, record_size);
}

/*
 * Near the end of a batch, the files together have more records than the loop
 * may append without a test of the ends. Several calls then approach the end.
 */
void kmt_match_merge_fill_from_two(KmtMatchMerge *merge,
				   KmtMatchShardQueue *queue, guint n)
{
	guint part;

	do {
		guint64 spare = MIN(kmt_match_cursor_spare(&merge->cursors[0]),
				    kmt_match_cursor_spare(&merge->cursors[1]));

		part = (guint)MIN(n, spare);
		n -= part;
	} while (part && !fill_part(merge, queue, part));
	kmt_match_tree_build(merge);
}
