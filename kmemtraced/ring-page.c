// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "kmemtraced/ring-page.h"

void kmtd_ring_format_free(KmtdRingFormat *format)
{
	g_ptr_array_unref(format->by_id);
	g_free(format);
}

void kmtd_ring_init(KmtdRing *ring, const KmtdRingFormat *format,
		    KmtdOwnTasks *tasks)
{
	memset(ring, 0, sizeof(*ring));
	ring->format = format;
	ring->tasks = tasks;
	ring->last_ns = G_MININT64;
	kmt_tracepoint_pairs_init(&ring->pairs, &format->inner);
}

void kmtd_ring_clear(KmtdRing *ring)
{
	kmt_tracepoint_pairs_clear(&ring->pairs);
}

void kmtd_ring_end(KmtdRing *ring)
{
	kmt_tracepoint_pairs_cut(&ring->pairs);
}

gint64 kmtd_ring_held_since(const KmtdRing *ring)
{
	const KmtTracepointPairs *pairs = &ring->pairs;

	return pairs->n ? pairs->held[pairs->first].v2.v1.timestamp
			: G_MAXINT64;
}

/*
 * Count a page or an event that cannot be read. An event before and an event
 * after the unreadable part must not be taken for the two events of one
 * kmalloc(), because that part may contain events of any task.
 */
static void count_damage(KmtdRing *ring)
{
	ring->counters.damaged++;
	kmt_tracepoint_pairs_cut(&ring->pairs);
}

/*
 * Record that events before this page were lost. The neighbouring records bound
 * the time of the loss.
 */
static void record_gap(KmtdRing *ring)
{
	KmtdRingCounters *c = &ring->counters;

	if (c->gaps++ == 0)
		c->lost_from = ring->last_ns == G_MININT64 ? 0 : ring->last_ns;
	ring->after_gap = TRUE;
	kmt_tracepoint_pairs_cut(&ring->pairs);
}

gsize kmtd_ring_begin(KmtdRing *ring, const guint8 *page, gsize n_bytes)
{
	const KmtdRingFormat *format = ring->format;
	guint64 commit;
	gsize used, room;

	if (ring->is_cut_short)
		kmt_tracepoint_pairs_cut(&ring->pairs);
	ring->is_cut_short = FALSE;
	ring->cursor.next = ring->cursor.end = page;
	if (n_bytes < format->data_offset) {
		count_damage(ring);
		return 0;
	}
	commit = kmt_tracepoint_slot_load(
		page, (KmtTracepointSlot){(guint16)format->commit_offset,
					  (guint16)format->commit_bytes});
	used = commit & KMT_TRACEPOINT_RING_COMMIT_MASK;
	room = n_bytes - format->data_offset;
	ring->cursor.time_ns = kmt_tracepoint_load64(page);
	if (commit & KMT_TRACEPOINT_RING_COMMIT_MISSED)
		record_gap(ring);
	if ((commit & KMT_TRACEPOINT_RING_COMMIT_STORED) && used <= room &&
	    room - used >= format->commit_bytes) {
		ring->n_lost += kmt_tracepoint_slot_load(
			page + format->data_offset + used,
			(KmtTracepointSlot){0, (guint16)format->commit_bytes});
		kmt_tracepoint_pairs_cut(&ring->pairs);
	}
	/* Read a truncated page up to its end. */
	if (used > room) {
		ring->counters.damaged++;
		ring->is_cut_short = TRUE;
		used = room;
	}
	ring->cursor.next = page + format->data_offset;
	ring->cursor.end = ring->cursor.next + used;
	return used;
}

/* Return the data of the next event, or NULL at the end of the page. */
static const guint8 *next_event(KmtdRing *ring, gsize *n_bytes)
{
	const guint8 *data =
		kmt_tracepoint_ring_next_event(&ring->cursor, n_bytes);

	if (ring->cursor.damaged)
		count_damage(ring);
	ring->cursor.damaged = FALSE;
	return data;
}

/*
 * Make the time of the record not earlier than that of the previous record,
 * even if the clock goes backwards.
 */
static void order_time(KmtdRing *ring, struct kmemtrace_event *e)
{
	if (e->timestamp < ring->last_ns) {
		e->timestamp = ring->last_ns;
		ring->counters.backwards++;
	}
	ring->last_ns = e->timestamp;
	if (ring->after_gap) {
		ring->counters.lost_until = e->timestamp;
		ring->after_gap = FALSE;
	}
}

/*
 * Return the record flags for @common_flags. In an interrupt, the current task
 * is only the interrupted one.
 */
static guint16 context_flags(guint common_flags)
{
	if (common_flags &
	    (KMT_TRACEPOINT_COMMON_HARDIRQ | KMT_TRACEPOINT_COMMON_NMI))
		return KMEMTRACE_FLAG_HARDIRQ;
	return common_flags & KMT_TRACEPOINT_COMMON_SOFTIRQ
		       ? KMEMTRACE_FLAG_SOFTIRQ
		       : 0;
}

