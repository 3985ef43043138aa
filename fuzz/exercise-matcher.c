// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Direct run of the matcher: each callback is checked against the records of
 * the capture, and the counts are checked at the end.
 */
#include "config.h"

#include "fuzz/exercise-private.h"

#include "lib/input/namespace.h"

/* State of a record during the run. */
enum {
	UNREPORTED,
	REPORTED, /* a reported FREE or DEFER, or an ALLOC whose object is live
		   */
	CLOSED,	  /* an ALLOC whose object was freed or replaced */
};

typedef struct {
	KmtExercise *exercise;
	KmtMatcher *matcher;
	guint8 **states;  /* state of each record of each file */
	guint8 **doubled; /* 1 for each record with a double allocation */
	KmtMatchPosition current;
	guint64 n_allocs, n_freed, n_replaced;
} MatcherRun;

static guint8 *state_of(MatcherRun *run, guint file, guint64 index)
{
	const GPtrArray *files = run->exercise->capture->files;
	const KmtInputCpuFile *cpu_file;

	g_assert_cmpuint(file, <, files->len);
	cpu_file = files->pdata[file];
	g_assert_cmpuint(index, <, cpu_file->n_records);
	return &run->states[file][index];
}

/* Check that an object has the values of its ALLOC record. */
static void check_object(MatcherRun *run, const KmtMatchObject *object)
{
	const KmtInputCpuFile *file =
		run->exercise->capture->files->pdata[object->file];
	KmtExerciseObject o = kmt_exercise_object(run->exercise->keys, object);
	struct kmemtrace_event event;

	kmt_input_cpu_file_get(file, object->index, &event);
	g_assert_cmpuint(event.event_id, ==, KMEMTRACE_EVENT_ALLOC);
	g_assert_cmphex(event.ptr, ==, object->ptr);
	g_assert_cmpuint(event.type_id, ==, object->type);
	g_assert_cmpuint(event.type_id, ==, o.key_type);
	g_assert_cmphex(event.call_site, ==, o.call_site);
	g_assert_cmphex(event.gfp_flags, ==, o.gfp_flags);
	g_assert_cmpint(event.node, ==, o.node);
	g_assert_cmpuint(event.bytes_req, ==, o.bytes_req);
	g_assert_cmpuint(event.bytes_alloc, ==, o.bytes_alloc);
	g_assert_cmpuint(object->file, ==, o.key_file);
	g_assert_cmpint(event.timestamp, <=, object->timestamp);
}

static KmtExerciseDecision *add_decision(MatcherRun *run, KmtMatchSlowOp op,
					 const KmtMatchObject *object,
					 const struct kmemtrace_event *event,
					 const KmtMatchPosition *position)
{
	KmtExerciseDecision *decision = kmt_exercise_add_decision(
		run->exercise, op, object, event->ptr, event->type_id,
		(guint16)position->file->position);
	gint64 time;

	decision->delayed = (guint8)kmt_matcher_is_delayed(run->matcher, &time);
	return decision;
}

static void close_object(MatcherRun *run, const KmtMatchObject *object)
{
	guint8 *state = state_of(run, object->file, object->index);

	check_object(run, object);
	g_assert_cmpuint(*state, ==, REPORTED);
	*state = CLOSED;
}

static void set_reported(MatcherRun *run, const KmtMatchPosition *position)
{
	guint8 *state =
		state_of(run, position->file->position, position->index);

	g_assert_cmpuint(*state, ==, UNREPORTED);
	*state = REPORTED;
}

static void on_alloc(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position)
{
	MatcherRun *run = user;
	KmtExerciseDecision *decision = add_decision(run, KMT_MATCH_SLOW_ALLOC,
						     object, event, position);

	g_assert_false(decision->delayed);
	g_assert_cmpuint(object->file, ==, position->file->position);
	g_assert_cmpuint(object->index, ==, position->index);
	check_object(run, object);
	set_reported(run, position);
	run->n_allocs++;
}

static void on_free(gpointer user, const KmtMatchObject *object,
		    const struct kmemtrace_event *event,
		    const KmtMatchPosition *position, gboolean mismatch)
{
	MatcherRun *run = user;
	KmtMatchFindings *findings = &run->exercise->findings;
	KmtExerciseDecision *decision =
		add_decision(run, KMT_MATCH_SLOW_FREE, object, event, position);

	decision->mismatch = (guint8)mismatch;
	g_assert_cmphex(object->ptr, ==, event->ptr);
	g_assert_cmpint(kmt_input_namespace_of(object->type), ==,
			kmt_input_namespace_of(event->type_id));
	if (object->type == event->type_id ||
	    run->exercise->capture->kfree_of_caches)
		g_assert_false(mismatch);
	else if (mismatch)
		findings->mismatches++;
	else
		findings->mismatches_after_loss++;
	close_object(run, object);
	set_reported(run, position);
	run->n_freed++;
}

