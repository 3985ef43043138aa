/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of allocation classes, from which all figures are computed. The
 * engine's thread counts; kmt_top_tally_counts() makes copies that never
 * change, for snapshots.
 */
#ifndef KMEMTRACE_TOP_COUNTS_H
#define KMEMTRACE_TOP_COUNTS_H

#include "lib/match/online.h"
#include "top/live-names.h"

/* Bucket i counts objects that lived for 2^(i-1) to 2^i - 1 ns; bucket 0 those
 * that lived for 0 ns. */
#define KMT_TOP_LIFETIME_BUCKETS 64

/* The counts of one allocation class since the beginning. */
typedef struct {
	guint64 allocs;
	guint64 frees;
	guint64 untracked;	   /* of allocs */
	gint64 closed_minus_freed; /* objects no longer live, minus frees */
	guint32 site; /* index of the lifetimes of its call site and kind */
	guint32 padding;
} KmtTopCount;

/* The live objects of a class. */
static inline guint64 kmt_top_count_live(const KmtTopCount *count)
{
	return count->allocs - count->untracked - count->frees -
	       (guint64)count->closed_minus_freed;
}

/* A copy of all counts, with a reference count. */
typedef struct {
	gint refs;
	guint32 n; /* number of classes */
	KmtTopCount *classes;
	guint32 n_sites;
	guint64 (*lifetimes)[KMT_TOP_LIFETIME_BUCKETS];
	/* Of all classes: */
	guint64 events;		 /* ALLOC, FREE, and DEFER records */
	guint64 frees_before;	 /* frees of memory from before the trace */
	guint64 unmatched_frees; /* other frees without an allocation */
	guint64 untracked;
} KmtTopCounts;

KmtTopCounts *kmt_top_counts_ref(KmtTopCounts *counts);
/* NULL is allowed. */
void kmt_top_counts_unref(KmtTopCounts *counts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopCounts, kmt_top_counts_unref)

/* The counts that grow, with the matcher that decides about each record. */
typedef struct KmtTopTally KmtTopTally;

typedef struct {
	guint64 max_objects; /* live objects to track; 0: no limit */
	gint64 clock_tolerance_ns;
	KmtMatchNextBatch next_batch;
	gpointer user; /* argument of next_batch */
} KmtTopTallyOptions;

/* capture and names must outlive the result. */
KmtTopTally *kmt_top_tally_new(const KmtInputCapture *capture,
			       KmtTopNames *names,
			       const KmtTopTallyOptions *options);
void kmt_top_tally_free(KmtTopTally *tally);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTopTally, kmt_top_tally_free)

/* Count the records up to a merged time, or all remaining ones. */
void kmt_top_tally_advance(KmtTopTally *tally, gint64 until);
void kmt_top_tally_finish(KmtTopTally *tally);

/* Return the matcher, for its state. */
KmtMatchOnline *kmt_top_tally_online(const KmtTopTally *tally);
/* Return the keys. Any thread may read the properties of the classes of a
 * KmtTopCounts that it has received under a lock. */
const KmtMatchKeys *kmt_top_tally_keys(const KmtTopTally *tally);

/* The names of tasks have changed. */
void kmt_top_tally_forget_tasks(KmtTopTally *tally);

/* Return a copy of the counts, whose only reference the caller has. */
KmtTopCounts *kmt_top_tally_counts(const KmtTopTally *tally);

#endif
