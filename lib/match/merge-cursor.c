// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the records of one file, and account for records that are not events. */
#include "config.h"

#include <string.h>

#include "lib/input/mark-reader.h"
#include "lib/match/merge-private.h"

gboolean kmt_match_cursor_next_batch(KmtMatchCursor *s)
{
	KmtInputBatch batch;

	kmt_input_buffer_unref(s->buffer);
	s->buffer = NULL;
	if (!(s->next_batch ? s->next_batch(s->user, s->file->position, &batch)
			    : kmt_input_reader_next(s->source, &batch)))
		return FALSE;
	s->next = batch.records;
	s->end = batch.records + batch.n * batch.stride;
	s->stride = batch.stride;
	s->buffer = batch.buffer;
	s->settled = s->next;
	return TRUE;
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

static void add_stop(KmtMatchMerge *merge, const KmtMatchCursor *s,
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

gboolean kmt_match_merge_add_non_event(KmtMatchMerge *merge,
				       const KmtMatchCursor *s,
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

/* Update the times of s and merge: event is the next usable record of s. */
static void update_time(KmtMatchMerge *merge, KmtMatchCursor *s,
			const KmtInputRawEvent *event)
{
	gint64 t = event->timestamp;

	if (!s->started) {
		s->started = TRUE;
		s->first = t;
		merge->first = MIN(merge->first, t);
	}
	if (G_LIKELY(t >= s->now)) {
		s->now = t;
	} else {
		/* The timestamp is below an earlier one of the file, perhaps
		 * that of the predecessor. */
		merge->unordered += t < s->last;
		merge->first = MIN(merge->first, t);
	}
	s->last = t;
}

gboolean kmt_match_cursor_find(KmtMatchMerge *merge, KmtMatchCursor *s)
{
	for (;; s->next += s->stride, s->index++) {
		const KmtInputRawEvent *event;

		if (s->next == s->end && !kmt_match_cursor_next_batch(s)) {
			s->settled = s->next;
			return FALSE;
		}
		event = (const KmtInputRawEvent *)s->next;
		if (!kmt_match_is_event_record(s->record_size, s->last_type,
					       event)) {
			if (!kmt_input_is_usable_defer(event, s->file)) {
				merge->skipped +=
					!kmt_match_merge_add_non_event(merge, s,
								       event);
				continue;
			}
			merge->defer_records++;
		}
		s->settled = s->next;
		update_time(merge, s, event);
		return TRUE;
	}
}

void kmt_match_cursor_settle(KmtMatchCursor *s)
{
	if (s->next == s->settled)
		return;
	s->index += (guint64)(s->next - s->settled) / s->stride;
	s->settled = s->next;
	s->now = s->last = ((const KmtInputRawEvent *)s->next)->timestamp;
}