static void on_replaced(gpointer user, const KmtMatchObject *object,
			const struct kmemtrace_event *event,
			const KmtMatchPosition *position)
{
	MatcherRun *run = user;

	add_decision(run, KMT_MATCH_SLOW_REPLACED, object, event, position);
	g_assert_cmphex(object->ptr, ==, event->ptr);
	close_object(run, object);
	run->n_replaced++;
}

static void on_double(gpointer user, const KmtMatchObject *object,
		      const struct kmemtrace_event *event,
		      const KmtMatchPosition *position,
		      KmtMatchDoubleAlloc class,
		      const struct kmemtrace_event *free_event)
{
	MatcherRun *run = user;
	guint file = position->file->position;
	KmtExerciseDecision *decision = add_decision(run, KMT_MATCH_SLOW_DOUBLE,
						     object, event, position);

	decision->class = (guint8) class;
	decision->late_free = free_event != NULL;
	check_object(run, object);
	g_assert_cmpuint(*state_of(run, object->file, object->index), ==,
			 CLOSED);
	g_assert_cmpuint(*state_of(run, file, position->index), !=, UNREPORTED);
	g_assert_cmpuint(run->doubled[file][position->index], ==, 0);
	run->doubled[file][position->index] = 1;
	if (free_event) {
		g_assert_cmpint(class, ==, KMT_MATCH_DOUBLE_RACE);
		g_assert_false(decision->delayed);
		set_reported(run, &run->current);
	}
	g_assert_cmpuint(class, <, KMT_MATCH_N_DOUBLE);
	run->exercise->findings.doubles[class]++;
}

/* Add an unmatched FREE or DEFER to @counts, the counts of its kind. */
static void add_unmatched(MatcherRun *run, KmtMatchSlowOp op,
			  const struct kmemtrace_event *event,
			  const KmtMatchPosition *position,
			  KmtMatchUnmatched class, guint64 *counts)
{
	KmtExerciseDecision *decision =
		add_decision(run, op, NULL, event, position);

	decision->class = (guint8) class;
	set_reported(run, position);
	g_assert_cmpuint(class, <, KMT_MATCH_N_UNMATCHED);
	counts[class]++;
}

static void on_unmatched(gpointer user, const struct kmemtrace_event *event,
			 const KmtMatchPosition *position,
			 KmtMatchUnmatched class)
{
	MatcherRun *run = user;

	add_unmatched(run, KMT_MATCH_SLOW_UNMATCHED, event, position, class,
		      run->exercise->findings.unmatched);
}

static void on_defer(gpointer user, const KmtMatchObject *object,
		     const struct kmemtrace_event *event,
		     const KmtMatchPosition *position,
		     KmtMatchDeferEffect effect)
{
	MatcherRun *run = user;
	KmtExerciseDecision *decision = add_decision(run, KMT_MATCH_SLOW_DEFER,
						     object, event, position);

	decision->class = (guint8)effect;
	g_assert_false(decision->delayed);
	g_assert_true((object != NULL) ==
		      kmt_exercise_has_object(KMT_MATCH_SLOW_DEFER, effect));
	set_reported(run, position);
	if (!object)
		return;
	check_object(run, object);
	g_assert_cmphex(object->ptr, ==, event->ptr);
	g_assert_true(object->is_deferred);
	g_assert_cmphex(object->defer.call_site, ==, event->call_site);
	g_assert_cmpuint(object->defer.file, ==, position->file->position);
	g_assert_cmpuint(*state_of(run, object->file, object->index), ==,
			 REPORTED);
}

static void on_double_defer(gpointer user, const KmtMatchObject *object,
			    const struct kmemtrace_event *event,
			    const KmtMatchPosition *position,
			    gboolean after_loss)
{
	MatcherRun *run = user;
	KmtExerciseDecision *decision = add_decision(
		run, KMT_MATCH_SLOW_DOUBLE_DEFER, object, event, position);

	decision->class = after_loss != FALSE;
	check_object(run, object);
	g_assert_true(object->is_deferred);
	set_reported(run, position);
	if (after_loss)
		run->exercise->findings.double_defers_after_loss++;
	else
		run->exercise->findings.double_defers++;
}

