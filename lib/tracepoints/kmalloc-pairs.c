// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/tracepoints/kmalloc-pairs.h"

#define CONTEXT_FLAGS (KMEMTRACE_FLAG_SOFTIRQ | KMEMTRACE_FLAG_HARDIRQ)

void kmt_tracepoint_pairs_init(KmtTracepointPairs *pairs,
			       const KmtTracepointInner *inner)
{
	*pairs = (KmtTracepointPairs){.inner = inner};
}

void kmt_tracepoint_pairs_clear(KmtTracepointPairs *pairs)
{
	g_clear_pointer(&pairs->held, g_free);
	pairs->n = pairs->n_open = 0;
}

static gboolean is_same_context(const struct kmemtrace_event_v2 *a,
				const struct kmemtrace_event_v2 *b)
{
	return a->pid == b->pid &&
	       (a->flags & CONTEXT_FLAGS) == (b->flags & CONTEXT_FLAGS);
}

static void mark_dropped(KmtTracepointPairs *pairs, guint slot)
{
	pairs->dropped[slot / 64] |= G_GUINT64_CONSTANT(1) << slot % 64;
	pairs->n_dropped++;
}

/* Return whether a record was dropped, and clear its bit. */
static gboolean take_dropped(KmtTracepointPairs *pairs, guint slot)
{
	guint64 bit = G_GUINT64_CONSTANT(1) << slot % 64;
	gboolean was_dropped = (pairs->dropped[slot / 64] & bit) != 0;

	pairs->dropped[slot / 64] &= ~bit;
	return was_dropped;
}

/* Return whether an event reports memory of kmalloc() from whole pages. */
static gboolean is_large_kmalloc(const struct kmemtrace_event *e)
{
	return e->event_id == KMEMTRACE_EVENT_ALLOC &&
	       e->type_id == KMEMTRACE_TYPE_KMALLOC &&
	       e->bytes_alloc > KMT_TRACEPOINT_PAIRS_BYTES &&
	       (e->bytes_alloc & (e->bytes_alloc - 1)) == 0;
}

/* Remember a page allocation as a possible source of a large kmalloc(). */
static void add_pages(KmtTracepointPairs *pairs,
		      const struct kmemtrace_event_v2 *record)
{
	pairs->pages[pairs->next_pages] = (KmtTracepointPairsPages){
		.pid = record->pid,
		.context = record->flags & CONTEXT_FLAGS,
		.bytes = record->v1.bytes_alloc,
	};
	pairs->next_pages =
		(pairs->next_pages + 1) % KMT_TRACEPOINT_PAIRS_PAGES;
}

/*
 * Return whether the page allocator reported the memory of a large kmalloc(),
 * and remove that report.
 */
static gboolean take_pages(KmtTracepointPairs *pairs,
			   const struct kmemtrace_event_v2 *record)
{
	for (guint i = 0; i < KMT_TRACEPOINT_PAIRS_PAGES; i++) {
		KmtTracepointPairsPages *pages = &pairs->pages[i];

		if (pages->bytes != record->v1.bytes_alloc ||
		    pages->pid != record->pid ||
		    pages->context != (record->flags & CONTEXT_FLAGS))
			continue;
		pages->bytes = 0;
		return TRUE;
	}
	return FALSE;
}

/* Return whether b is the second event of the allocation that a reported. */
static gboolean is_pair(const KmtTracepointPairs *pairs,
			const KmtTracepointPairsOpen *open,
			const struct kmemtrace_event *a,
			const struct kmemtrace_event *b)
{
	if (!is_large_kmalloc(b) || a->ptr != b->ptr ||
	    a->bytes_req != b->bytes_req || a->bytes_alloc != b->bytes_alloc ||
	    a->gfp_flags != b->gfp_flags || a->node != b->node ||
	    a->call_site == b->call_site)
		return FALSE;
	return pairs->inner->is_known
		       ? kmt_tracepoint_inner_has(pairs->inner, a->call_site)
		       : open->has_pages;
}

