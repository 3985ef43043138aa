// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/mark-reader.h"
#include "lib/input/name-tables.h"
#include "lib/input/namespace.h"
#include "lib/match/merge-private.h"

/* Move the cursor of each file without a record in its batch to its next
 * record, and build the tree. */
static void find_all(KmtMatchMerge *merge)
{
	guint i;

	for (i = 0; i < merge->n; i++)
		if (merge->cursors[i].next == merge->cursors[i].end)
			kmt_match_cursor_find(merge, &merge->cursors[i]);
	kmt_match_tree_build(merge);
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
	merge->tree.n = merge->n;
	merge->tree.losers = g_new0(guint64, merge->n);
	for (i = 0; i < merge->n; i++) {
		KmtMatchCursor *s = &merge->cursors[i];

		s->file = capture->files->pdata[i];
		s->record_size = s->file->record_size;
		s->last_type = kmt_input_last_type(s->record_size);
		s->first_head = kmt_input_first_head(s->record_size);
		s->last_head = kmt_input_last_head(s->record_size);
		s->source = kmt_input_reader_new(capture->files->pdata[i]);
		s->now = s->last = G_MININT64;
	}
	find_all(merge);
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
	g_free(merge->tree.losers);
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
	find_all(merge);
}

void kmt_match_merge_stop_after(KmtMatchMerge *merge, gint64 stop_ns,
				gint64 tolerance_ns)
{
	gint64 first = merge->tree.winner == KMT_MATCH_TREE_END
			       ? G_MAXINT64
			       : kmt_match_tree_time(&merge->tree);

	/* If a sum overflows, the merge does not stop. */
	if (stop_ns == G_MAXINT64 ||
	    __builtin_add_overflow(stop_ns, tolerance_ns, &merge->stop) ||
	    __builtin_add_overflow(first, merge->stop, &merge->stop))
		merge->stop = G_MAXINT64;
	if (stop_ns == G_MAXINT64 ||
	    __builtin_add_overflow(first, stop_ns, &merge->span_stop))
		merge->span_stop = G_MAXINT64;
}

void kmt_match_merge_release(KmtMatchMerge *merge, const KmtMatchBlock *block)
{
	guint i;

	for (i = 0; i < block->ends->len; i++)
		kmt_input_reader_release(
			merge->cursors[i].source,
			g_array_index(block->ends, guint64, i));
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
	return merge->tree.winner != KMT_MATCH_TREE_END;
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
	s->settled = s->next = s->end;
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
		s->settled = s->next = s->end;
		kmt_input_cpu_file_drop_pages(s->file);
	}
}
