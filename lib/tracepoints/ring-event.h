/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The events in a page of ftrace's ring buffer.  Each begins with a word: 5
 * bits of type or length, 27 bits of time since the event before.  The kernel's
 * events/header_event describes the same.
 */
#ifndef KMEMTRACE_TRACEPOINTS_RING_EVENT_H
#define KMEMTRACE_TRACEPOINTS_RING_EVENT_H

#include "lib/tracepoints/kmem-events.h"

/* Values of an event's type; 1 to 28 are the length of its data in words. */
enum {
	KMT_TRACEPOINT_RING_LONG = 0, /* the length follows */
	KMT_TRACEPOINT_RING_PADDING = 29,
	KMT_TRACEPOINT_RING_TIME_EXTEND = 30,
	KMT_TRACEPOINT_RING_TIME_STAMP = 31,
};

#define KMT_TRACEPOINT_RING_WORD_BYTES ((gsize)4)
#define KMT_TRACEPOINT_RING_TYPE_BITS  5
#define KMT_TRACEPOINT_RING_DELTA_BITS 27

/* An absolute time has only the lower 59 bits. */
#define KMT_TRACEPOINT_RING_STAMP_BITS 59

/*
 * Bits of a page's commit word: the length of the data; events before the page
 * were lost; their number is behind the data.
 */
#define KMT_TRACEPOINT_RING_COMMIT_MASK	  ((1U << 27) - 1)
#define KMT_TRACEPOINT_RING_COMMIT_MISSED (1U << 31)
#define KMT_TRACEPOINT_RING_COMMIT_STORED (1U << 30)

typedef struct {
	const guint8 *next, *end;
	guint64 time_ns;  /* of the event before; first, of the page */
	gboolean damaged; /* the rest of the page is not a chain of events */
} KmtTracepointCursor;

/* The time that a word and the next one make. */
static inline guint64 kmt_tracepoint_ring_long_time(guint32 delta,
						    const guint8 *next)
{
	return ((guint64)kmt_tracepoint_load32(next)
		<< KMT_TRACEPOINT_RING_DELTA_BITS) +
	       delta;
}

/* Complete the lower bits of a time from the time of the event before. */
static inline guint64 kmt_tracepoint_ring_whole_time(guint64 stamp,
						     guint64 before)
{
	guint64 upper = before >> KMT_TRACEPOINT_RING_STAMP_BITS
					  << KMT_TRACEPOINT_RING_STAMP_BITS;

	stamp |= upper;
	if (upper && stamp < before)
		stamp += G_GUINT64_CONSTANT(1)
			 << KMT_TRACEPOINT_RING_STAMP_BITS;
	return stamp;
}

static inline void kmt_tracepoint_ring_split_head(guint32 head, guint *type,
						  guint32 *delta)
{
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
	*type = head & ((1U << KMT_TRACEPOINT_RING_TYPE_BITS) - 1);
	*delta = head >> KMT_TRACEPOINT_RING_TYPE_BITS;
#else
	*type = head >> KMT_TRACEPOINT_RING_DELTA_BITS;
	*delta = head & ((1U << KMT_TRACEPOINT_RING_DELTA_BITS) - 1);
#endif
}

static inline const guint8 *
kmt_tracepoint_ring_give_up(KmtTracepointCursor *cursor)
{
	cursor->damaged = TRUE;
	cursor->next = cursor->end;
	return NULL;
}

/*
 * Step over an entry that is no event: a time, or a discarded event, of type
 * KMT_TRACEPOINT_RING_PADDING or more.  body is behind its first word, and has
 * one more. FALSE: the page is damaged.
 */
static inline gboolean kmt_tracepoint_ring_skip(KmtTracepointCursor *cursor,
						guint type, guint32 delta,
						const guint8 *body)
{
	gsize length = KMT_TRACEPOINT_RING_WORD_BYTES;

	if (type == KMT_TRACEPOINT_RING_TIME_EXTEND) {
		cursor->time_ns += kmt_tracepoint_ring_long_time(delta, body);
	} else if (type == KMT_TRACEPOINT_RING_TIME_STAMP) {
		cursor->time_ns = kmt_tracepoint_ring_whole_time(
			kmt_tracepoint_ring_long_time(delta, body),
			cursor->time_ns);
	} else {
		/* The length of a discarded event counts from behind the first
		 * word; delta 1 only marks it as no end of the page. */
		length = kmt_tracepoint_load32(body);
		if (delta != 1)
			cursor->time_ns += delta;
		if (length > (gsize)(cursor->end - body))
			return FALSE;
	}
	cursor->next = body + length;
	return TRUE;
}

/*
 * The data of an event, n_bytes long, whose first word is before body.  NULL:
 * the page is damaged.  Moves the cursor behind the event.
 */
static inline const guint8 *
kmt_tracepoint_ring_take(KmtTracepointCursor *cursor, guint type,
			 const guint8 *body, gsize *n_bytes)
{
	gsize left = (gsize)(cursor->end - body);
	gsize length = type * KMT_TRACEPOINT_RING_WORD_BYTES;

	if (type != KMT_TRACEPOINT_RING_LONG) {
		if (length > left)
			return NULL;
		cursor->next = body + length;
		*n_bytes = length;
		return body;
	}
	/* The length includes its own word, and is rounded up to words. */
	length = kmt_tracepoint_load32(body);
	if (length < KMT_TRACEPOINT_RING_WORD_BYTES || length > left)
		return NULL;
	cursor->next = body + MIN((length + 3) & ~(gsize)3, left);
	*n_bytes = length - KMT_TRACEPOINT_RING_WORD_BYTES;
	return body + KMT_TRACEPOINT_RING_WORD_BYTES;
}

/*
 * The data of the next event, n_bytes long, and its time; NULL at the end of
 * the page, or with damaged set.
 */
static inline const guint8 *
kmt_tracepoint_ring_next_event(KmtTracepointCursor *cursor, gsize *n_bytes)
{
	while (cursor->end - cursor->next >=
	       (gssize)KMT_TRACEPOINT_RING_WORD_BYTES) {
		const guint8 *body =
			cursor->next + KMT_TRACEPOINT_RING_WORD_BYTES;
		gsize left = (gsize)(cursor->end - body);
		const guint8 *data;
		guint32 delta;
		guint type;

		kmt_tracepoint_ring_split_head(
			kmt_tracepoint_load32(cursor->next), &type, &delta);
		/* Nothing follows on this page. */
		if (type == KMT_TRACEPOINT_RING_PADDING && delta == 0)
			break;
		if ((type == KMT_TRACEPOINT_RING_LONG ||
		     type >= KMT_TRACEPOINT_RING_PADDING) &&
		    left < KMT_TRACEPOINT_RING_WORD_BYTES)
			return kmt_tracepoint_ring_give_up(cursor);
		if (type >= KMT_TRACEPOINT_RING_PADDING) {
			if (!kmt_tracepoint_ring_skip(cursor, type, delta,
						      body))
				return kmt_tracepoint_ring_give_up(cursor);
			continue;
		}
		data = kmt_tracepoint_ring_take(cursor, type, body, n_bytes);
		if (!data)
			return kmt_tracepoint_ring_give_up(cursor);
		cursor->time_ns += delta;
		return data;
	}
	cursor->next = cursor->end;
	return NULL;
}

#endif
