// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture.h"
#include "lib/input/mark-reader.h"
#include "lib/match/merge.h"
#include "lib/input/namespace.h"
#include "lib/input/name-tables.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

/* Bytes by which the next record of a file is prefetched. */
#define PREFETCH_BYTES 4096

/* A longer time without any record causes a warning. */
#define TIME_JUMP_NS ((guint64)(3600 * NS_PER_S))

/* Position in one file: the next record, and the rest of its batch. */
typedef struct {
	const guint8 *next, *end;
	guint stride;
	guint record_size;
	guint last_type;  /* last type that records of this size may have */
	gboolean started; /* the file has had a usable record */
	gint64 now;	  /* merged time of the next record */
	gint64 last;	  /* timestamp of the next record */
	gint64 first;	  /* timestamp of the first usable record */
	guint64 index;	  /* index of the next record in its file */
	KmtInputBuffer *buffer;
	guint64 last_fill; /* number of the last block that holds a reference to
			    * buffer */
	KmtInputReader *source;
	const KmtInputCpuFile *file;
} FileCursor;

/* A file in the tree. id is the index of its cursor. At the end of the file, id
 * is the index plus the number of cursors, so that the file sorts after all
 * others. */
typedef struct {
	gint64 key;
	guint32 id;
} TreeItem;

/*
 * A loser tree: losers[i] lost the comparison at node i, whose children are 2i
 * and 2i + 1. The leaves n to 2n - 1 are the cursors. A step costs one
 * comparison per level, without a branch that depends on the result.
 */
struct KmtMatchMerge {
	const KmtInputCapture *capture;
	FileCursor *cursors;
	TreeItem *losers;
	guint n;
	TreeItem winner;
	guint64 fills;	    /* number of blocks so far */
	gint64 first, last; /* smallest and largest timestamp so far */
	gint64 stop;	    /* merged time after which the merge stops */
	gint64 span_stop;   /* stop without the clock tolerance */
	gint64 now; /* merged time of the last record of the last block */
	/* The largest step of merged time, and the file of the record after it.
	 */
	gint64 jump_from, jump_until;
	guint jump_file;
	guint64 skipped;
	guint64 gap_records;
	GArray *gaps; /* array of KmtMatchGap */
	guint64 stop_records;
	char *stop_reason; /* text of the first STOP record */
	gint64 stop_time;
	guint64 unordered;
	guint64 mark_records;
};

/*
 * Return whether a record is an event. last_type is kmt_input_last_type() of
 * record_size.
 */
static inline gboolean is_usable(guint record_size, guint last_type,
				 const KmtInputRawEvent *event)
{
	return (guint)event->event_id - KMEMTRACE_EVENT_ALLOC <=
		       KMEMTRACE_EVENT_FREE - KMEMTRACE_EVENT_ALLOC &&
	       event->type_id <= last_type &&
	       event->event_size == record_size && event->ptr != 0;
}

static gboolean next_batch(FileCursor *s)
{
	KmtInputBatch batch;

	kmt_input_buffer_unref(s->buffer);
	s->buffer = NULL;
	if (!kmt_input_reader_next(s->source, &batch))
		return FALSE;
	s->next = batch.records;
	s->end = batch.records + batch.n * batch.stride;
	s->stride = batch.stride;
	s->buffer = batch.buffer;
	s->last_fill = 0;
	return TRUE;
}

/* Update the times for the next usable record of a file. */
static inline void update_time(KmtMatchMerge *merge, FileCursor *s,
			       const KmtInputRawEvent *event)
{
	gint64 t = event->timestamp;

	if (G_LIKELY(t >= s->now)) {
		s->now = t;
	} else {
		/* The timestamp is below the predecessor's. */
		merge->unordered += t < s->last;
		merge->first = MIN(merge->first, t);
	}
	s->last = t;
}

static void add_gap(KmtMatchMerge *merge, const KmtMatchGap *gap)
{
	KmtMatchGap *last;

	merge->gap_records++;
	if (merge->gaps->len < KMT_MATCH_MAX_GAPS) {
		g_array_append_val(merge->gaps, *gap);
		return;
	}
	last = &g_array_index(merge->gaps, KmtMatchGap, KMT_MATCH_MAX_GAPS - 1);
	last->since = MIN(last->since, gap->since);
	last->until = MAX(last->until, gap->until);
	if (__builtin_add_overflow(last->events, gap->events, &last->events))
		last->events = G_MAXUINT64;
}

static void add_stop(KmtMatchMerge *merge, const FileCursor *s,
		     const struct kmemtrace_event *event)
{
	guint64 text[4] = {event->ptr, event->bytes_req, event->bytes_alloc,
			   event->gfp_flags};
	guint i;

	if (merge->stop_records++)
		return;
	/* Swapping the words back restores the text, which has no byte order.
	 */
	for (i = 0; s->file->swapped && i < G_N_ELEMENTS(text); i++)
		text[i] = GUINT64_SWAP_LE_BE(text[i]);
	merge->stop_reason = g_strndup((const char *)text, sizeof(text));
	merge->stop_time = event->timestamp;
}

