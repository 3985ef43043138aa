/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes the first of the two events that Linux 6.12 and later report for one
 * large kmalloc().
 *
 * In these kernels, __do_kmalloc_node() passes a size above
 * KMALLOC_MAX_CACHE_SIZE to __kmalloc_large_node_noprof(). Both functions call
 * the tracepoint kmem:kmalloc: the inner one with a call site inside the
 * allocator, then the outer one with the call site of its caller. All other
 * fields except the time and the stack are equal.
 *
 * Two events are such a pair if
 * - they come from the same CPU, task, and context (process, softirq, hardirq),
 *   and this context has no event in between,
 * - the fields of the allocation except the call site are equal, and the call
 *   sites differ,
 * - no event was lost in between, and
 * - the first call site is in a function that reports an allocation twice. If
 *   the names of functions are not known, the page allocator must have reported
 *   pages of this size to this context before the first event.
 *
 * The last condition excludes two allocations of the same memory, which another
 * CPU freed in between. The second allocation takes pages of its own, which are
 * an event between the two if such events are recorded.
 *
 * A first event without a second one is the only trace of its allocation and
 * stays. Both events stay if the task moved to another CPU between them.
 */
#ifndef KMEMTRACE_TRACEPOINTS_KMALLOC_PAIRS_H
#define KMEMTRACE_TRACEPOINTS_KMALLOC_PAIRS_H

#include <glib.h>
#include <kmemtrace_abi.h>

#include "lib/tracepoints/inner-functions.h"

/*
 * Largest number of held records, which are not written yet: a possible first
 * event of a pair, and the records of other contexts that follow this event
 * until the next event of its own context decides about it.
 */
#define KMT_TRACEPOINT_PAIRS_HELD_MAX 256

/* Largest number of contexts that can wait for a second event at one time. */
#define KMT_TRACEPOINT_PAIRS_OPEN_MAX 8

/* Number of page allocations that are remembered as the source of a kmalloc. */
#define KMT_TRACEPOINT_PAIRS_PAGES 8

/*
 * A large kmalloc() allocates more bytes than this: the object size of the
 * largest kmalloc cache on a machine with pages of 4 KB.
 */
#define KMT_TRACEPOINT_PAIRS_BYTES 8192

/* A page allocation that may be the source of a large kmalloc(). */
typedef struct {
	guint32 pid;
	guint16 context; /* KMEMTRACE_FLAG_SOFTIRQ and _HARDIRQ */
	guint64 bytes;	 /* allocated size; 0: unused */
} KmtTracepointPairsPages;

/* A possible first event, which waits for its second event. */
typedef struct {
	guint slot;	    /* index of the event in KmtTracepointPairs.held */
	gboolean has_pages; /* the page allocator reported the event's pages */
} KmtTracepointPairsOpen;

/*
 * The records of one CPU, in order. Initialise the struct with
 * kmt_tracepoint_pairs_init(). One thread at a time may use it.
 */
typedef struct {
	const KmtTracepointInner *inner;
	/* Ring of the held records; NULL until the first one. */
	struct kmemtrace_event_v2s *held;
	guint first, n; /* index of the first held record; number of them */
	/* Bit i is set if the record held[i] is dropped instead of written. */
	guint64 dropped[KMT_TRACEPOINT_PAIRS_HELD_MAX / 64];
	guint n_open; /* number of elements of open, oldest first */
	KmtTracepointPairsOpen open[KMT_TRACEPOINT_PAIRS_OPEN_MAX];
	guint next_pages; /* index in pages that is overwritten next */
	KmtTracepointPairsPages pages[KMT_TRACEPOINT_PAIRS_PAGES];
	guint64 n_dropped; /* events that were removed */
} KmtTracepointPairs;

/*
 * Initialise *pairs. inner must outlive it, and may be filled in until the
 * first record is added. Release the memory with kmt_tracepoint_pairs_clear().
 */
void kmt_tracepoint_pairs_init(KmtTracepointPairs *pairs,
			       const KmtTracepointInner *inner);
void kmt_tracepoint_pairs_clear(KmtTracepointPairs *pairs);

/*
 * Return whether the caller may write the record at once, without
 * kmt_tracepoint_pairs_add(). This is so for nearly all records.
 */
static inline gboolean
kmt_tracepoint_pairs_passes(const KmtTracepointPairs *pairs,
			    const struct kmemtrace_event *e)
{
	return pairs->n == 0 && (e->event_id != KMEMTRACE_EVENT_ALLOC ||
				 e->bytes_alloc <= KMT_TRACEPOINT_PAIRS_BYTES);
}

/*
 * Add the next record, of which n_bytes are copied, at most the size of struct
 * kmemtrace_event_v2s. Before each call, kmt_tracepoint_pairs_next() must have
 * returned NULL.
 */
void kmt_tracepoint_pairs_add(KmtTracepointPairs *pairs,
			      const struct kmemtrace_event_v2 *record,
			      gsize n_bytes);

/*
 * Return the next record to write, or NULL if none is left or the decision on
 * the next one depends on records to come. The record is valid until the next
 * call with pairs; the caller may change it.
 */
struct kmemtrace_event_v2s *
kmt_tracepoint_pairs_next(KmtTracepointPairs *pairs);

/*
 * Separate the records so far from those to come, because records are missing
 * in between or the CPU has no more of them. kmt_tracepoint_pairs_next() then
 * returns all held records. A LOST record in kmt_tracepoint_pairs_add() has the
 * same effect.
 */
void kmt_tracepoint_pairs_cut(KmtTracepointPairs *pairs);

#endif
