// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merge exactly two files, as a capture of two CPUs has, without the tree. A
 * report on such a capture of 4 million events takes 7 % longer with the tree
 * (CPU time and elapsed time), which is the reason for this file.
 */
#include "config.h"

#include <string.h>

#include "lib/match/merge-private.h"

/*
 * Return the number of records that can be read from a file so that one remains
 * in its batch.
 */
static inline guint64 n_spare(const KmtMatchCursor *s)
{
	return (guint64)(s->end - s->next) / s->stride - 1;
}

static inline const KmtInputRawEvent *at(guint64 address)
{
	return (const KmtInputRawEvent *)(guintptr)address;
}

/*
 * Set the next record of a file after emit_from_two() has read usable records
 * with ascending times.
 */
static inline void advance_cursor(KmtMatchCursor *s, guint64 next)
{
	const guint8 *record = (const guint8 *)at(next);

	if (record == s->next)
		return;
	s->index += (guint64)(record - s->next) / s->stride;
	s->next = record;
	s->now = s->last = at(next)->timestamp;
}

/*
 * Return the first four bytes of a record as a number: event_id, type_id,
 * event_size.
 */
static inline guint32 head_of(const KmtInputRawEvent *event)
{
	guint32 head;

	memcpy(&head, event, sizeof(head));
	return GUINT32_FROM_LE(head);
}

/*
 * Append records of two files of one format, until the queue has n records, or
 * the record after the one to append is not a usable ALLOC or FREE or has a
 * smaller timestamp. No branch depends on which file is next, because that
 * cannot be predicted.
 */
static void emit_from_two(KmtMatchCursor *a, KmtMatchCursor *b,
			  KmtMatchShardQueue *queue, guint n)
{
	const struct kmemtrace_event first = {.event_id = KMEMTRACE_EVENT_ALLOC,
					      .event_size =
						      (guint16)a->record_size};
	const guint32 first_head = head_of((const KmtInputRawEvent *)&first);
	const guint32 last_head = a->last_type << 8 | 1; /* largest valid head
							  * minus first_head */
	const guint64 stride = a->stride;
	guint64 next_a = (guint64)(guintptr)a->next;
	guint64 next_b = (guint64)(guintptr)b->next;
	KmtMatchShardQueue out = *queue; /* a local copy, which the compiler
					  * keeps in registers */

	if (a->now != a->last || b->now != b->last)
		return;
	while (out.n < n) {
		gint64 now_a = at(next_a)->timestamp;
		gint64 now_b = at(next_b)->timestamp, now = MIN(now_a, now_b);
		guint id = now_b < now_a;
		guint64 is_b = -(guint64)id, skip_b = stride & is_b;
		guint64 next = next_a ^ ((next_a ^ next_b) & is_b);
		const KmtInputRawEvent *event = at(next + stride);
		guint32 head = head_of(event) - first_head;

		if (G_UNLIKELY(head > last_head || head & 0xfe || !event->ptr ||
			       event->timestamp < now))
			break;
		__builtin_prefetch((const guint8 *)event +
				   KMT_MATCH_PREFETCH_BYTES);
		next_a += stride - skip_b;
		next_b += skip_b;
		kmt_match_shard_queue_put(&out, at(next), now, id);
	}
	*queue = out;
	advance_cursor(a, next_a);
	advance_cursor(b, next_b);
}

void kmt_match_merge_fill_from_two(KmtMatchMerge *merge,
				   KmtMatchShardQueue *queue)
{
	KmtMatchCursor *a = &merge->cursors[0], *b = &merge->cursors[1];
	gboolean alike =
		a->stride == b->stride && a->record_size == b->record_size;
	guint32 id;
	KmtMatchTreeItem runner, other;

	do {
		if (alike)
			emit_from_two(a, b, queue,
				      (guint)MIN(KMT_MATCH_BLOCK_RECORDS,
						 queue->n + MIN(n_spare(a),
								n_spare(b))));
		id = b->now < a->now;
		if (queue->n == KMT_MATCH_BLOCK_RECORDS)
			break;
		/* emit_from_two() was not called, or stopped before the end of
		 * a batch or before a record that needs more checks. */
		if (!kmt_match_cursor_emit(merge, id, queue)) {
			runner = kmt_match_cursor_item(merge, id);
			goto out;
		}
		id = b->now < a->now;
	} while (queue->n < KMT_MATCH_BLOCK_RECORDS);
	runner = (KmtMatchTreeItem){merge->cursors[id].now, id};
out:
	other = (KmtMatchTreeItem){merge->cursors[!id].now, !id};
	merge->winner =
		kmt_match_item_is_before(runner, other) ? runner : other;
	merge->losers[1] =
		kmt_match_item_is_before(runner, other) ? other : runner;
}