/*
 * If an event of the record's context waits for its second event, return
 * whether record is that event, and drop the waiting one in this case.
 * Otherwise return FALSE. Afterwards no event of the context waits.
 */
static gboolean decide(KmtTracepointPairs *pairs,
		       const struct kmemtrace_event_v2 *record)
{
	for (guint i = 0; i < pairs->n_open; i++) {
		KmtTracepointPairsOpen open = pairs->open[i];
		const struct kmemtrace_event_v2 *first =
			&pairs->held[open.slot].v2;

		if (!is_same_context(first, record))
			continue;
		pairs->n_open--;
		memmove(&pairs->open[i], &pairs->open[i + 1],
			(pairs->n_open - i) * sizeof(open));
		if (!is_pair(pairs, &open, &first->v1, &record->v1))
			return FALSE;
		mark_dropped(pairs, open.slot);
		return TRUE;
	}
	return FALSE;
}

/* Decide that the oldest possible first event is not dropped: stop waiting for
 * its second event. */
static void keep_oldest(KmtTracepointPairs *pairs)
{
	if (pairs->n_open == 0)
		return;
	pairs->n_open--;
	memmove(&pairs->open[0], &pairs->open[1],
		pairs->n_open * sizeof(pairs->open[0]));
}

/* Wait for the second event of the record in slot, if it can be a first one. */
static void open_pair(KmtTracepointPairs *pairs, guint slot)
{
	const struct kmemtrace_event_v2 *record = &pairs->held[slot].v2;
	gboolean has_pages;

	if (!is_large_kmalloc(&record->v1))
		return;
	has_pages = take_pages(pairs, record);
	if (!has_pages && !pairs->inner->is_known)
		return;
	if (pairs->n_open == KMT_TRACEPOINT_PAIRS_OPEN_MAX)
		keep_oldest(pairs);
	pairs->open[pairs->n_open++] =
		(KmtTracepointPairsOpen){.slot = slot, .has_pages = has_pages};
}

void kmt_tracepoint_pairs_add(KmtTracepointPairs *pairs,
			      const struct kmemtrace_event_v2 *record,
			      gsize n_bytes)
{
	guint slot = (pairs->first + pairs->n) % KMT_TRACEPOINT_PAIRS_HELD_MAX;

	if (!pairs->held)
		pairs->held = g_new0(struct kmemtrace_event_v2s,
				     KMT_TRACEPOINT_PAIRS_HELD_MAX);
	memcpy(&pairs->held[slot], record, n_bytes);
	pairs->n++;
	if (record->v1.event_id == KMEMTRACE_EVENT_LOST) {
		kmt_tracepoint_pairs_cut(pairs);
		return;
	}
	if (!decide(pairs, record))
		open_pair(pairs, slot);
	if (record->v1.type_id == KMEMTRACE_TYPE_PAGES &&
	    record->v1.event_id == KMEMTRACE_EVENT_ALLOC &&
	    record->v1.bytes_alloc > KMT_TRACEPOINT_PAIRS_BYTES)
		add_pages(pairs, record);
	/* The ring is full. Stop waiting for the oldest possible first event,
	 * so that kmt_tracepoint_pairs_next() returns at least one record. */
	if (pairs->n == KMT_TRACEPOINT_PAIRS_HELD_MAX)
		keep_oldest(pairs);
}

struct kmemtrace_event_v2s *kmt_tracepoint_pairs_next(KmtTracepointPairs *pairs)
{
	while (pairs->n &&
	       (pairs->n_open == 0 || pairs->open[0].slot != pairs->first)) {
		guint slot = pairs->first;

		pairs->first = (slot + 1) % KMT_TRACEPOINT_PAIRS_HELD_MAX;
		pairs->n--;
		if (!take_dropped(pairs, slot))
			return &pairs->held[slot];
	}
	return NULL;
}

void kmt_tracepoint_pairs_cut(KmtTracepointPairs *pairs)
{
	pairs->n_open = 0;
	memset(pairs->pages, 0, sizeof(pairs->pages));
}
