// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "trace/merge.h"

/* One file's next record, and the time it is sorted by. */
typedef struct {
	const KmtCpuFile *file;
	guint64 index; /* of the next record to look at after event */
	gint64 key; /* timestamp, or the largest before it if that is later */
	struct kmemtrace_event event;
} Source;

/*
 * A binary heap of the sources that have a record left, the next one on top.
 * A step costs log2(files) comparisons at most, and two when the next record
 * is of the same file as the last one.
 */
struct KmtMerge {
	Source *sources; /* one per file, for ownership */
	Source **heap;
	guint n_heap;
	guint64 skipped;
	guint64 unordered;
};

static gboolean usable(const KmtCpuFile *file,
		       const struct kmemtrace_event *event)
{
	return (event->event_id == KMEMTRACE_EVENT_ALLOC ||
		event->event_id == KMEMTRACE_EVENT_FREE) &&
	       event->type_id <= KMEMTRACE_TYPE_PAGES &&
	       event->event_size == file->record_size && event->ptr != 0;
}

/* Moves to the next usable record.  FALSE at the end of the file. */
static gboolean advance(KmtMerge *merge, Source *s)
{
	gint64 previous = s->event.timestamp;

	while (s->index < s->file->n_records) {
		kmt_cpu_file_get(s->file, s->index++, &s->event);
		if (!usable(s->file, &s->event)) {
			merge->skipped++;
			continue;
		}
		s->key = MAX(s->key, s->event.timestamp);
		if (s->event.timestamp < previous)
			merge->unordered++;
		return TRUE;
	}
	return FALSE;
}

static gboolean before(const Source *a, const Source *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return a->file->position < b->file->position;
}

static void sift_down(KmtMerge *merge, guint i)
{
	Source *moving = merge->heap[i];
	guint child;

	while ((child = 2 * i + 1) < merge->n_heap) {
		if (child + 1 < merge->n_heap &&
		    before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!before(merge->heap[child], moving))
			break;
		merge->heap[i] = merge->heap[child];
		i = child;
	}
	merge->heap[i] = moving;
}

KmtMerge *kmt_merge_new(const KmtCapture *capture)
{
	KmtMerge *merge = g_new0(KmtMerge, 1);
	guint n = capture->files->len;
	guint i;

	merge->sources = g_new0(Source, n);
	merge->heap = g_new0(Source *, n);
	for (i = 0; i < n; i++) {
		Source *s = &merge->sources[i];

		s->file = capture->files->pdata[i];
		s->key = G_MININT64;
		s->event.timestamp = G_MININT64;
		if (advance(merge, s))
			merge->heap[merge->n_heap++] = s;
	}
	for (i = merge->n_heap / 2; i-- > 0;)
		sift_down(merge, i);
	return merge;
}

void kmt_merge_free(KmtMerge *merge)
{
	if (!merge)
		return;
	g_free(merge->heap);
	g_free(merge->sources);
	g_free(merge);
}

gboolean kmt_merge_next(KmtMerge *merge, struct kmemtrace_event *event,
			KmtPosition *position)
{
	Source *top;

	if (merge->n_heap == 0)
		return FALSE;
	top = merge->heap[0];
	*event = top->event;
	position->file = top->file;
	position->index = top->index - 1;
	if (!advance(merge, top))
		merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap > 1)
		sift_down(merge, 0);
	return TRUE;
}

guint64 kmt_merge_skipped(const KmtMerge *merge)
{
	return merge->skipped;
}

guint64 kmt_merge_unordered(const KmtMerge *merge)
{
	return merge->unordered;
}
