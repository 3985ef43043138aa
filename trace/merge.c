// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "trace/merge.h"

/*
 * One file's next record.  If its timestamp is below that of the one before it,
 * it wins the next match: no other source has a record as early as the one
 * before.  So position rules in a file without further ado.
 */
typedef struct {
	const KmtCpuFile *file;
	guint64 index;
	gint64 timestamp;
} Source;

/* A source in the tree.  id is its place, plus the number of sources once it
 * has no record left, so that it comes after all others. */
typedef struct {
	gint64 key;
	guint32 id;
} Runner;

/*
 * A loser tree: runners[i] is the one that lost at node i, whose children are
 * 2i and 2i + 1; the leaves, n .. 2n - 1, are the sources.  A step costs one
 * comparison for each level and no guess about where the next record is from.
 */
struct KmtMerge {
	Source *sources;
	Runner *runners;
	guint n;
	Runner winner;
	guint64 skipped;
	guint64 unordered;
};

static gboolean usable(const KmtCpuFile *file,
		       const struct kmemtrace_event *event)
{
	guint16 size = event->event_size;

	if (file->swapped)
		size = GUINT16_SWAP_LE_BE(size);
	return (event->event_id == KMEMTRACE_EVENT_ALLOC ||
		event->event_id == KMEMTRACE_EVENT_FREE) &&
	       event->type_id <= KMEMTRACE_TYPE_PAGES &&
	       size == file->record_size && event->ptr != 0;
}

/* Moves to the next usable record from s->index on.  FALSE: there is none. */
static gboolean settle(KmtMerge *merge, Source *s)
{
	const KmtCpuFile *file = s->file;

	for (; s->index < file->n_records; s->index++) {
		struct kmemtrace_event event;
		gint64 t;

		memcpy(&event, file->map + s->index * file->record_size,
		       sizeof(event));
		if (!usable(file, &event)) {
			merge->skipped++;
			continue;
		}
		t = event.timestamp;
		if (file->swapped)
			t = (gint64)GUINT64_SWAP_LE_BE((guint64)t);
		if (t < s->timestamp)
			merge->unordered++;
		/* With many files the processor does not see what is next. */
		__builtin_prefetch(file->map +
				   (s->index + 2) * file->record_size);
		s->timestamp = t;
		return TRUE;
	}
	return FALSE;
}

static Runner runner_of(KmtMerge *merge, guint32 i)
{
	Runner r = {G_MAXINT64, i + merge->n};

	if (settle(merge, &merge->sources[i])) {
		r.key = merge->sources[i].timestamp;
		r.id = i;
	}
	return r;
}

static gboolean before(Runner a, Runner b)
{
	return a.key < b.key || (a.key == b.key && a.id < b.id);
}

/* Lets r run from its leaf to the top.  Without branches, as which one wins is
 * hard to foretell: the two are swapped under a mask. */
static void replay(KmtMerge *merge, guint leaf, Runner r)
{
	guint node;

	for (node = leaf / 2; node; node /= 2) {
		Runner *other = &merge->runners[node];
		guint64 swap = -(
			guint64)((other->key < r.key) |
				 ((other->key == r.key) & (other->id < r.id)));
		guint64 key = ((guint64)other->key ^ (guint64)r.key) & swap;
		guint32 id = (other->id ^ r.id) & (guint32)swap;

		other->key = (gint64)((guint64)other->key ^ key);
		other->id ^= id;
		r.key = (gint64)((guint64)r.key ^ key);
		r.id ^= id;
	}
	merge->winner = r;
}

/* Plays the matches below node for the first time.  Returns the winner. */
static Runner play(KmtMerge *merge, guint node)
{
	Runner a, b;

	if (node >= merge->n)
		return runner_of(merge, node - merge->n);
	a = play(merge, 2 * node);
	b = play(merge, 2 * node + 1);
	merge->runners[node] = before(a, b) ? b : a;
	return before(a, b) ? a : b;
}

KmtMerge *kmt_merge_new(const KmtCapture *capture)
{
	KmtMerge *merge = g_new0(KmtMerge, 1);
	guint i;

	merge->n = capture->files->len;
	merge->sources = g_new0(Source, merge->n);
	merge->runners = g_new0(Runner, merge->n);
	for (i = 0; i < merge->n; i++) {
		merge->sources[i].file = capture->files->pdata[i];
		merge->sources[i].timestamp = G_MININT64;
	}
	merge->winner = play(merge, 1);
	return merge;
}

void kmt_merge_free(KmtMerge *merge)
{
	if (!merge)
		return;
	g_free(merge->runners);
	g_free(merge->sources);
	g_free(merge);
}

gboolean kmt_merge_next(KmtMerge *merge, struct kmemtrace_event *event,
			KmtPosition *position)
{
	guint32 i = merge->winner.id;
	Source *s;

	if (i >= merge->n)
		return FALSE;
	s = &merge->sources[i];
	position->file = s->file;
	position->index = s->index++;
	kmt_cpu_file_get(s->file, position->index, event);
	replay(merge, merge->n + i, runner_of(merge, i));
	return TRUE;
}

guint kmt_merge_next_batch(KmtMerge *merge, KmtMerged *records, guint max)
{
	guint n = 0;

	while (n < max &&
	       kmt_merge_next(merge, &records[n].event, &records[n].position))
		n++;
	return n;
}

static gboolean time_at(const KmtCpuFile *file, guint64 index, gint64 *time)
{
	struct kmemtrace_event event;

	memcpy(&event, file->map + index * file->record_size, sizeof(event));
	if (!usable(file, &event))
		return FALSE;
	kmt_cpu_file_get(file, index, &event);
	*time = event.timestamp;
	return TRUE;
}

gboolean kmt_merge_span(const KmtCpuFile *file, gint64 *first, gint64 *last)
{
	guint64 i = 0, end = file->n_records;

	while (i < end && !time_at(file, i, first))
		i++;
	while (end > i && !time_at(file, end - 1, last))
		end--;
	return i < end;
}

guint64 kmt_merge_skipped(const KmtMerge *merge)
{
	return merge->skipped;
}

guint64 kmt_merge_unordered(const KmtMerge *merge)
{
	return merge->unordered;
}
