/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the files of a capture into one order: by timestamp, then CPU number,
 * then position in the file. The order within a file is preserved: if an
 * earlier record of the file has a larger timestamp, the record is sorted by
 * the largest such timestamp. The time by which a record is sorted is its
 * merged time.
 */
#ifndef KMEMTRACE_MATCH_MERGE_H
#define KMEMTRACE_MATCH_MERGE_H

#include "lib/match/shard-queue.h"
#include "lib/input/record-reader.h"

typedef struct KmtMatchMerge KmtMatchMerge;

/*
 * Start the merge of all files of a capture: read the first batch of each
 * file. capture must outlive the merge.
 */
KmtMatchMerge *kmt_match_merge_new(const KmtInputCapture *capture);
/* Free a merge, also before its end; NULL is allowed. */
void kmt_match_merge_free(KmtMatchMerge *merge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchMerge, kmt_match_merge_free)

/* Stop kmt_match_merge_fill() when the merged time exceeds that of the first
 * record by more than stop_ns plus tolerance_ns; kmt_match_merge_next() does
 * not stop. stop_ns G_MAXINT64: do not stop. Call this before the first record
 * is read. */
void kmt_match_merge_stop_after(KmtMatchMerge *merge, gint64 stop_ns,
				gint64 tolerance_ns);

/* Return whether the merge has stopped before the last record. Valid after
 * kmt_match_merge_fill() has returned FALSE. */
gboolean kmt_match_merge_stopped(const KmtMatchMerge *merge);

/*
 * Stores the next records of a file in *batch, as kmt_input_reader_next() does.
 * Returns FALSE if there are none at present. file is an index in
 * capture->files.
 */
typedef gboolean (*KmtMatchNextBatch)(gpointer user, guint file,
				      KmtInputBatch *batch);

/* Read the records of all files from next_batch, in the byte order of this
 * host, instead of from the files, which have no records. */
void kmt_match_merge_set_source(KmtMatchMerge *merge,
				KmtMatchNextBatch next_batch, gpointer user);

/*
 * Continue a merge with a source: ask it again for the records of each file
 * that had none, and let kmt_match_merge_fill() stop after the records of
 * merged time until. A record that the source delivers late, after later
 * records were merged, is sorted as if it had the time of the last merged
 * record.
 */
void kmt_match_merge_resume(KmtMatchMerge *merge, gint64 until);

/* Position of a record. */
typedef struct {
	const KmtInputCpuFile *file;
	guint64 index; /* index of the record in its file */
} KmtMatchPosition;

/*
 * Copy the next record. event->timestamp is the record's own timestamp, not its
 * merged time. Return FALSE at the end.
 */
gboolean kmt_match_merge_next(KmtMatchMerge *merge,
			      struct kmemtrace_event *event,
			      KmtMatchPosition *position);

/*
 * The buffers that contain the records of one block. They stay valid while a
 * later stage of the pipeline reads the records.
 */
typedef struct {
	guint n; /* number of records; the fields that FREE and DEFER records
		  * do not use contain undefined values */
	GPtrArray *buffers; /* of KmtInputBuffer */
	GArray *ends; /* for each file, the index of the first record after the
		       * block */
} KmtMatchBlock;

/*
 * Initialise an empty block; kmt_match_block_clear() releases the references
 * of the block.
 */
void kmt_match_block_init(KmtMatchBlock *block);
void kmt_match_block_clear(KmtMatchBlock *block);

/*
 * Fill a block: empty queue, and append the next records to it, without copying
 * them, until it is full or the merge ends or stops. Set block->n to their
 * number. block refers to the buffers of the records until it is filled again
 * or cleared. Return FALSE, with block->n 0, at the end, and after
 * kmt_match_merge_stop_after() has taken effect.
 */
gboolean kmt_match_merge_fill(KmtMatchMerge *merge, KmtMatchBlock *block,
			      KmtMatchShardQueue *queue);

/*
 * Release the memory of block and of all earlier blocks: the pages of their
 * files may be unmapped. One thread at a time may call this, while another
 * thread fills a later block.
 */
void kmt_match_merge_release(KmtMatchMerge *merge, const KmtMatchBlock *block);

/*
 * Return the number of skipped records: those with an unknown event_id or
 * type_id, with an event_size other than the file's, or with an address of 0,
 * and DEFER records of a type that cannot be deferred.
 * LOST, STOP and mark records, which exist since version 2, are not skipped.
 * The number is complete at the end of the merge; kmt_match_merge_drain() does
 * not count skipped records.
 */
guint64 kmt_match_merge_skipped(const KmtMatchMerge *merge);

/* A time span, in ns, both ends inclusive, in which a CPU lost events. */
typedef struct {
	guint file; /* index in capture->files */
	gint64 since, until;
	guint64 events;
} KmtMatchGap;

/*
 * Limit of stored gaps. The last gap stands for all further gaps of all CPUs.
 */
#define KMT_MATCH_MAX_GAPS 65536

/* Return the gaps of the LOST records so far, an array of const KmtMatchGap.
 * The array is complete at the end of the merge. */
const GArray *kmt_match_merge_gaps(const KmtMatchMerge *merge);

/* Return the number of LOST records. */
guint64 kmt_match_merge_gap_records(const KmtMatchMerge *merge);

/* Return the number of STOP records. A STOP record is not an event. */
guint64 kmt_match_merge_stop_records(const KmtMatchMerge *merge);

/* Return the number of DEFER records, without those that
 * kmt_match_merge_drain() reads. A DEFER record is an event. */
guint64 kmt_match_merge_defer_records(const KmtMatchMerge *merge);

/* Return the number of mark records; see lib/input/mark-reader.h. */
guint64 kmt_match_merge_mark_records(const KmtMatchMerge *merge);

/*
 * Set the timestamps of the first and the last usable record of a file, which
 * must not be a stream. Return FALSE if the file has no usable record.
 */
gboolean kmt_match_merge_file_span(const KmtInputCpuFile *file, gint64 *first,
				   gint64 *last);

/*
 * Set the smallest and the largest timestamp so far, in ns, including the next
 * record of each file. Return FALSE if there is no record yet.
 */
gboolean kmt_match_merge_time_range(const KmtMatchMerge *merge, gint64 *first,
				    gint64 *last);

/*
 * After the merge has ended or stopped, read the remaining records, except
 * those of mapped files of version 1. The counts of gaps, STOP records and
 * marks then include all of the capture, and the number of records in each
 * stream is known.
 */
void kmt_match_merge_drain(KmtMatchMerge *merge);

/*
 * Return warnings about the records, a line each: tracing that the kernel
 * stopped, losses that kmemtrace.meta does not report, clocks that jumped, and
 * files that seem to belong to different captures. Valid at the end of the
 * merge. The caller frees the array.
 */
GPtrArray *kmt_match_merge_notes(const KmtMatchMerge *merge);

/* Return the number of usable records so far whose timestamp is below that of
 * their predecessor in the file. */
guint64 kmt_match_merge_unordered(const KmtMatchMerge *merge);

#endif
