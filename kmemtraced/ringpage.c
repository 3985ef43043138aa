// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "kmemtraced/ringpage.h"

/* Values of an event's first 5 bits; below them it is a length in words. */
enum {
	TYPE_LONG = 0, /* the length follows */
	TYPE_PADDING = 29,
	TYPE_TIME_EXTEND = 30,
	TYPE_TIME_STAMP = 31,
};

#define WORD_BYTES ((gsize)4)
#define TYPE_BITS  5
#define DELTA_BITS 27

/* Of an absolute time there are the lower 59 bits. */
#define STAMP_BITS 59

/* Of commit: bits that are no length. */
#define COMMIT_MISSED (1U << 31)
#define COMMIT_STORED (1U << 30) /* how many is behind the data */
#define COMMIT_MASK   ((1U << 27) - 1)

/* Of common_flags: the task is not the one that does it. */
#define FLAGS_INTERRUPT                                                        \
	(KMT_COMMON_HARDIRQ | KMT_COMMON_SOFTIRQ | KMT_COMMON_NMI)

/* Slab objects and pages are two address spaces. */
#define PAGES_KEY 1

void kmt_ring_format_free(KmtRingFormat *format)
{
	g_ptr_array_unref(format->by_id);
	g_free(format);
}

void kmt_ring_init(KmtRing *ring, const KmtRingFormat *format,
		   KmtOwnTasks *tasks)
{
	memset(ring, 0, sizeof(*ring));
	ring->format = format;
	ring->tasks = tasks;
	ring->last_ns = G_MININT64;
}

/* Events before this page were lost; when, the records around it tell. */
static void note_hole(KmtRing *ring)
{
	KmtRingFigures *f = &ring->figures;

	if (f->holes++ == 0)
		f->lost_from = ring->last_ns == G_MININT64 ? 0 : ring->last_ns;
	ring->after_hole = TRUE;
}

gsize kmt_ring_begin(KmtRing *ring, const guint8 *page, gsize n_bytes)
{
	const KmtRingFormat *format = ring->format;
	guint64 commit;
	gsize used, room;

	ring->next = ring->end = page;
	if (n_bytes < format->data_offset) {
		ring->figures.damaged++;
		return 0;
	}
	commit =
		kmt_field_load(page, (KmtField){(guint16)format->commit_offset,
						(guint16)format->commit_bytes});
	used = commit & COMMIT_MASK;
	room = n_bytes - format->data_offset;
	ring->time_ns = kmt_load64(page);
	if (commit & COMMIT_MISSED)
		note_hole(ring);
	if ((commit & COMMIT_STORED) && used <= room &&
	    room - used >= format->commit_bytes)
		ring->n_lost += kmt_field_load(
			page + format->data_offset + used,
			(KmtField){0, (guint16)format->commit_bytes});
	/* A page that was cut is read as far as it goes. */
	if (used > room) {
		ring->figures.damaged++;
		used = room;
	}
	ring->next = page + format->data_offset;
	ring->end = ring->next + used;
	return used;
}

/* The time that a word and the next one make. */
static guint64 long_time(guint32 delta, const guint8 *next)
{
	return ((guint64)kmt_load32(next) << DELTA_BITS) + delta;
}

/* The upper bits of a time are those of the one before. */
static guint64 whole_time(guint64 stamp, guint64 before)
{
	guint64 upper = before >> STAMP_BITS << STAMP_BITS;

	stamp |= upper;
	if (upper && stamp < before)
		stamp += G_GUINT64_CONSTANT(1) << STAMP_BITS;
	return stamp;
}

static void split_head(guint32 head, guint *type, guint32 *delta)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
	*type = head & ((1U << TYPE_BITS) - 1);
	*delta = head >> TYPE_BITS;
#else
	*type = head >> DELTA_BITS;
	*delta = head & ((1U << DELTA_BITS) - 1);
#endif
}

/* The rest of the page makes no sense. */
static const guint8 *give_up(KmtRing *ring)
{
	ring->figures.damaged++;
	ring->next = ring->end;
	return NULL;
}

/*
 * The data of the next event, and its length; NULL at the end of the page.
 * Time moves with it.
 */
static const guint8 *next_event(KmtRing *ring, gsize *n_bytes)
{
	while (ring->end - ring->next >= (gssize)WORD_BYTES) {
		const guint8 *body = ring->next + WORD_BYTES;
		gsize left = (gsize)(ring->end - body);
		gsize length;
		guint32 delta;
		guint type;

		split_head(kmt_load32(ring->next), &type, &delta);
		/* Nothing follows on this page. */
		if (type == TYPE_PADDING && delta == 0)
			break;
		if ((type == TYPE_LONG || type >= TYPE_PADDING) &&
		    left < WORD_BYTES)
			return give_up(ring);
		switch (type) {
		case TYPE_TIME_EXTEND:
			ring->time_ns += long_time(delta, body);
			ring->next = body + WORD_BYTES;
			continue;
		case TYPE_TIME_STAMP:
			ring->time_ns = whole_time(long_time(delta, body),
						   ring->time_ns);
			ring->next = body + WORD_BYTES;
			continue;
		case TYPE_PADDING:
			/* Taken back; the 1 only says that it is not the end.
			 * Its length counts from behind the first word. */
			length = kmt_load32(body);
			if (delta != 1)
				ring->time_ns += delta;
			if (length > left)
				return give_up(ring);
			ring->next = body + length;
			continue;
		case TYPE_LONG:
			/* It counts its own word. */
			length = kmt_load32(body);
			if (length < WORD_BYTES || length > left)
				return give_up(ring);
			ring->next = body + ((length + 3) & ~(gsize)3);
			*n_bytes = length - WORD_BYTES;
			body += WORD_BYTES;
			break;
		default:
			length = type * WORD_BYTES;
			if (length > left)
				return give_up(ring);
			ring->next = body + length;
			*n_bytes = length;
			break;
		}
		if (ring->next > ring->end)
			ring->next = ring->end;
		ring->time_ns += delta;
		return body;
	}
	ring->next = ring->end;
	return NULL;
}

