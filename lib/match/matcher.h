/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs each free with its allocation, and classifies the records that do not
 * fit. kmemtrace-check and kmemtrace-report both use the matcher, so that their
 * results agree. docs/definitions.md defines the terms.
 *
 * The state of an address depends only on the records of that address and on
 * the times of lost events. The addresses of a capture may therefore be divided
 * among several matchers (shards), each of which receives the records of its
 * addresses in merged order.
 *
 * Slab (kmalloc and cache), pages, per-CPU memory and vmalloc are separate
 * address namespaces; see lib/input/namespace.h.
 *
 * A DEFER record reports that an object was handed over to be freed later, for
 * example by kfree_rcu(). DEFER records never change how ALLOC and FREE records
 * are matched.
 *
 * One thread at a time may use a matcher. Matchers share only the capture and,
 * if given, the keys.
 */
#ifndef KMEMTRACE_MATCH_MATCHER_H
#define KMEMTRACE_MATCH_MATCHER_H

#include "lib/match/keys.h"
#include "lib/match/merge.h"

/* The DEFER record of an object. If a later DEFER of the object replaced the
 * first one (KMT_MATCH_DEFER_AGAIN), time is that of the first DEFER, and
 * call_site and file are those of the last DEFER. */
typedef struct {
	gint64 time;	   /* merged time in ns */
	guint64 call_site; /* of the code that handed the object over */
	guint16 file;	   /* index of the CPU's file in capture->files */
} KmtMatchDefer;

/* A live object, or an object that was just freed or replaced. */
typedef struct {
	guint64 ptr;
	gint64 timestamp; /* merged time of the allocation in ns */
	guint32 class_id; /* allocation class; see lib/match/keys.h */
	guint16 file;	  /* index of the allocating CPU's file in
			   * capture->files */
	guint8 type;	  /* enum kmemtrace_type_id */
	guint64 index;	  /* with keep_indexes: index of the ALLOC record in its
			   * file */
	gboolean is_deferred; /* the object was deferred; defer is valid */
	KmtMatchDefer defer;
} KmtMatchObject;

typedef enum {
	/* Memory from before the trace was freed: the FREE is the first record
	 * of the address, or skewed clocks may have put a FREE of the address
	 * after the first ALLOC. */
	KMT_MATCH_UNMATCHED_BEFORE_TRACE,
	/* Events were lost, possibly the ALLOC. */
	KMT_MATCH_UNMATCHED_AFTER_LOSS,
	KMT_MATCH_UNMATCHED_UNEXPLAINED,
	KMT_MATCH_N_UNMATCHED
} KmtMatchUnmatched;

typedef enum {
	/* Events were lost, possibly the FREE. */
	KMT_MATCH_DOUBLE_AFTER_LOSS,
	/* The FREE of the old object is present. Two CPUs used the address
	 * within the clock tolerance, so that skewed clocks may have put this
	 * FREE after the ALLOC of the new object, or before the ALLOC of the
	 * old one. */
	KMT_MATCH_DOUBLE_RACE,
	KMT_MATCH_DOUBLE_UNEXPLAINED,
	KMT_MATCH_N_DOUBLE
} KmtMatchDoubleAlloc;

typedef enum {
	/* The object is deferred from now on. */
	KMT_MATCH_DEFER_FIRST,
	/* The object was deferred already, but the earlier DEFER is doubtful:
	 * it may belong to another object of the address. */
	KMT_MATCH_DEFER_AGAIN,
	/* Skewed clocks moved the FREE of the object before its DEFER. */
	KMT_MATCH_DEFER_LATE,
} KmtMatchDeferEffect;

/*
 * Callbacks for the decisions of the matcher. Decisions arrive in merged order,
 * except that a decision about an ambiguous event arrives later: with the
 * counterpart of the event, with another record of the address that rules the
 * counterpart out, after the clock tolerance has passed, or in
 * kmt_matcher_finish(). Each callback may be NULL.
 */
