// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/mark-reader.h"
#include "lib/input/name-tables.h"
#include "lib/input/namespace.h"
#include "lib/match/merge-private.h"

/* Put r, the new item of a leaf, into the loser tree: compare it at each node
 * up to the root. The processor cannot predict the result of a comparison, so a
 * mask instead of a branch exchanges the loser and the winner. */
static void replay(KmtMatchMerge *merge, guint leaf, KmtMatchTreeItem r)
{
	guint node;

	for (node = leaf / 2; node; node /= 2) {
		KmtMatchTreeItem *other = &merge->losers[node];
		guint64 swap = -(
			guint64)((other->key < r.key) |
				 ((other->key == r.key) & (other->id < r.id)));
		guint64 key = ((guint64)other->key ^ (guint64)r.key) & swap;
		guint32 id = (other->id ^ r.id) & (guint32)swap;

		other->key = (gint64)((guint64)other->key ^ key);
		other->id ^= id;
		r.key = (gint64)((guint64)r.key ^ key);
		r.id ^= id;
	}
	merge->winner = r;
}

/* Return the item of file i for the tree, whether the tree had it before or
 * not.
 */
static KmtMatchTreeItem leaf_item(KmtMatchMerge *merge, guint32 i)
{
	const KmtMatchCursor *s = &merge->cursors[i];

	return s->next == s->end ? kmt_match_cursor_item(merge, i)
				 : (KmtMatchTreeItem){s->now, i};
}

/* Build the tree below a node, and return its winner. */
static KmtMatchTreeItem play(KmtMatchMerge *merge, guint node)
{
	KmtMatchTreeItem a, b;

	if (node >= merge->n)
		return leaf_item(merge, node - merge->n);
	a = play(merge, 2 * node);
	b = play(merge, 2 * node + 1);
	merge->losers[node] = kmt_match_item_is_before(a, b) ? b : a;
	return kmt_match_item_is_before(a, b) ? a : b;
}

KmtMatchMerge *kmt_match_merge_new(const KmtInputCapture *capture)
{
	KmtMatchMerge *merge = g_new0(KmtMatchMerge, 1);
	guint i;

	merge->capture = capture;
	merge->n = capture->files->len;
	merge->now = G_MAXINT64;
	merge->first = G_MAXINT64;
	merge->last = G_MININT64;
	merge->stop = merge->span_stop = G_MAXINT64;
	merge->gaps = g_array_new(FALSE, FALSE, sizeof(KmtMatchGap));
	merge->cursors = g_new0(KmtMatchCursor, merge->n);
	merge->losers = g_new0(KmtMatchTreeItem, merge->n);
	for (i = 0; i < merge->n; i++) {
		KmtMatchCursor *s = &merge->cursors[i];

		s->file = capture->files->pdata[i];
		s->record_size = s->file->record_size;
		s->last_type = kmt_input_last_type(s->record_size);
		s->source = kmt_input_reader_new(capture->files->pdata[i]);
		s->now = s->last = G_MININT64;
	}
	merge->winner = play(merge, 1);
	return merge;
}

void kmt_match_merge_free(KmtMatchMerge *merge)
{
	guint i;

	if (!merge)
		return;
	for (i = 0; i < merge->n; i++) {
		kmt_input_buffer_unref(merge->cursors[i].buffer);
		kmt_input_reader_free(merge->cursors[i].source);
	}
	g_array_unref(merge->gaps);
	g_free(merge->stop_reason);
	g_free(merge->losers);
	g_free(merge->cursors);
	g_free(merge);
}

void kmt_match_merge_set_source(KmtMatchMerge *merge,
				KmtMatchNextBatch next_batch, gpointer user)
{
	guint i;

	for (i = 0; i < merge->n; i++) {
		merge->cursors[i].next_batch = next_batch;
		merge->cursors[i].user = user;
	}
}

void kmt_match_merge_resume(KmtMatchMerge *merge, gint64 until)
{
	guint i;

	/* Before the first record, merge->now is G_MAXINT64. */
	for (i = 0; merge->now != G_MAXINT64 && i < merge->n; i++) {
		KmtMatchCursor *s = &merge->cursors[i];

		if (s->next == s->end)
			s->now = MAX(s->now, merge->now);
	}
	merge->stop = until;
	merge->winner = play(merge, 1);
}

