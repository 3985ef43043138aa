/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of kmt_exercise(), shared by the files exercise*.c: one run of a
 * capture records the decisions of the matcher, so that runs can be compared.
 */
#ifndef KMEMTRACE_FUZZ_EXERCISE_PRIVATE_H
#define KMEMTRACE_FUZZ_EXERCISE_PRIVATE_H

#include "lib/match/pipeline.h"

/*
 * An object of the matcher with its allocation class resolved.  The struct has
 * no padding, because objects are compared byte by byte.
 */
typedef struct {
	guint64 ptr;
	gint64 alloc_time;
	guint64 call_site, gfp_flags;
	guint64 bytes_req, bytes_alloc;
	gint32 node;
	guint16 file, key_file;
	guint8 type, key_type;
	guint8 is_deferred;
	guint8 unused[5];
	gint64 defer_time;
	guint64 defer_site;
	guint64 defer_file;
} KmtExerciseObject;
G_STATIC_ASSERT(sizeof(KmtExerciseObject) == 88);

/*
 * A decision that the matcher reported about a record.  The struct has no
 * padding, because decisions are compared byte by byte.
 */
typedef struct {
	guint64 index; /* number of the record in merged order; for a decision
			* at the end of the capture, the number of records */
	KmtExerciseObject object;
	guint64 ptr;
	guint16 file;
	guint8 type;
	guint8 op; /* KmtMatchSlowOp */
	guint8 class;
	guint8 delayed, mismatch, late_free;
} KmtExerciseDecision;
G_STATIC_ASSERT(sizeof(KmtExerciseDecision) == 112);

/* State of one run of a capture. */
typedef struct {
	const KmtInputCapture *capture;
	KmtMatchKeys *keys;
	GArray *decisions; /* KmtExerciseDecision elements */
	guint64 index;	   /* number of the current record in merged order */
	KmtMatchFindings findings;
} KmtExercise;

/* Return whether decisions with this op and class have an object. */
gboolean kmt_exercise_has_object(KmtMatchSlowOp op, guint class);

/* Return a copy of an object with its allocation class resolved. */
KmtExerciseObject kmt_exercise_object(const KmtMatchKeys *keys,
				      const KmtMatchObject *object);

/*
 * Record a decision about the current record.  object may be NULL.  The result
 * is valid until the next decision is recorded.
 */
KmtExerciseDecision *kmt_exercise_add_decision(KmtExercise *exercise,
					       KmtMatchSlowOp op,
					       const KmtMatchObject *object,
					       guint64 ptr, guint8 type,
					       guint16 file);

/* Return the recorded decisions, sorted, and begin an empty array. */
GArray *kmt_exercise_steal_decisions(KmtExercise *exercise);

/*
 * Return the objects (KmtExerciseObject) of an array of KmtMatchObject, sorted
 * by address and namespace.  Aborts if two objects have the same address and
 * namespace.
 */
GArray *kmt_exercise_sorted_objects(const KmtMatchKeys *keys,
				    const GArray *objects);

/* Append an object to a GArray of KmtMatchObject; a callback for live objects.
 */
void kmt_exercise_append_object(gpointer array, const KmtMatchObject *object);

/* Abort unless both arrays are equal; @what names the elements in the message.
 */
void kmt_exercise_assert_same(GArray *a, GArray *b, const char *what);

/*
 * Check that merging record by record and merging in blocks return the same
 * records, in order.
 */
void kmt_exercise_check_merge(const KmtInputCapture *capture);

/*
 * Pass all records directly to a matcher, and check each callback.  Return the
 * live objects as kmt_exercise_sorted_objects() does.
 */
GArray *kmt_exercise_run_matcher(KmtExercise *exercise, gint64 tolerance_ns);

/*
 * Run the pipeline with these options and set *live to the live objects, as
 * kmt_exercise_sorted_objects() returns them.  Return the number of processed
 * records.
 */
guint64 kmt_exercise_run_pipeline(KmtExercise *exercise, guint jobs,
				  guint shards, gint64 tolerance_ns,
				  gint64 stop_ns, GArray **live);

#endif
