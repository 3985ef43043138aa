// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "fuzz/exercise-private.h"
#include "fuzz/exercise.h"

#include <signal.h>
#include <stdlib.h>

#define ALL_PARTS (KMT_MATCH_KEY_CPU | KMT_MATCH_KEY_NODE | KMT_MATCH_KEY_GFP)

/*
 * libFuzzer keeps the input of a run that ends in abort().  GLib's g_error()
 * raises SIGTRAP, for which libFuzzer keeps no input.
 */
static void on_trap(int number)
{
	abort();
}

void kmt_exercise_begin(void)
{
	signal(SIGTRAP, on_trap);
	g_random_set_seed(1);
}

static KmtExercise new_exercise(const KmtInputCapture *capture)
{
	return (KmtExercise){
		.capture = capture,
		.keys = kmt_match_keys_new(ALL_PARTS, capture, NULL),
		.decisions =
			g_array_new(FALSE, FALSE, sizeof(KmtExerciseDecision)),
	};
}

static void clear_exercise(KmtExercise *exercise)
{
	g_array_unref(exercise->decisions);
	kmt_match_keys_free(exercise->keys);
}

/* Compare a pipeline with one shard and a pipeline with two shards, which both
 * stop at stop_ns. */
static void compare_stopped(KmtExercise *exercise, gint64 tolerance_ns,
			    gint64 stop_ns)
{
	g_autoptr(GArray) decisions = NULL, live = NULL;
	g_autoptr(GArray) decisions_2 = NULL, live_2 = NULL;
	guint64 n = kmt_exercise_run_pipeline(exercise, 1, 1, tolerance_ns,
					      stop_ns, &live);

	decisions = kmt_exercise_steal_decisions(exercise);
	g_assert_cmpuint(kmt_exercise_run_pipeline(exercise, 1, 2, tolerance_ns,
						   stop_ns, &live_2),
			 ==, n);
	decisions_2 = kmt_exercise_steal_decisions(exercise);
	kmt_exercise_assert_same(decisions, decisions_2,
				 "decisions until the stop");
	kmt_exercise_assert_same(live, live_2, "live objects at the stop");
}

/* Compare the direct run of the matcher with runs of the pipeline. */
static void compare_runs(KmtExercise *exercise, gint64 tolerance_ns,
			 gboolean threads)
{
	g_autoptr(GArray) live =
		kmt_exercise_run_matcher(exercise, tolerance_ns);
	g_autoptr(GArray) decisions = kmt_exercise_steal_decisions(exercise);
	KmtMatchFindings findings = exercise->findings;
	guint64 n = exercise->index;
	guint shards;

	for (shards = 1; shards <= 3; shards += 2) {
		g_autoptr(GArray) other_decisions = NULL, other_live = NULL;

		g_assert_cmpuint(kmt_exercise_run_pipeline(
					 exercise, threads ? shards : 1, shards,
					 tolerance_ns, G_MAXINT64, &other_live),
				 ==, n);
		other_decisions = kmt_exercise_steal_decisions(exercise);
		kmt_exercise_assert_same(decisions, other_decisions,
					 "decisions");
		kmt_exercise_assert_same(live, other_live, "live objects");
		g_assert_cmpmem(&findings, sizeof(findings),
				&exercise->findings, sizeof(findings));
	}
}

void kmt_exercise(const KmtInputCapture *capture, gint64 tolerance_ns,
		  gint64 stop_ns, gboolean threads)
{
	KmtExercise exercise = new_exercise(capture);

	kmt_exercise_check_merge(capture);
	compare_runs(&exercise, tolerance_ns, threads);
	if (stop_ns != G_MAXINT64)
		compare_stopped(&exercise, tolerance_ns, stop_ns);
	clear_exercise(&exercise);
}

char *kmt_exercise_digest(const KmtInputCapture *capture, gint64 tolerance_ns)
{
	KmtExercise exercise = new_exercise(capture);
	g_autoptr(GArray) decisions = NULL, live = NULL;
	g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA1);

	kmt_exercise_run_pipeline(&exercise, 1, 2, tolerance_ns, G_MAXINT64,
				  &live);
	decisions = kmt_exercise_steal_decisions(&exercise);
	clear_exercise(&exercise);
	g_checksum_update(checksum, (const guchar *)decisions->data,
			  decisions->len * sizeof(KmtExerciseDecision));
	g_checksum_update(checksum, (const guchar *)live->data,
			  live->len * sizeof(KmtExerciseObject));
	return g_strdup_printf("%" G_GUINT64_FORMAT " records, %u live, %s",
			       capture->n_records, live->len,
			       g_checksum_get_string(checksum));
}