/*
 * Account for a LOST, STOP or mark record. Return FALSE if the record is none
 * of these.
 */
static gboolean add_non_event(KmtMatchMerge *merge, const FileCursor *s,
			      const KmtInputRawEvent *record)
{
	struct kmemtrace_event event = *record;

	const KmtMatchGap gap = {
		.file = s->file->position,
		.since = MIN(kmt_input_loss_since(&event), event.timestamp),
		.until = event.timestamp,
		.events = kmt_input_loss_events(&event)};

	if (event.event_size != s->record_size)
		return FALSE;
	if (kmt_input_is_loss(&event, s->record_size))
		add_gap(merge, &gap);
	else if (kmt_input_is_stop(&event, s->record_size))
		add_stop(merge, s, &event);
	else if (kmt_input_is_mark(&event, s->record_size))
		merge->mark_records++;
	else
		return FALSE;
	return TRUE;
}

/*
 * Move to the next usable record, starting at s->next. Return FALSE at the end.
 */
static gboolean find_is_usable(KmtMatchMerge *merge, FileCursor *s)
{
	for (;; s->next += s->stride, s->index++) {
		const KmtInputRawEvent *event;

		if (s->next == s->end && !next_batch(s))
			return FALSE;
		event = (const KmtInputRawEvent *)s->next;
		if (!is_usable(s->record_size, s->last_type, event)) {
			merge->skipped += !add_non_event(merge, s, event);
			continue;
		}
		if (!s->started) {
			s->started = TRUE;
			s->first = event->timestamp;
			merge->first = MIN(merge->first, event->timestamp);
		}
		update_time(merge, s, event);
		return TRUE;
	}
}

static TreeItem current_item(KmtMatchMerge *merge, guint32 i)
{
	TreeItem r = {G_MAXINT64, i + merge->n};

	if (find_is_usable(merge, &merge->cursors[i])) {
		r.key = merge->cursors[i].now;
		r.id = i;
	}
	return r;
}

static gboolean before(TreeItem a, TreeItem b)
{
	return a.key < b.key || (a.key == b.key && a.id < b.id);
}

/* Move r from its leaf to the root. The result of a comparison cannot be
 * predicted, so the loser and the winner are exchanged by a mask instead of a
 * branch. */
