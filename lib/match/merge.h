/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All records of a capture in one order: timestamp, then CPU number, then
 * position.  Within a file position rules: a record whose timestamp is below
 * its predecessor's is sorted as if it had its predecessor's.  The time by
 * which a record is sorted is its merged time.
 */
#ifndef KMEMTRACE_MATCH_MERGE_H
#define KMEMTRACE_MATCH_MERGE_H

#include "lib/match/shard-queue.h"
#include "lib/input/record-reader.h"

typedef struct KmtMatchMerge KmtMatchMerge;

KmtMatchMerge *kmt_match_merge_new(const KmtInputCapture *capture);
void kmt_match_merge_free(KmtMatchMerge *merge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchMerge, kmt_match_merge_free)

/* Before anything is taken: ends where merged time is more than stop_ns and
 * tolerance_ns beyond that of the first record; stop_ns G_MAXINT64: nowhere. */
void kmt_match_merge_stop_after(KmtMatchMerge *merge, gint64 stop_ns,
				gint64 tolerance_ns);

/* Did it, with records left?  For when kmt_match_merge_fill() returned FALSE.
 */
gboolean kmt_match_merge_stopped(const KmtMatchMerge *merge);

/* Where a record came from. */
typedef struct {
	const KmtInputCpuFile *file;
	guint64 index; /* of the record in its file */
} KmtMatchPosition;

/* Returns FALSE at the end.  event->timestamp is the record's own. */
gboolean kmt_match_merge_next(KmtMatchMerge *merge,
			      struct kmemtrace_event *event,
			      KmtMatchPosition *position);

/* What records are in, for as long as somebody looks at them. */
typedef struct {
	guint n; /* records; what a FREE does not define is undefined */
	GPtrArray *buffers; /* of KmtInputBuffer */
	GArray *ends; /* for each file, the index of what is not in it yet */
} KmtMatchBlock;

void kmt_match_block_init(KmtMatchBlock *block);
void kmt_match_block_clear(KmtMatchBlock *block);

/*
 * As many as fit at once, and the same as kmt_match_merge_next() without a
 * copy: block->n of them in what queue has room for, and what they are in in
 * block, until it is filled again or cleared.  Returns FALSE, with block->n 0,
 * at the end.
 */
gboolean kmt_match_merge_fill(KmtMatchMerge *merge, KmtMatchBlock *block,
			      KmtMatchShardQueue *queue);

/*
 * Nobody looks at the records of block, or of one before it, any more: the
 * pages of their files need not stay mapped.  For one thread at a time, while
 * another may fill.
 */
void kmt_match_merge_release(KmtMatchMerge *merge, const KmtMatchBlock *block);

/*
 * Records whose event_id or type_id is unknown, whose event_size is not the
 * file's, or whose ptr is 0 are skipped and counted here, exactly once the end
 * was reached; but for those of version 2 that tell of a loss or are of marks.
 */
guint64 kmt_match_merge_skipped(const KmtMatchMerge *merge);

/* A CPU lost events between two times, inclusive, ns. */
typedef struct {
	guint file; /* index in capture->files */
	gint64 since, until;
	guint64 events;
} KmtMatchGap;

/* So many are kept; of more, the last one has the rest of all CPUs. */
#define KMT_MATCH_MAX_GAPS 65536

/* What such records told so far, of const KmtMatchGap; the rest is known once
 * the end was reached. */
const GArray *kmt_match_merge_gaps(const KmtMatchMerge *merge);

/* How many such records there were. */
guint64 kmt_match_merge_gap_records(const KmtMatchMerge *merge);

/* How many told that the kernel stopped tracing; they are no events either. */
guint64 kmt_match_merge_stop_records(const KmtMatchMerge *merge);

/* The number of mark records; see lib/input/mark-reader.h. */
guint64 kmt_match_merge_mark_records(const KmtMatchMerge *merge);

/*
 * The times of the first and the last record of a file that is not skipped.
 * FALSE if there is none.
 */
gboolean kmt_match_merge_file_span(const KmtInputCpuFile *file, gint64 *first,
				   gint64 *last);

/* The smallest and the largest timestamp so far, ns; FALSE without any. */
gboolean kmt_match_merge_time_range(const KmtMatchMerge *merge, gint64 *first,
				    gint64 *last);

/*
 * Read what is left when merging stopped before the end: the records that are
 * no events, which kmt_match_merge_gaps() and the other counts then contain,
 * and the number of records of streams.
 */
void kmt_match_merge_drain(KmtMatchMerge *merge);

/*
 * At the end: what is odd in the order of the records, a line each.  Clocks
 * that jumped, and files that seem not to be of one capture.
 */
GPtrArray *kmt_match_merge_notes(const KmtMatchMerge *merge);

/* Records (but skipped ones) whose timestamp is below that of the one before
 * them in their file, so far. */
guint64 kmt_match_merge_unordered(const KmtMatchMerge *merge);

#endif
