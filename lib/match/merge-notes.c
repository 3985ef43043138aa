// SPDX-License-Identifier: GPL-2.0-or-later
/* Warnings about the records of a capture: their order, losses, an early end.
 */
#include "config.h"

#include "lib/match/merge-private.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

static void note_time_jump(const KmtMatchMerge *merge, GPtrArray *notes)
{
	const KmtInputCpuFile *file =
		merge->capture->files->pdata[merge->jump_file];
	guint64 gap = (guint64)merge->jump_until - (guint64)merge->jump_from;

	if (gap < KMT_MATCH_TIME_JUMP_NS || merge->capture->has_sequence_times)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf(
			"no CPU has a record between %" G_GINT64_FORMAT " s "
			"and %" G_GINT64_FORMAT " s: the machine was "
			"suspended, or the clock of CPU %u jumped (%s); in "
			"the second case, times and order across the gap are "
			"wrong",
			merge->jump_from / NS_PER_S,
			merge->jump_until / NS_PER_S, file->cpu, file->path));
}

/*
 * Find two files whose times do not overlap. Return FALSE if every two files
 * overlap.
 */
static gboolean find_apart(const KmtMatchMerge *merge, guint *early,
			   guint *late)
{
	gboolean found = FALSE;
	guint i;

	for (i = 0; i < merge->n; i++) {
		const KmtMatchCursor *s = &merge->cursors[i];

		if (!s->started)
			continue;
		if (!found || s->last < merge->cursors[*early].last)
			*early = i;
		if (!found || s->first > merge->cursors[*late].first)
			*late = i;
		found = TRUE;
	}
	return found &&
	       merge->cursors[*late].first > merge->cursors[*early].last;
}

/*
 * Warn about files without a common time. In a capture directory this is
 * normal, because a CPU may be offline.
 */
static void note_apart(const KmtMatchMerge *merge, GPtrArray *notes)
{
	const KmtInputCapture *capture = merge->capture;
	const KmtInputCpuFile *a, *b;
	guint early = 0, late = 0;

	if (capture->directory || capture->meta ||
	    capture->has_sequence_times || !find_apart(merge, &early, &late))
		return;
	a = capture->files->pdata[early];
	b = capture->files->pdata[late];
	g_ptr_array_add(notes,
			g_strdup_printf("the last record of %s is before the "
					"first record of %s: check that the "
					"files belong to one capture",
					a->path, b->path));
}

/* Warn about losses that kmemtrace.meta does not mention. */
static void note_gaps(const KmtMatchMerge *merge, GPtrArray *notes)
{
	const KmtInputCapture *capture = merge->capture;
	guint64 events = 0;
	guint i;

	if (capture->has_overruns && capture->overruns)
		return;
	for (i = 0; i < merge->gaps->len; i++) {
		const KmtMatchGap *gap =
			&g_array_index(merge->gaps, KmtMatchGap, i);

		if (gap->since <= merge->span_stop &&
		    __builtin_add_overflow(events, gap->events, &events))
			events = G_MAXUINT64;
	}
	if (!events)
		return;
	g_ptr_array_add(notes,
			g_strdup_printf("the records report %" G_GUINT64_FORMAT
					" lost events, but kmemtrace.meta %s",
					events,
					!capture->meta ? "is missing"
					: capture->has_overruns
						? "reports none"
						: "has no number"));
}

static void note_stopped(const KmtMatchMerge *merge, GPtrArray *notes)
{
	if (!merge->stop_records)
		return;
	g_ptr_array_add(
		notes,
		g_strdup_printf("the kernel stopped tracing at %.6f s of its "
				"clock: a snapshot was requested (%s), and "
				"there were no spare buffers",
				(double)merge->stop_time / NS_PER_S,
				merge->stop_reason));
}

GPtrArray *kmt_match_merge_notes(const KmtMatchMerge *merge)
{
	GPtrArray *notes = g_ptr_array_new_with_free_func(g_free);

	note_stopped(merge, notes);
	note_gaps(merge, notes);
	note_time_jump(merge, notes);
	note_apart(merge, notes);
	return notes;
}
