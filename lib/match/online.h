/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merging and matching of records that arrive while they are counted. The
 * stages are those of pipeline.h, with one shard and on one thread, so the
 * results equal those of a pipeline that reads the same records from files.
 *
 * The memory is limited: allocations beyond a limit of live objects are
 * counted, but not matched.
 */
#ifndef KMEMTRACE_MATCH_ONLINE_H
#define KMEMTRACE_MATCH_ONLINE_H

#include "lib/match/pipeline.h"

/* Not an allocation class. */
#define KMT_MATCH_NO_CLASS G_MAXUINT32

typedef struct {
	gint64 clock_tolerance_ns;
	KmtMatchKeys *keys; /* class_of() adds to the keys */
	guint64 max_live;   /* live objects to track; 0: no limit */
	KmtMatchNextBatch next_batch;
	/* Returns the allocation class, a number of keys->classes, of an ALLOC
	 * of capture->files[file], or KMT_MATCH_NO_CLASS: the ALLOC is not
	 * tracked. */
	guint32 (*class_of)(gpointer user, const KmtInputRawEvent *event,
			    guint16 file);
	/* Called for each ALLOC that is not tracked. */
	void (*on_untracked)(gpointer user, guint32 class_id);
	/* Called for each block of matched records. n_classes is that of the
	 * block. The slow events of a block are in no particular order. */
	KmtMatchConsumer consumer;
	gpointer user; /* first argument of each function */
} KmtMatchOnlineOptions;

typedef struct KmtMatchOnline KmtMatchOnline;

/*
 * capture has one file without records for each CPU, and must outlive the
 * result, as must options->keys.
 */
KmtMatchOnline *kmt_match_online_new(const KmtInputCapture *capture,
				     const KmtMatchOnlineOptions *options);
void kmt_match_online_free(KmtMatchOnline *online);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchOnline, kmt_match_online_free)

/* Process the records up to the merged time until, in ns. The source has
 * received all of these records. */
void kmt_match_online_advance(KmtMatchOnline *online, gint64 until);

/* Process all remaining records, and decide about all ambiguous ones. No record
 * follows. */
void kmt_match_online_finish(KmtMatchOnline *online);

/*
 * Declare that events were lost. From now on, a record without its counterpart
 * is not an error; see docs/definitions.md.
 */
void kmt_match_online_note_loss(KmtMatchOnline *online);

/* Return the number of live objects. */
guint64 kmt_match_online_live(const KmtMatchOnline *online);
/* Return the memory that the table of objects takes, in bytes. */
guint64 kmt_match_online_bytes(const KmtMatchOnline *online);
/* Return whether a limit was ever reached. */
gboolean kmt_match_online_is_limited(const KmtMatchOnline *online);

#endif
