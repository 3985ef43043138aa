/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of the merge that merge.c and merge-*.c share. */
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
	/* The heads of records that the fast loops accept; see
	 * lib/input/record-head.h and kmt_match_cursor_accepts(). */
	guint32 first_head, last_head;
	guint record_size;
	guint last_type;  /* largest type_id that records of this size may
			   * have */
	gboolean started; /* the file has had a usable record */
	/* The following three fields are those of the record at settled, which
	 * is next except in a loop. */
	gint64 now;    /* merged time */
	gint64 last;   /* timestamp */
	guint64 index; /* index in the file */
	const guint8 *settled;
	gint64 first; /* timestamp of the first usable record */
	KmtInputBuffer *buffer;
	KmtInputReader *source;
	const KmtInputCpuFile *file;
	/* Set by kmt_match_merge_set_source(): replaces source. NULL: none. */
	KmtMatchNextBatch next_batch;
	gpointer user;
} KmtMatchCursor;

/*
 * A loser tree of the files: losers[i] lost the comparison at node i, whose
 * children are 2i and 2i + 1. The leaves n to 2n - 1 are the cursors. Each file
 * is a key of 64 bits: the merged time of its next record, as a distance from
 * base, and in the low bits its number. Smaller keys come first, so equal times
 * are ordered by file. A step thus costs a minimum and a maximum per level, 11
 * instructions instead of the 24 for separate times and numbers.
 */
typedef struct {
	guint64 *losers;
	guint64 winner;
	guint n;
	gint64 base;
} KmtMatchTree;

/* Bits of a key that contain the number of the file. */
#define KMT_MATCH_TREE_ID_BITS 16

/* The key of a file without further records. */
#define KMT_MATCH_TREE_END G_MAXUINT64

/* The smallest distance, in ns, that a key cannot represent, 78 hours. Keys
 * have this distance instead of a larger one. */
#define KMT_MATCH_TREE_FAR ((G_MAXUINT64 >> KMT_MATCH_TREE_ID_BITS) - 1)

struct KmtMatchMerge {
	const KmtInputCapture *capture;
	KmtMatchCursor *cursors;
	guint n;
	KmtMatchTree tree;
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

/*
 * Return whether event is a usable ALLOC or FREE whose timestamp is not below
 * now, the merged time of the record before event in the same file. first_head
 * and last_head are those of the file's cursor. The fast loops end before a
 * record that this function refuses.
 */
static inline gboolean kmt_match_cursor_accepts(guint32 first_head,
						guint32 last_head,
						const KmtInputRawEvent *event,
						gint64 now)
{
	guint32 head = kmt_input_record_head(event) - first_head;

	return head <= last_head && !(head & 0xfe) && event->ptr != 0 &&
	       event->timestamp >= now;
}

/* Return the number of records in the batch of s after the next one. */
static inline guint64 kmt_match_cursor_spare(const KmtMatchCursor *s)
{
	return (guint64)(s->end - s->next) / s->stride - 1;
}

/* Account for a LOST, STOP or mark record. Return FALSE if the record is none
 * of these. */
gboolean kmt_match_merge_add_non_event(KmtMatchMerge *merge,
				       const KmtMatchCursor *s,
				       const KmtInputRawEvent *record);

/* Read the next batch of a file. Return FALSE at the end. */
gboolean kmt_match_cursor_next_batch(KmtMatchCursor *s);

/*
 * Move a cursor to the next usable record, which may be the record at the
 * cursor already. Return FALSE at the end.
 */
gboolean kmt_match_cursor_find(KmtMatchMerge *merge, KmtMatchCursor *s);

/* Set the fields of s that a fast loop leaves behind when it advances next. */
void kmt_match_cursor_settle(KmtMatchCursor *s);

/* Build the tree from the cursors, which must be at usable records or at their
 * ends. */
void kmt_match_tree_build(KmtMatchMerge *merge);

/* Update the tree after the cursor of file i, the first file, has moved. */
void kmt_match_tree_update(KmtMatchMerge *merge, guint i);

/* Return the key of file i for the merged time now. */
static inline guint64 kmt_match_tree_key(const KmtMatchTree *tree, gint64 now,
					 guint64 i)
{
	guint64 distance = (guint64)now - (guint64)tree->base;

	return MIN(distance, KMT_MATCH_TREE_FAR) << KMT_MATCH_TREE_ID_BITS | i;
}

/*
 * Put a new key of file i, which was the first, into the tree. The processor
 * cannot predict which files lose, so there is no branch.
 */
static inline void kmt_match_tree_replay(KmtMatchTree *tree, guint64 i,
					 guint64 key)
{
	guint64 *losers = tree->losers;
	guint64 node;

	for (node = (tree->n + i) / 2; node; node /= 2) {
		guint64 loser = losers[node];

		losers[node] = MAX(loser, key);
		key = MIN(loser, key);
	}
	tree->winner = key;
}

/* Return the merged time of the next record. There must be one. */
static inline gint64 kmt_match_tree_time(const KmtMatchTree *tree)
{
	return (gint64)((guint64)tree->base +
			(tree->winner >> KMT_MATCH_TREE_ID_BITS));
}

/* Return whether the next record is further from base than a key can represent.
 */
static inline gboolean kmt_match_tree_is_far(const KmtMatchTree *tree)
{
	return tree->winner >> KMT_MATCH_TREE_ID_BITS == KMT_MATCH_TREE_FAR;
}

/* Return the file with the next record. There must be one. */
static inline guint kmt_match_tree_first(const KmtMatchTree *tree)
{
	return tree->winner & ((1u << KMT_MATCH_TREE_ID_BITS) - 1);
}

/*
 * Append records of the first file while no other file has an earlier record.
 * Return their number, which is 0 if the record after the next one needs the
 * careful path.
 */
guint kmt_match_merge_fill_from_first(KmtMatchMerge *merge,
				      KmtMatchShardQueue *queue);

/*
 * Append n records of two files to the queue, or fewer if a batch ends or the
 * record after the next one needs the careful path. Both files must have a next
 * record, whose timestamp is its merged time, and their records must have the
 * same size. n must not exceed the room of the queue.
 */
void kmt_match_merge_fill_from_two(KmtMatchMerge *merge,
				   KmtMatchShardQueue *queue, guint n);

/*
 * Append at most n records of all files to the queue, until the merge stops or
 * a file needs the careful path.
 */
void kmt_match_merge_fill_from_tree(KmtMatchMerge *merge,
				    KmtMatchShardQueue *queue, guint n);

#endif