typedef struct {
	/* A new object is live. */
	void (*on_alloc)(gpointer user, const KmtMatchObject *object,
			 const struct kmemtrace_event *event,
			 const KmtMatchPosition *position);

	/*
	 * event frees a live object. mismatch: the object was allocated as
	 * kmalloc and freed as cache, or the reverse, and lost events cannot
	 * explain that. The FREE may precede the ALLOC in merged order, by at
	 * most the clock tolerance, usually on another CPU; event->timestamp
	 * may then be below the timestamp of the object.
	 */
	void (*on_free)(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position, gboolean mismatch);

	/*
	 * event allocated the address of a live object. The object is closed at
	 * the time of event, before on_alloc is called for the new object.
	 * on_double reports the class of the double allocation later.
	 */
	void (*on_replaced)(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position);

	/*
	 * The class of a double allocation, whose ALLOC is event. For a race,
	 * free_event is the late FREE of old_object, and is the record that the
	 * matcher processes now; on_free is not called for this FREE.
	 * free_event is NULL for the other classes, and for a race whose FREE
	 * came early and was already reported as "before the trace".
	 */
	void (*on_double)(gpointer user, const KmtMatchObject *old_object,
			  const struct kmemtrace_event *event,
			  const KmtMatchPosition *position,
			  KmtMatchDoubleAlloc class,
			  const struct kmemtrace_event *free_event);

	/* A free of an address without a live object. */
	void (*on_unmatched)(gpointer user, const struct kmemtrace_event *event,
			     const KmtMatchPosition *position,
			     KmtMatchUnmatched class);

	/*
	 * event is the DEFER of a live object, or of one that was freed just
	 * before (LATE; object is then NULL). event may precede the ALLOC in
	 * merged order, by at most the clock tolerance, usually on another CPU.
	 */
	void (*on_defer)(gpointer user, const KmtMatchObject *object,
			 const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchDeferEffect effect);

	/* event is another DEFER of a deferred object. after_loss: a FREE and
	 * an ALLOC of the address may be missing between the two DEFERs. */
	void (*on_double_defer)(gpointer user, const KmtMatchObject *object,
				const struct kmemtrace_event *event,
				const KmtMatchPosition *position,
				gboolean after_loss);

	/* A DEFER of an address without a live object. BEFORE_TRACE: no ALLOC
	 * or FREE of the address precedes, or the address may have been live
	 * before its first record. */
	void (*on_unmatched_defer)(gpointer user,
				   const struct kmemtrace_event *event,
				   const KmtMatchPosition *position,
				   KmtMatchUnmatched class);
} KmtMatchOps;

typedef struct KmtMatcher KmtMatcher;

/* Default of the option --clock-tolerance, in ns. */
#define KMT_MATCH_CLOCK_TOLERANCE_NS 1000000
/* Upper limit of the option --clock-tolerance, in ns. A matcher reduces a
 * larger clock_tolerance_ns to this limit. */
#define KMT_MATCH_CLOCK_TOLERANCE_MAX_NS 1000000000

/*
 * clock_tolerance_ns: the largest error of the clocks of two CPUs for which the
 * matcher allows; there is no default.
 * keys: the tables that number the allocation classes; NULL: the class of every
 * object is 0. With kmt_matcher_process(), keys->parts
 * must not contain KMT_MATCH_KEY_OWNER or a part of it, because the function
 * receives only the fields of version 1.
 * keep_indexes: store the index of the ALLOC record of each object, which takes
 * 8 bytes per entry.
 */
typedef struct {
	gint64 clock_tolerance_ns;
	KmtMatchKeys *keys;
	gboolean keep_indexes;
	guint64 hash_seed; /* odd hash seed that several matchers share; 0:
			    * choose a random one */
	guint shards;	   /* number of matchers that share the addresses; 0 or
			    * 1: only this one */
} KmtMatchOptions;

/*
 * Create a matcher. ops is copied; user is the first argument of each
 * callback. capture and options->keys must outlive the matcher.
 */
KmtMatcher *kmt_matcher_new(const KmtInputCapture *capture,
			    const KmtMatchOptions *options,
			    const KmtMatchOps *ops, gpointer user);
/* Free a matcher without further decisions; NULL is allowed. */
void kmt_matcher_free(KmtMatcher *matcher);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatcher, kmt_matcher_free)

/* Process the next record in merged order. */
void kmt_matcher_process(KmtMatcher *matcher,
			 const struct kmemtrace_event *event,
			 const KmtMatchPosition *position);

/*
 * Advance the merged time to now without a record, and make the decisions that
 * are due.
 */
void kmt_matcher_advance(KmtMatcher *matcher, gint64 now);

/*
 * Return whether the current callback reports a decision about an ambiguous
 * event that waited until the clock tolerance had passed or until
 * kmt_matcher_finish(). If so, *time is the merged time after which the
 * decision is due. Only for calls from a callback.
 */
gboolean kmt_matcher_is_delayed(const KmtMatcher *matcher, gint64 *time);

/* Decide about all pending records. No record follows. */
void kmt_matcher_finish(KmtMatcher *matcher);

/* Call func for each live object, in no particular order. */
void kmt_matcher_foreach_live(KmtMatcher *matcher,
			      void (*func)(gpointer user,
					   const KmtMatchObject *object),
			      gpointer user);

/* Call func for each live object that is deferred, in no particular order. */
void kmt_matcher_foreach_deferred(KmtMatcher *matcher,
				  void (*func)(gpointer user,
					       const KmtMatchObject *object),
				  gpointer user);

/* Numbers of the findings, by class. */
typedef struct {
	guint64 unmatched_defers[KMT_MATCH_N_UNMATCHED];
	guint64 double_defers; /* without double_defers_after_loss */
	guint64 double_defers_after_loss;
	guint64 unmatched[KMT_MATCH_N_UNMATCHED];
	guint64 doubles[KMT_MATCH_N_DOUBLE];
	guint64 mismatches;	       /* without mismatches_after_loss */
	guint64 mismatches_after_loss; /* mismatches that lost events may
					* explain; on_free reports no mismatch
					*/
} KmtMatchFindings;

/*
 * Return the numbers of the findings so far. They are complete after
 * kmt_matcher_finish(). The matcher owns the result.
 */
const KmtMatchFindings *kmt_matcher_findings(const KmtMatcher *matcher);

#endif