static void replay(KmtMatchMerge *merge, guint leaf, TreeItem r)
{
	guint node;

	for (node = leaf / 2; node; node /= 2) {
		TreeItem *other = &merge->losers[node];
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

/* Build the tree below a node, and return its winner. */
static TreeItem play(KmtMatchMerge *merge, guint node)
{
	TreeItem a, b;

	if (node >= merge->n)
		return current_item(merge, node - merge->n);
	a = play(merge, 2 * node);
	b = play(merge, 2 * node + 1);
	merge->losers[node] = before(a, b) ? b : a;
	return before(a, b) ? a : b;
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
	merge->cursors = g_new0(FileCursor, merge->n);
	merge->losers = g_new0(TreeItem, merge->n);
	for (i = 0; i < merge->n; i++) {
		FileCursor *s = &merge->cursors[i];

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

void kmt_match_merge_stop_after(KmtMatchMerge *merge, gint64 stop_ns,
				gint64 tolerance_ns)
{
	/* If the sum overflows, the largest time is not an end: the first
	 * record may have a negative time. */
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
	FileCursor *s = &merge->cursors[i];

	merge->last = MAX(merge->last, s->now);
	s->next += s->stride;
	s->index++;
	replay(merge, merge->n + i, current_item(merge, i));
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
 * Find the largest step of merged time. Most blocks span less than TIME_JUMP_NS
 * in total and need no search.
 */
static void find_time_jump(KmtMatchMerge *merge, KmtMatchEvent *const *items,
			   guint n)
{
	gint64 last = items[n - 1]->now;
	guint i;

	if ((guint64)last - (guint64)MIN(merge->now, items[0]->now) <
	    TIME_JUMP_NS) {
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
	const FileCursor *s;

	if (i >= merge->n)
		return FALSE;
	s = &merge->cursors[i];
	position->file = s->file;
	position->index = s->index;
	memcpy(event, s->next, sizeof(*event));
	if (event->event_id == KMEMTRACE_EVENT_FREE)
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
static TreeItem second_item(const KmtMatchMerge *merge)
{
	TreeItem next = {G_MAXINT64, G_MAXUINT32};
	guint node;

	for (node = (merge->n + merge->winner.id) / 2; node; node /= 2)
		if (before(merge->losers[node], next))
			next = merge->losers[node];
	return next;
}

/* Append the next record of a file to the queue. Return FALSE if the record
 * after it is not in the batch or not usable. */
static inline gboolean emit_record(KmtMatchMerge *merge, guint32 id,
				   KmtMatchShardQueue *queue)
{
	FileCursor *s = &merge->cursors[id];
	const KmtInputRawEvent *event = (const KmtInputRawEvent *)s->next;

	kmt_match_shard_queue_put(queue, event, s->now, id);
	s->next += s->stride;
	s->index++;
	event = (const KmtInputRawEvent *)s->next;
	if (G_UNLIKELY(s->next == s->end ||
		       !is_usable(s->record_size, s->last_type, event)))
		return FALSE;
	/* With many files, the processor does not prefetch by itself. */
	__builtin_prefetch(s->next + PREFETCH_BYTES);
	update_time(merge, s, event);
	return TRUE;
}

/* Append records of the winning file while no other file has an earlier record.
 */
static void fill_from(KmtMatchMerge *merge, KmtMatchShardQueue *queue)
{
	guint32 id = merge->winner.id;
	const FileCursor *s = &merge->cursors[id];
	TreeItem next = second_item(merge);
	gint64 limit = MIN(next.key, merge->stop);
	/* At equal times, the file with the lower number comes first. */
	gboolean ties = next.key > merge->stop || id < next.id;

	do {
		if (!emit_record(merge, id, queue)) {
			replay(merge, merge->n + id, current_item(merge, id));
			return;
		}
	} while (queue->n < KMT_MATCH_BLOCK_RECORDS &&
		 (s->now < limit || (s->now == limit && ties)));
	replay(merge, merge->n + id, (TreeItem){s->now, id});
}

/*
 * Return the number of records that can be read from a file so that one remains
 * in its batch.
 */
static inline guint64 n_spare(const FileCursor *s)
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
static inline void advance_cursor(FileCursor *s, guint64 next)
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
 * Append records of two files of one format, until the queue has n records or
 * the next record of a file is not usable or goes back in time. No branch
 * depends on which file is next, because that cannot be predicted.
 */
static void emit_from_two(FileCursor *a, FileCursor *b,
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
		__builtin_prefetch((const guint8 *)event + PREFETCH_BYTES);
		next_a += stride - skip_b;
		next_b += skip_b;
		kmt_match_shard_queue_put(&out, at(next), now, id);
	}
	*queue = out;
	advance_cursor(a, next_a);
	advance_cursor(b, next_b);
}

/*
 * Append records of two files that both have a record, without the tree and
 * without a branch on which file is next. Many captures have two files.
 */
static void fill_from_two_files(KmtMatchMerge *merge, KmtMatchShardQueue *queue)
{
	FileCursor *a = &merge->cursors[0], *b = &merge->cursors[1];
	gboolean alike =
		a->stride == b->stride && a->record_size == b->record_size;
	guint32 id;
	TreeItem runner, other;

	do {
		if (alike)
			emit_from_two(a, b, queue,
				      (guint)MIN(KMT_MATCH_BLOCK_RECORDS,
						 queue->n + MIN(n_spare(a),
								n_spare(b))));
		id = b->now < a->now;
		if (queue->n == KMT_MATCH_BLOCK_RECORDS)
			break;
		/* emit_from_two() has stopped at a record that needs more
		 * checks. */
		if (!emit_record(merge, id, queue)) {
			runner = current_item(merge, id);
			goto out;
		}
		id = b->now < a->now;
	} while (queue->n < KMT_MATCH_BLOCK_RECORDS);
	runner = (TreeItem){merge->cursors[id].now, id};
out:
	other = (TreeItem){merge->cursors[!id].now, !id};
	merge->winner = before(runner, other) ? runner : other;
	merge->losers[1] = before(runner, other) ? other : runner;
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
 * Hold a reference to the buffer of a file's records while the block refers to
 * it.
 */
static void keep_buffer(const KmtMatchMerge *merge, KmtMatchBlock *block,
			FileCursor *s)
{
	if (!s->buffer || s->last_fill == merge->fills)
		return;
	g_ptr_array_add(block->buffers, kmt_input_buffer_ref(s->buffer));
	s->last_fill = merge->fills;
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
			fill_from_two_files(merge, queue);
		} else {
			fill_from(merge, queue);
		}
	}
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
	if (!is_usable(file->record_size,
		       kmt_input_last_type(file->record_size), &event))
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
	/* Include the next record of each file, and skipped records. */
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
static void skip_batch(FileCursor *s)
{
	const guint8 *p = s->end;

	while (p != s->next) {
		const KmtInputRawEvent *event;

		p -= s->stride;
		event = (const KmtInputRawEvent *)p;
		if (!is_usable(s->record_size, s->last_type, event))
			continue;
		s->now = MAX(s->now, event->timestamp);
		break;
	}
	s->next = s->end;
}

/* Account for the LOST, STOP and mark records in the rest of a batch. */
static void add_rest(KmtMatchMerge *merge, const FileCursor *s)
{
	const guint8 *p;

	for (p = s->next; p != s->end; p += s->stride) {
		const KmtInputRawEvent *event = (const KmtInputRawEvent *)p;

		if (G_UNLIKELY(event->event_id != KMEMTRACE_EVENT_ALLOC &&
			       event->event_id != KMEMTRACE_EVENT_FREE))
			add_non_event(merge, s, event);
	}
}

/* All records of version 1 are events, so a mapped file of version 1 is not
 * read. */
void kmt_match_merge_drain(KmtMatchMerge *merge)
{
	guint i;

	for (i = 0; i < merge->n; i++) {
		FileCursor *s = &merge->cursors[i];

		if (!s->file->stream &&
		    (s->next == s->end ||
		     s->record_size < KMEMTRACE_EVENT_SIZE_V2))
			continue;
		do {
			add_rest(merge, s);
			if (s->file->stream)
				skip_batch(s);
		} while (next_batch(s));
		s->next = s->end;
		kmt_input_cpu_file_drop_pages(s->file);
	}
}

static void note_time_jump(const KmtMatchMerge *merge, GPtrArray *notes)
{
	const KmtInputCpuFile *file =
		merge->capture->files->pdata[merge->jump_file];
	guint64 gap = (guint64)merge->jump_until - (guint64)merge->jump_from;

	if (gap < TIME_JUMP_NS || merge->capture->has_sequence_times)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf(
			"no CPU has a record between %" G_GINT64_FORMAT
			" s and %" G_GINT64_FORMAT
			" s: the machine slept that long, or the clock of CPU "
			"%u jumped (%s), and times and order across that are "
			"wrong",
			merge->jump_from / NS_PER_S,
			merge->jump_until / NS_PER_S, file->cpu, file->path));
}

/*
 * Find two files whose times do not overlap. Return FALSE if all files overlap.
 */
static gboolean find_apart(const KmtMatchMerge *merge, guint *early,
			   guint *late)
{
	gboolean found = FALSE;
	guint i;

	for (i = 0; i < merge->n; i++) {
		const FileCursor *s = &merge->cursors[i];

		if (!s->started)
			continue;
		if (!found || s->last < merge->cursors[*early].last)
			*early = i;
		if (!found || s->first > merge->cursors[*late].first)
			*late = i;
		found = TRUE;
	}
	return found &&
	       merge->cursors[*late].first > merge->cursors[*early].last;
}

/*
 * Warn about files without a common time. In a capture directory this is
 * normal, because a CPU may be offline.
 */
static void note_apart(const KmtMatchMerge *merge, GPtrArray *notes)
{
	const KmtInputCapture *capture = merge->capture;
	const KmtInputCpuFile *a, *b;
	guint early = 0, late = 0;

	if (capture->directory || capture->meta ||
	    capture->has_sequence_times || !find_apart(merge, &early, &late))
		return;
	a = capture->files->pdata[early];
	b = capture->files->pdata[late];
	g_ptr_array_add(notes,
			g_strdup_printf("the last record of %s is before the "
					"first one of %s: see that they are "
					"files of one capture",
					a->path, b->path));
}

/* Warn about losses that kmemtrace.meta does not mention. */
static void note_gaps(const KmtMatchMerge *merge, GPtrArray *notes)
{
	const KmtInputCapture *capture = merge->capture;
	guint64 events = 0;
	guint i;

	if (capture->has_overruns && capture->overruns)
		return;
	for (i = 0; i < merge->gaps->len; i++) {
		const KmtMatchGap *gap =
			&g_array_index(merge->gaps, KmtMatchGap, i);

		if (gap->since <= merge->span_stop &&
		    __builtin_add_overflow(events, gap->events, &events))
			events = G_MAXUINT64;
	}
	if (!events)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf("the records tell of %" G_GUINT64_FORMAT
				" lost events, of which kmemtrace.meta %s",
				events,
				!capture->meta ? "would tell if it were there"
				: capture->has_overruns ? "says that there are "
							  "none"
							: "knows nothing"));
}

static void note_stopped(const KmtMatchMerge *merge, GPtrArray *notes)
{
	if (!merge->stop_records)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf("the kernel stopped tracing at %.6f s of its "
				"clock: a snapshot was asked for (%s), and "
				"there were no spare buffers",
				(double)merge->stop_time / NS_PER_S,
				merge->stop_reason));
}

GPtrArray *kmt_match_merge_notes(const KmtMatchMerge *merge)
{
	GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

	note_stopped(merge, notes);
	note_gaps(merge, notes);
	note_time_jump(merge, notes);
	note_apart(merge, notes);
	return notes;
}