void kmt_match_merge_stop_after(KmtMatchMerge *merge, gint64 stop_ns,
				gint64 tolerance_ns)
{
	/* If a sum overflows, the merge does not stop. */
	if (stop_ns == G_MAXINT64 ||
	    __builtin_add_overflow(stop_ns, tolerance_ns, &merge->stop) ||
	    __builtin_add_overflow(merge->winner.key, merge->stop,
				   &merge->stop))
		merge->stop = G_MAXINT64;
	if (stop_ns == G_MAXINT64 ||
	    __builtin_add_overflow(merge->winner.key, stop_ns,
				   &merge->span_stop))
		merge->span_stop = G_MAXINT64;
}

static inline void step(KmtMatchMerge *merge, guint32 i)
{
	KmtMatchCursor *s = &merge->cursors[i];

	merge->last = MAX(merge->last, s->now);
	s->next += s->stride;
	s->index++;
	replay(merge, merge->n + i, kmt_match_cursor_item(merge, i));
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
	guint32 i = merge->winner.id;
	const KmtMatchCursor *s;

	if (i >= merge->n)
		return FALSE;
	s = &merge->cursors[i];
	position->file = s->file;
	position->index = s->index;
	memcpy(event, s->next, sizeof(*event));
	if (event->event_id != KMEMTRACE_EVENT_ALLOC)
		kmt_input_clear_free_fields(event);
	advance_time(merge, merge->winner.key, i);
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

/* Return the item after the winner; its key is G_MAXINT64 if there is none. */
static KmtMatchTreeItem second_item(const KmtMatchMerge *merge)
{
	KmtMatchTreeItem next = {G_MAXINT64, G_MAXUINT32};
	guint node;

	for (node = (merge->n + merge->winner.id) / 2; node; node /= 2)
		if (kmt_match_item_is_before(merge->losers[node], next))
			next = merge->losers[node];
	return next;
}

/* Append records of the winning file while no other file has an earlier record.
 */
static void fill_from(KmtMatchMerge *merge, KmtMatchShardQueue *queue)
{
	guint32 id = merge->winner.id;
	const KmtMatchCursor *s = &merge->cursors[id];
	KmtMatchTreeItem next = second_item(merge);
	gint64 limit = MIN(next.key, merge->stop);
	/* At equal times, the file with the lower number comes first. */
	gboolean ties = next.key > merge->stop || id < next.id;

	do {
		if (!kmt_match_cursor_emit(merge, id, queue)) {
			replay(merge, merge->n + id,
			       kmt_match_cursor_item(merge, id));
			return;
		}
	} while (queue->n < KMT_MATCH_BLOCK_RECORDS &&
		 (s->now < limit || (s->now == limit && ties)));
	replay(merge, merge->n + id, (KmtMatchTreeItem){s->now, id});
}

void kmt_match_merge_release(KmtMatchMerge *merge, const KmtMatchBlock *block)
{
	guint i;

	for (i = 0; i < block->ends->len; i++)
		kmt_input_reader_release(
			merge->cursors[i].source,
			g_array_index(block->ends, guint64, i));
}

/*
 * Add a reference to the current buffer of s to the block, unless the block has
 * that reference already. The buffer thus exists as long as the block needs it.
 */
static void keep_buffer(const KmtMatchMerge *merge, KmtMatchBlock *block,
			KmtMatchCursor *s)
{
	if (!s->buffer || s->last_fill == merge->fills)
		return;
	g_ptr_array_add(block->buffers, kmt_input_buffer_ref(s->buffer));
	s->last_fill = merge->fills;
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
	guint i;

	g_ptr_array_set_size(block->buffers, 0);
	merge->fills++;
	queue->n = queue->n_allocs = 0;
	while (queue->n < KMT_MATCH_BLOCK_RECORDS &&
	       merge->winner.id < merge->n &&
	       merge->winner.key <= merge->stop) {
		keep_buffer(merge, block, &merge->cursors[merge->winner.id]);
		if (merge->n == 2 && merge->losers[1].id < 2 &&
		    merge->stop == G_MAXINT64) {
			keep_buffer(merge, block,
				    &merge->cursors[merge->losers[1].id]);
			kmt_match_merge_fill_from_two(merge, queue);
		} else {
			fill_from(merge, queue);
		}
	}
	if (merge->defer_records)
		mark_defers(queue);
	block->n = queue->n;
	g_array_set_size(block->ends, merge->n);
	for (i = 0; i < merge->n; i++)
		g_array_index(block->ends, guint64, i) =
			merge->cursors[i].index;
	if (block->n) {
		merge->last = MAX(merge->last,
				  queue->order->items[block->n - 1]->now);
		find_time_jump(merge, queue->order->items, block->n);
	}
	return block->n > 0;
}

static gboolean time_at(const KmtInputCpuFile *file, guint64 index,
			gint64 *time)
{
	struct kmemtrace_event event;

	kmt_input_cpu_file_get(file, index, &event);
	if (!kmt_match_is_event_record(file->record_size,
				       kmt_input_last_type(file->record_size),
				       &event) &&
	    !kmt_input_is_usable_defer(&event, file))
		return FALSE;
	*time = event.timestamp;
	return TRUE;
}

gboolean kmt_match_merge_file_span(const KmtInputCpuFile *file, gint64 *first,
				   gint64 *last)
{
	guint64 i = 0, end = file->n_records;

	while (i < end && !time_at(file, i, first))
		i++;
	while (end > i && !time_at(file, end - 1, last))
		end--;
	return i < end;
}

gboolean kmt_match_merge_stopped(const KmtMatchMerge *merge)
{
	return merge->winner.id < merge->n;
}

gboolean kmt_match_merge_time_range(const KmtMatchMerge *merge, gint64 *first,
				    gint64 *last)
{
	guint i;

	*first = merge->first;
	*last = merge->last;
	/*
	 * Include the next record of each file, and the records of streams that
	 * kmt_match_merge_drain() has read.
	 */
	for (i = 0; i < merge->n; i++)
		if (merge->cursors[i].started)
			*last = MAX(*last, merge->cursors[i].now);
	return *first <= *last;
}

guint64 kmt_match_merge_skipped(const KmtMatchMerge *merge)
{
	return merge->skipped;
}

const GArray *kmt_match_merge_gaps(const KmtMatchMerge *merge)
{
	return merge->gaps;
}

guint64 kmt_match_merge_gap_records(const KmtMatchMerge *merge)
{
	return merge->gap_records;
}

guint64 kmt_match_merge_stop_records(const KmtMatchMerge *merge)
{
	return merge->stop_records;
}

guint64 kmt_match_merge_defer_records(const KmtMatchMerge *merge)
{
	return merge->defer_records;
}

guint64 kmt_match_merge_mark_records(const KmtMatchMerge *merge)
{
	return merge->mark_records;
}

guint64 kmt_match_merge_unordered(const KmtMatchMerge *merge)
{
	return merge->unordered;
}

/*
 * Skip the rest of a batch. Only the time of its last usable record is needed.
 */
static void skip_batch(KmtMatchCursor *s)
{
	const guint8 *p = s->end;

	while (p != s->next) {
		const KmtInputRawEvent *event;

		p -= s->stride;
		event = (const KmtInputRawEvent *)p;
		if (!kmt_match_is_event_record(s->record_size, s->last_type,
					       event) &&
		    !kmt_input_is_usable_defer(event, s->file))
			continue;
		s->now = MAX(s->now, event->timestamp);
		break;
	}
	s->next = s->end;
}

/* Account for the LOST, STOP and mark records in the rest of a batch. */
static void add_rest(KmtMatchMerge *merge, const KmtMatchCursor *s)
{
	const guint8 *p;

	for (p = s->next; p != s->end; p += s->stride) {
		const KmtInputRawEvent *event = (const KmtInputRawEvent *)p;

		if (G_UNLIKELY(event->event_id != KMEMTRACE_EVENT_ALLOC &&
			       event->event_id != KMEMTRACE_EVENT_FREE))
			kmt_match_merge_add_non_event(merge, s, event);
	}
}

/* All records of version 1 are events, so a mapped file of version 1 is not
 * read. */
void kmt_match_merge_drain(KmtMatchMerge *merge)
{
	guint i;

	for (i = 0; i < merge->n; i++) {
		KmtMatchCursor *s = &merge->cursors[i];

		if (!s->file->stream &&
		    (s->next == s->end ||
		     s->record_size < KMEMTRACE_EVENT_SIZE_V2))
			continue;
		do {
			add_rest(merge, s);
			if (s->file->stream)
				skip_batch(s);
		} while (kmt_match_cursor_next_batch(s));
		s->next = s->end;
		kmt_input_cpu_file_drop_pages(s->file);
	}
}
