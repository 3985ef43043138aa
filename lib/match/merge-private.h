/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the merge that merge.c, merge-cursor.c, merge-two-files.c and
 * merge-notes.c share. */
#ifndef KMEMTRACE_MATCH_MERGE_PRIVATE_H
#define KMEMTRACE_MATCH_MERGE_PRIVATE_H

#include "lib/match/merge.h"

/* Distance in bytes from the next record of a file to the record to prefetch.
 */
#define KMT_MATCH_PREFETCH_BYTES 4096

/* The shortest time without any record that causes a warning. */
#define KMT_MATCH_TIME_JUMP_NS (3600 * G_GUINT64_CONSTANT(1000000000))

/* Position in one file: the next record, and the rest of its batch. */
typedef struct {
	const guint8 *next, *end;
	guint stride;
	guint record_size;
	guint last_type;  /* largest type_id that records of this size may
			   * have */
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
	/* Set by kmt_match_merge_set_source(): replaces source. NULL: none. */
	KmtMatchNextBatch next_batch;
	gpointer user;
} KmtMatchCursor;

/* A file in the tree. id is the index of its cursor. At the end of the file, id
 * is the index plus the number of cursors, so that the file sorts after all
 * others. */
typedef struct {
	gint64 key; /* merged time of the next record; G_MAXINT64 at the end */
	guint32 id;
} KmtMatchTreeItem;

/*
 * A loser tree: losers[i] lost the comparison at node i, whose children are 2i
 * and 2i + 1. The leaves n to 2n - 1 are the cursors. A step costs one
 * comparison per level, without a branch that depends on the result.
 */
struct KmtMatchMerge {
	const KmtInputCapture *capture;
	KmtMatchCursor *cursors;
	KmtMatchTreeItem *losers;
	guint n;
	KmtMatchTreeItem winner;
	guint64 fills;	    /* number of blocks so far */
	gint64 first, last; /* smallest and largest timestamp so far */
	gint64 stop;	    /* merged time after which the merge stops */
	gint64 span_stop;   /* stop without the clock tolerance */
	gint64 now;	    /* merged time of the last record so far */
	/*
	 * The largest step of merged time from one record to the next, exact
	 * only if the step is at least KMT_MATCH_TIME_JUMP_NS, and the file of
	 * the record after the step.
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
	guint64 defer_records;
};

/*
 * Return whether a record is a usable ALLOC or FREE record. The caller then
 * calls kmt_input_is_usable_defer(), so that the usual record needs no further
 * test. last_type is kmt_input_last_type() of record_size.
 */
static inline gboolean kmt_match_is_event_record(guint record_size,
						 guint last_type,
						 const KmtInputRawEvent *event)
{
	return (guint)event->event_id - KMEMTRACE_EVENT_ALLOC <=
		       KMEMTRACE_EVENT_FREE - KMEMTRACE_EVENT_ALLOC &&
	       event->type_id <= last_type &&
	       event->event_size == record_size && event->ptr != 0;
}

/* Update the times of s and merge: event is the next usable record of s. */
static inline void kmt_match_cursor_update_time(KmtMatchMerge *merge,
						KmtMatchCursor *s,
						const KmtInputRawEvent *event)
{
	gint64 t = event->timestamp;

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

static inline gboolean kmt_match_item_is_before(KmtMatchTreeItem a,
						KmtMatchTreeItem b)
{
	return a.key < b.key || (a.key == b.key && a.id < b.id);
}

/* Append the next record of a file to the queue. Return FALSE if the record
 * after it is not in the batch, or is not a usable ALLOC or FREE record. */
static inline gboolean kmt_match_cursor_emit(KmtMatchMerge *merge, guint32 id,
					     KmtMatchShardQueue *queue)
{
	KmtMatchCursor *s = &merge->cursors[id];
	const KmtInputRawEvent *event = (const KmtInputRawEvent *)s->next;

	kmt_match_shard_queue_put(queue, event, s->now, id);
	s->next += s->stride;
	s->index++;
	event = (const KmtInputRawEvent *)s->next;
	if (G_UNLIKELY(s->next == s->end ||
		       !kmt_match_is_event_record(s->record_size, s->last_type,
						  event)))
		return FALSE;
	/* With many files, the processor does not prefetch by itself. */
	__builtin_prefetch(s->next + KMT_MATCH_PREFETCH_BYTES);
	kmt_match_cursor_update_time(merge, s, event);
	return TRUE;
}

/* Account for a LOST, STOP or mark record. Return FALSE if the record is none
 * of these. */
gboolean kmt_match_merge_add_non_event(KmtMatchMerge *merge,
				       const KmtMatchCursor *s,
				       const KmtInputRawEvent *record);

/* Read the next batch of a file. Return FALSE at the end. */
gboolean kmt_match_cursor_next_batch(KmtMatchCursor *s);

/* Move the cursor of file i to the next usable record, which may be the record
 * at the cursor already; return the item of the file for the tree. */
KmtMatchTreeItem kmt_match_cursor_item(KmtMatchMerge *merge, guint32 i);

/*
 * Append records of two files that both have a record, until the queue is full
 * or a file has no further usable ALLOC or FREE in its batch.
 */
void kmt_match_merge_fill_from_two(KmtMatchMerge *merge,
				   KmtMatchShardQueue *queue);

#endif