/* Whether it is kmemtraced's own. */
static gboolean is_own(KmtRing *ring, const guint8 *data,
		       const struct kmemtrace_event *e)
{
	guint64 key = e->type_id == KMEMTRACE_TYPE_PAGES ? e->ptr | PAGES_KEY
							 : e->ptr;
	gboolean by_us, was_ours;

	if (!ring->tasks)
		return FALSE;
	by_us = !(kmt_field_load(data, ring->format->common.flags) &
		  FLAGS_INTERRUPT) &&
		kmt_own_tasks_has(
			ring->tasks,
			(gint32)kmt_field_load(data, ring->format->common.pid));
	if (by_us && e->event_id == KMEMTRACE_EVENT_ALLOC) {
		kmt_own_set_add(&ring->own, key);
		return TRUE;
	}
	was_ours = kmt_own_set_remove(&ring->own, key);
	return by_us && was_ours;
}

/* A record's time never goes back, whatever the clock does. */
static void put_in_order(KmtRing *ring, struct kmemtrace_event *e)
{
	if (e->timestamp < ring->last_ns) {
		e->timestamp = ring->last_ns;
		ring->figures.backwards++;
	}
	ring->last_ns = e->timestamp;
	if (ring->after_hole) {
		ring->figures.lost_until = e->timestamp;
		ring->after_hole = FALSE;
	}
}

/* In an interrupt the task is only the one that it came upon. */
static guint16 context(guint common_flags)
{
	if (common_flags & (KMT_COMMON_HARDIRQ | KMT_COMMON_NMI))
		return KMEMTRACE_FLAG_HARDIRQ;
	return common_flags & KMT_COMMON_SOFTIRQ ? KMEMTRACE_FLAG_SOFTIRQ : 0;
}

/* What version 2 has beyond version 1; cache has no number here. */
static void finish(const KmtRing *ring, const guint8 *data,
		   struct kmemtrace_event_v2 *record)
{
	const KmtCommonFields *common = &ring->format->common;

	record->v1.event_size = KMEMTRACE_EVENT_SIZE_V2;
	record->pid = (guint32)kmt_field_load(data, common->pid);
	record->cache = KMEMTRACE_CACHE_NONE;
	record->flags = context((guint)kmt_field_load(data, common->flags));
}

/* All of them were lost before the page. */
static void put_lost(KmtRing *ring, struct kmemtrace_event_v2 *to)
{
	struct kmemtrace_event_lost lost = {
		.event_id = KMEMTRACE_EVENT_LOST,
		.event_size = KMEMTRACE_EVENT_SIZE_V2,
		.node = KMEMTRACE_NODE_NONE,
		.events = ring->n_lost,
		.timestamp = (gint64)ring->time_ns,
	};

	lost.timestamp = MAX(lost.timestamp, ring->last_ns);
	lost.since =
		ring->last_ns == G_MININT64 ? lost.timestamp : ring->last_ns;
	ring->last_ns = lost.timestamp;
	ring->n_lost = 0;
	memcpy(to, &lost, sizeof(lost));
}

/* FALSE: it is not about a task's name. */
static gboolean take_task(KmtRing *ring, guint64 id, const guint8 *data,
			  gsize n_bytes)
{
	for (guint i = 0; i < KMT_N_TASK_POINTS; i++) {
		const KmtTaskPoint *point = &ring->format->tasks[i];
		KmtTaskChange change;

		if (point->min_bytes == 0 || point->id != id)
			continue;
		if (n_bytes < point->min_bytes) {
			ring->figures.damaged++;
		} else if (ring->changes) {
			kmt_task_point_convert(point, i, data,
					       (gint64)ring->time_ns, &change);
			kmt_task_changes_add(ring->changes, &change);
		}
		return TRUE;
	}
	return FALSE;
}

gsize kmt_ring_next(KmtRing *ring, struct kmemtrace_event_v2 *to, gsize max)
{
	const KmtRingFormat *format = ring->format;
	const GPtrArray *by_id = format->by_id;
	const guint8 *data;
	gsize n = 0, n_bytes;

	if (ring->n_lost && max > 0)
		put_lost(ring, &to[n++]);
	while (n < max && (data = next_event(ring, &n_bytes))) {
		const KmtTracepoint *point = NULL;
		guint64 id;

		if (n_bytes < format->common.bytes) {
			ring->figures.damaged++;
			continue;
		}
		id = kmt_field_load(data, format->common.type);
		if (id < by_id->len)
			point = by_id->pdata[id];
		if (!point) {
			if (!take_task(ring, id, data, n_bytes))
				ring->figures.unknown++;
		} else if (n_bytes < point->min_bytes) {
			ring->figures.damaged++;
		} else if (!kmt_tracepoint_convert(point, data,
						   (gint64)ring->time_ns,
						   &to[n].v1)) {
			ring->figures.no_memory++;
		} else if (is_own(ring, data, &to[n].v1)) {
			ring->figures.own++;
		} else {
			put_in_order(ring, &to[n].v1);
			finish(ring, data, &to[n]);
			n++;
		}
	}
	ring->figures.records += n;
	return n;
}