static void on_unmatched_defer(gpointer user,
			       const struct kmemtrace_event *event,
			       const KmtMatchPosition *position,
			       KmtMatchUnmatched class)
{
	MatcherRun *run = user;

	add_unmatched(run, KMT_MATCH_SLOW_UNMATCHED_DEFER, event, position,
		      class, run->exercise->findings.unmatched_defers);
}

static void check_live_objects(MatcherRun *run, const GArray *live)
{
	guint i;

	g_assert_cmpuint(live->len, ==,
			 run->n_allocs - run->n_freed - run->n_replaced);
	for (i = 0; i < live->len; i++) {
		const KmtMatchObject *object =
			&g_array_index(live, KmtMatchObject, i);

		check_object(run, object);
		g_assert_cmpuint(*state_of(run, object->file, object->index),
				 ==, REPORTED);
	}
}

/* Check the counts after the last record. */
static void check_counts(MatcherRun *run, const KmtMatchMerge *merge)
{
	const KmtExercise *exercise = run->exercise;
	const KmtMatchFindings *findings = &exercise->findings;
	guint64 sum = 0;
	guint i;

	g_assert_cmpmem(findings, sizeof(*findings),
			kmt_matcher_findings(run->matcher), sizeof(*findings));
	for (i = 0; i < KMT_MATCH_N_DOUBLE; i++)
		sum += findings->doubles[i];
	g_assert_cmpuint(sum, ==, run->n_replaced);
	g_assert_cmpuint(exercise->index + kmt_match_merge_skipped(merge) +
				 kmt_match_merge_gap_records(merge) +
				 kmt_match_merge_stop_records(merge) +
				 kmt_match_merge_mark_records(merge),
			 ==, exercise->capture->n_records);
}

/* Check that each record that the merge returns was reported. */
static void check_all_reported(MatcherRun *run)
{
	g_autoptr(KmtMatchMerge) merge =
		kmt_match_merge_new(run->exercise->capture);
	struct kmemtrace_event event;
	KmtMatchPosition p;

	while (kmt_match_merge_next(merge, &event, &p))
		g_assert_cmpuint(*state_of(run, p.file->position, p.index), !=,
				 UNREPORTED);
}

static GArray *process_all(MatcherRun *run)
{
	KmtExercise *exercise = run->exercise;
	g_autoptr(KmtMatchMerge) merge = kmt_match_merge_new(exercise->capture);
	g_autoptr(GArray) live =
		g_array_new(FALSE, FALSE, sizeof(KmtMatchObject));
	struct kmemtrace_event event;

	for (exercise->index = 0;
	     kmt_match_merge_next(merge, &event, &run->current);
	     exercise->index++)
		kmt_matcher_process(run->matcher, &event, &run->current);
	kmt_matcher_finish(run->matcher);
	kmt_matcher_foreach_live(run->matcher, kmt_exercise_append_object,
				 live);
	check_counts(run, merge);
	check_live_objects(run, live);
	check_all_reported(run);
	return kmt_exercise_sorted_objects(exercise->keys, live);
}

static guint8 **new_states(const KmtInputCapture *capture)
{
	guint8 **states = g_new(guint8 *, capture->files->len);
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		states[i] = g_new0(guint8, file->n_records);
	}
	return states;
}

static void free_states(const KmtInputCapture *capture, guint8 **states)
{
	guint i;

	for (i = 0; i < capture->files->len; i++)
		g_free(states[i]);
	g_free(states);
}

GArray *kmt_exercise_run_matcher(KmtExercise *exercise, gint64 tolerance_ns)
{
	static const KmtMatchOps ops = {
		.on_alloc = on_alloc,
		.on_free = on_free,
		.on_replaced = on_replaced,
		.on_double = on_double,
		.on_unmatched = on_unmatched,
		.on_defer = on_defer,
		.on_double_defer = on_double_defer,
		.on_unmatched_defer = on_unmatched_defer,
	};
	const KmtMatchOptions options = {
		.clock_tolerance_ns = tolerance_ns,
		.keys = exercise->keys,
		.keep_indexes = TRUE,
	};
	MatcherRun run = {
		.exercise = exercise,
		.states = new_states(exercise->capture),
		.doubled = new_states(exercise->capture),
	};
	g_autoptr(KmtMatcher) matcher =
		kmt_matcher_new(exercise->capture, &options, &ops, &run);
	GArray *live;

	run.matcher = matcher;
	live = process_all(&run);
	free_states(exercise->capture, run.states);
	free_states(exercise->capture, run.doubled);
	return live;
}
