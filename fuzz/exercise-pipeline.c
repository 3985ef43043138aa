// SPDX-License-Identifier: GPL-2.0-or-later
/* Run of the pipeline: the decisions are read from the matched blocks. */
#include "config.h"

#include "fuzz/exercise-private.h"

typedef struct {
	KmtExercise *exercise;
	gint64 last; /* merged time of the last record, in ns */
} PipelineRun;

static void consume_step(KmtExercise *exercise, const KmtMatchEvent *step)
{
	const KmtInputRawEvent *event = step->event;
	gboolean is_alloc = step->op == KMT_MATCH_STEP_ALLOC;
	KmtMatchObject object = {
		.ptr = event->ptr,
		.timestamp = is_alloc ? step->now : step->alloc_time,
		.class_id = step->class_id,
		.file = is_alloc ? step->file : step->alloc_file,
		.type = step->type,
	};

	if (step->op != KMT_MATCH_STEP_NONE)
		kmt_exercise_add_decision(
			exercise,
			is_alloc ? KMT_MATCH_SLOW_ALLOC : KMT_MATCH_SLOW_FREE,
			&object, event->ptr, event->type_id, step->file);
}

static void count_finding(const KmtExercise *exercise,
			  KmtMatchFindings *findings,
			  const KmtMatchSlowEvent *event)
{
	if (event->op == KMT_MATCH_SLOW_UNMATCHED_DEFER)
		findings->unmatched_defers[event->class]++;
	else if (event->op == KMT_MATCH_SLOW_DOUBLE_DEFER && event->class)
		findings->double_defers_after_loss++;
	else if (event->op == KMT_MATCH_SLOW_DOUBLE_DEFER)
		findings->double_defers++;
	else if (event->op == KMT_MATCH_SLOW_DOUBLE)
		findings->doubles[event->class]++;
	else if (event->op == KMT_MATCH_SLOW_UNMATCHED)
		findings->unmatched[event->class]++;
	else if (event->op == KMT_MATCH_SLOW_FREE && event->mismatch)
		findings->mismatches++;
	else if (event->op == KMT_MATCH_SLOW_FREE &&
		 event->object.type != event->type &&
		 !exercise->capture->kfree_of_caches)
		findings->mismatches_after_loss++;
}

static void consume_slow_event(KmtExercise *exercise,
			       const KmtMatchSlowEvent *event)
{
	gboolean has_object = kmt_exercise_has_object(event->op, event->class);
	KmtExerciseDecision *decision = kmt_exercise_add_decision(
		exercise, event->op, has_object ? &event->object : NULL,
		event->ptr, event->type, event->file);

	decision->delayed = (guint8)event->delayed;
	decision->mismatch = (guint8)event->mismatch;
	decision->class = (guint8)event->class;
	decision->late_free = (guint8)event->late_free;
	count_finding(exercise, &exercise->findings, event);
}

static void consume_block(gpointer user, const KmtMatchedBlock *block)
{
	PipelineRun *run = user;
	KmtExercise *exercise = run->exercise;
	guint64 first = exercise->index;
	guint i, n_consumed = 0;

	for (i = 0; i <= block->n; i++) {
		exercise->index = first + i;
		for (; n_consumed < block->n_slow_events &&
		       block->slow_events[n_consumed]->index == i;
		     n_consumed++)
			consume_slow_event(exercise,
					   block->slow_events[n_consumed]);
		if (i == block->n)
			break;
		g_assert_cmpint(block->items[i]->now, >=, run->last);
		run->last = block->items[i]->now;
		consume_step(exercise, block->items[i]);
	}
	g_assert_cmpuint(n_consumed, ==, block->n_slow_events);
}

guint64 kmt_exercise_run_pipeline(KmtExercise *exercise, guint jobs,
				  guint shards, gint64 tolerance_ns,
				  gint64 stop_ns, GArray **live)
{
	const KmtMatchPipelineOptions options = {
		.jobs = jobs,
		.shards = shards,
		.clock_tolerance_ns = tolerance_ns,
		.keys = exercise->keys,
		.stop_ns = stop_ns,
	};
	static const KmtMatchFindings none;
	KmtMatchFindings findings;
	PipelineRun run = {exercise, G_MININT64};
	g_autoptr(KmtMatchPipeline) pipeline = kmt_match_pipeline_new(
		exercise->capture, &options, consume_block, &run);
	g_autoptr(GArray) objects =
		g_array_new(FALSE, FALSE, sizeof(KmtMatchObject));

	exercise->index = 0;
	exercise->findings = none;
	g_array_set_size(exercise->decisions, 0);
	kmt_match_pipeline_run(pipeline);
	kmt_match_pipeline_findings(pipeline, &findings);
	g_assert_cmpmem(&findings, sizeof(findings), &exercise->findings,
			sizeof(findings));
	kmt_match_pipeline_foreach_live(pipeline, kmt_exercise_append_object,
					objects);
	*live = kmt_exercise_sorted_objects(exercise->keys, objects);
	return exercise->index;
}