/*
 * Set the fields that version 2 adds to version 1. Caches have no numbers in
 * this source.
 */
static void set_version2_fields(const KmtdRing *ring, const guint8 *data,
				struct kmemtrace_event_v2 *record)
{
	const KmtTracepointCommonFields *common = &ring->format->common;

	record->v1.event_size = KMEMTRACE_EVENT_SIZE_V2;
	record->pid = (guint32)kmt_tracepoint_slot_load(data, common->pid);
	record->cache = KMEMTRACE_CACHE_NONE;
	record->flags = context_flags(
		(guint)kmt_tracepoint_slot_load(data, common->flags));
}

/*
 * Write a record of lost events, at the time of the page: all these events were
 * lost before the page.
 */
static void write_lost(KmtdRing *ring, struct kmemtrace_event_v2 *to)
{
	struct kmemtrace_event_lost lost = {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = KMEMTRACE_EVENT_SIZE_V2,
		.node = KMEMTRACE_NODE_NONE,
		.events = ring->n_lost,
		.timestamp = (gint64)ring->cursor.time_ns,
	};

	lost.timestamp = MAX(lost.timestamp, ring->last_ns);
	lost.since =
		ring->last_ns == G_MININT64 ? lost.timestamp : ring->last_ns;
	ring->last_ns = lost.timestamp;
	ring->n_lost = 0;
	memcpy(to, &lost, sizeof(lost));
}

/*
 * Process an event of the task tracepoints. Return FALSE if the event is of
 * another tracepoint.
 */
static gboolean process_task(KmtdRing *ring, guint64 id, const guint8 *data,
			     gsize n_bytes)
{
	for (guint i = 0; i < KMT_TRACEPOINT_N_TASKS; i++) {
		const KmtTracepointTask *point = &ring->format->tasks[i];
		KmtTracepointTaskChange change;

		if (point->min_bytes == 0 || point->id != id)
			continue;
		if (n_bytes < point->min_bytes) {
			count_damage(ring);
		} else if (ring->changes) {
			kmt_tracepoint_task_convert(
				point, i, data, (gint64)ring->cursor.time_ns,
				&change);
			kmtd_task_changes_add(ring->changes, &change);
		}
		return TRUE;
	}
	return FALSE;
}

/*
 * Convert an event to *to. Return FALSE if the event has no record. data has
 * n_bytes.
 */
static gboolean convert_event(KmtdRing *ring, const guint8 *data, gsize n_bytes,
			      struct kmemtrace_event_v2 *to)
{
	const KmtdRingFormat *format = ring->format;
	const KmtTracepoint *point = NULL;
	guint64 id;

	ring->counters.events++;
	if (n_bytes < format->common.bytes) {
		count_damage(ring);
		return FALSE;
	}
	id = kmt_tracepoint_slot_load(data, format->common.type);
	if (id < format->by_id->len)
		point = format->by_id->pdata[id];
	if (!point) {
		if (!process_task(ring, id, data, n_bytes))
			ring->counters.unknown++;
	} else if (n_bytes < point->min_bytes) {
		count_damage(ring);
	} else if (!kmt_tracepoint_convert(point, data,
					   (gint64)ring->cursor.time_ns,
					   &to->v1)) {
		ring->counters.no_memory++;
	} else {
		set_version2_fields(ring, data, to);
		if (!ring->tasks ||
		    !kmtd_self_filter_is_own(&ring->own, ring->tasks, to)) {
			order_time(ring, &to->v1);
			return TRUE;
		}
		ring->counters.own++;
	}
	return FALSE;
}

/* Copy the next record of ring->pairs to *to. Return FALSE if there is none. */
static gboolean take_held(KmtdRing *ring, struct kmemtrace_event_v2 *to)
{
	const struct kmemtrace_event_v2s *record =
		kmt_tracepoint_pairs_next(&ring->pairs);

	if (record)
		*to = record->v2;
	return record != NULL;
}

gsize kmtd_ring_next(KmtdRing *ring, struct kmemtrace_event_v2 *to, gsize max)
{
	const guint8 *data;
	gsize n = 0, n_bytes;

	while (n < max) {
		if (ring->pairs.n && take_held(ring, &to[n])) {
			n++;
			continue;
		}
		if (ring->n_lost) {
			write_lost(ring, &to[n++]);
			continue;
		}
		data = next_event(ring, &n_bytes);
		if (!data) {
			/* Records are held and none waits for its second event:
			 * next_event() found damage, which ended the waiting.
			 * Return the held records.
			 */
			if (ring->pairs.n && !ring->pairs.n_open)
				continue;
			break;
		}
		if (!convert_event(ring, data, n_bytes, &to[n]))
			continue;
		if (kmt_tracepoint_pairs_passes(&ring->pairs, &to[n].v1))
			n++;
		else
			kmt_tracepoint_pairs_add(&ring->pairs, &to[n],
						 sizeof(to[n]));
	}
	ring->counters.records += n;
	return n;
}
