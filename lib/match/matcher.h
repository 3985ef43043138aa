/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs each free with its allocation and says what is wrong where there is no
 * such pair.  Both the check and the report stand on it, so that they cannot
 * disagree; the terms are those of docs/definitions.md.
 *
 * The state of an address depends on the records of that address alone (and on
 * where events were lost).  So the addresses of a capture may be split among
 * several matchers, each fed its share in merged order.
 *
 * Slab (kmalloc and cache), pages, per-CPU memory and vmalloc are address
 * spaces of their own (lib/input/namespace.h).
 *
 * A matcher is for one thread at a time; matchers share nothing but the capture
 * and, if they are given them, keys.
 */
#ifndef KMEMTRACE_MATCH_MATCHER_H
#define KMEMTRACE_MATCH_MATCHER_H

#include "lib/match/keys.h"
#include "lib/match/merge.h"

/* A live or a just closed allocation. */
typedef struct {
	guint64 ptr;
	gint64 timestamp; /* merged time of the allocation, ns */
	guint32 class_id; /* see lib/match/keys.h */
	guint16 file;	  /* index in capture->files of the allocation */
	guint8 type;	  /* enum kmemtrace_type_id */
	guint64 index; /* of the ALLOC record in its file, if they are kept */
} KmtMatchObject;

typedef enum {
	/* First sight of that address. */
	KMT_MATCH_UNMATCHED_BEFORE_TRACE,
	/* Events were lost, its ALLOC may be among them. */
	KMT_MATCH_UNMATCHED_AFTER_LOSS,
	KMT_MATCH_UNMATCHED_UNEXPLAINED,
	KMT_MATCH_N_UNMATCHED
} KmtMatchUnmatched;

typedef enum {
	/* Events were lost, the FREE may be among them. */
	KMT_MATCH_DOUBLE_AFTER_LOSS,
	/* The FREE is there, on another CPU, within the clock tolerance. */
	KMT_MATCH_DOUBLE_RACE,
	KMT_MATCH_DOUBLE_UNEXPLAINED,
	KMT_MATCH_N_DOUBLE
} KmtMatchDoubleAlloc;

/*
 * What the matcher tells its owner, in merged order except where a decision had
 * to wait for later records (at most the clock tolerance).  Any may be NULL.
 */
typedef struct {
	/* A new live object. */
	void (*on_alloc)(gpointer user, const KmtMatchObject *object,
			 const struct kmemtrace_event *event,
			 const KmtMatchPosition *position);

	/*
	 * A live object is freed by event.  mismatch: allocated as kmalloc and
	 * freed as cache, or the other way round, and no lost events may be
	 * why.  The FREE may be a record before the ALLOC in merged order (by
	 * at most the clock tolerance, from another CPU): then
	 * event->timestamp may be below the object's.
	 */
	void (*on_free)(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position, gboolean mismatch);

	/*
	 * object was live when event allocated its address again; it is closed,
	 * at event's time, before on_alloc is called for the new object.  The
	 * class is told later, by on_double.
	 */
	void (*on_replaced)(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position);

	/*
	 * The class of a double allocation.  free_event: for a race, the late
	 * FREE of old_object (on_free is not called for it), which is the
	 * record being fed; NULL for the other classes, and for a race whose
	 * FREE came early and was told to be from before the trace.
	 */
	void (*on_double)(gpointer user, const KmtMatchObject *old_object,
			  const struct kmemtrace_event *event,
			  const KmtMatchPosition *position,
			  KmtMatchDoubleAlloc class,
			  const struct kmemtrace_event *free_event);

	/* A free without a live object. */
	void (*on_unmatched)(gpointer user, const struct kmemtrace_event *event,
			     const KmtMatchPosition *position,
			     KmtMatchUnmatched class);
} KmtMatchOps;

typedef struct KmtMatcher KmtMatcher;

/* Default for clock_tolerance_ns. */
#define KMT_MATCH_CLOCK_TOLERANCE_NS 1000000
/* The largest one; values beyond it are taken as it. */
#define KMT_MATCH_CLOCK_TOLERANCE_MAX_NS 1000000000

/*
 * keys: what is fed gets the number of its allocation class, for which it has
 * no owner; or NULL.  keep_indexes: objects know the index of their ALLOC
 * record, for 8 bytes each.
 */
typedef struct {
	gint64 clock_tolerance_ns;
	KmtMatchKeys *keys;
	gboolean keep_indexes;
	guint64 hash_seed; /* odd; that matchers share; 0: of its own */
	guint shards;	   /* matchers that share the addresses; 0: it alone */
} KmtMatchOptions;

KmtMatcher *kmt_matcher_new(const KmtInputCapture *capture,
			    const KmtMatchOptions *options,
			    const KmtMatchOps *ops, gpointer user);
void kmt_matcher_free(KmtMatcher *matcher);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatcher, kmt_matcher_free)

/* The next record in merged order. */
void kmt_matcher_process(KmtMatcher *matcher,
			 const struct kmemtrace_event *event,
			 const KmtMatchPosition *position);

/* Merged time has come to now, be it by records of other addresses. */
void kmt_matcher_advance(KmtMatcher *matcher, gint64 now);

/*
 * In a call of ops: whether this is a decision that had to wait, and was due
 * when merged time went beyond *time.
 */
gboolean kmt_matcher_is_deferred(const KmtMatcher *matcher, gint64 *time);

/* No record follows: settles what was waiting. */
void kmt_matcher_finish(KmtMatcher *matcher);

/* Calls func for each object still live, in no particular order. */
void kmt_matcher_foreach_live(KmtMatcher *matcher,
			      void (*func)(gpointer user,
					   const KmtMatchObject *object),
			      gpointer user);

typedef struct {
	guint64 unmatched[KMT_MATCH_N_UNMATCHED];
	guint64 doubles[KMT_MATCH_N_DOUBLE];
	guint64 mismatches;
	guint64 mismatches_after_loss; /* on_free: no mismatch */
} KmtMatchFindings;

const KmtMatchFindings *kmt_matcher_findings(const KmtMatcher *matcher);

#endif
