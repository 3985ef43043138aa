/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All records of a capture in one order: timestamp, then CPU number, then
 * position.  Within a file position rules: a record whose timestamp is below
 * its predecessor's is sorted as if it had its predecessor's.
 */
#ifndef KMEMTRACE_MERGE_H
#define KMEMTRACE_MERGE_H

#include "trace/capture.h"

typedef struct KmtMerge KmtMerge;

KmtMerge *kmt_merge_new(const KmtCapture *capture);
void kmt_merge_free(KmtMerge *merge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMerge, kmt_merge_free)

/* Where a record came from. */
typedef struct {
	const KmtCpuFile *file;
	guint64 index; /* of the record in its file */
} KmtPosition;

/* Returns FALSE at the end.  event->timestamp is the record's own. */
gboolean kmt_merge_next(KmtMerge *merge, struct kmemtrace_event *event,
			KmtPosition *position);

/* As many as max at once; less only at the end.  For kmt_matcher_prefetch(). */
#define KMT_MERGE_BATCH 32
typedef struct {
	struct kmemtrace_event event;
	KmtPosition position;
} KmtMerged;

guint kmt_merge_next_batch(KmtMerge *merge, KmtMerged *records, guint max);

/*
 * Records whose event_id or type_id is unknown, whose event_size is not the
 * file's, or whose ptr is 0 are skipped by kmt_merge_next() and counted here,
 * exactly once kmt_merge_next() has returned FALSE.
 */
guint64 kmt_merge_skipped(const KmtMerge *merge);

/*
 * The times of the first and the last record of a file that is not skipped.
 * FALSE if there is none.
 */
gboolean kmt_merge_span(const KmtCpuFile *file, gint64 *first, gint64 *last);

/* Records (but skipped ones) whose timestamp is below that of the one before
 * them in their file, so far. */
guint64 kmt_merge_unordered(const KmtMerge *merge);

#endif
