/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decoder of events in a page of ftrace's ring buffer. An event begins with a
 * word: 5 bits of type or length, and 27 bits of time since the previous event.
 * The kernel's file events/header_event describes the same format.
 */
#ifndef KMEMTRACE_TRACEPOINTS_RING_EVENT_H
#define KMEMTRACE_TRACEPOINTS_RING_EVENT_H

#include "lib/tracepoints/kmem-events.h"

/*
 * Values of an event's type. The values 1 to 28 are the length of the data in
 * words.
 */
enum {
	KMT_TRACEPOINT_RING_LONG = 0, /* the length follows in the next word */
	KMT_TRACEPOINT_RING_PADDING = 29,
	KMT_TRACEPOINT_RING_TIME_EXTEND = 30,
	KMT_TRACEPOINT_RING_TIME_STAMP = 31,
};

#define KMT_TRACEPOINT_RING_WORD_BYTES ((gsize)4)
#define KMT_TRACEPOINT_RING_TYPE_BITS  5
#define KMT_TRACEPOINT_RING_DELTA_BITS 27

/* Number of valid lower bits of an absolute timestamp. */
#define KMT_TRACEPOINT_RING_STAMP_BITS 59

/*
 * Bits of a page's commit word: the length of the data; flag that events before
 * the page were lost; flag that their number follows the data.
 */
#define KMT_TRACEPOINT_RING_COMMIT_MASK	  ((1U << 27) - 1)
#define KMT_TRACEPOINT_RING_COMMIT_MISSED (1U << 31)
#define KMT_TRACEPOINT_RING_COMMIT_STORED (1U << 30)

/* Position in the data of a ring buffer page. */
typedef struct {
	const guint8 *next, *end;
	guint64 time_ns; /* time of the previous event; initially of the page */
	gboolean damaged; /* the rest of the page is not a valid sequence of
			   * events */
} KmtTracepointCursor;

/* Return the time whose lower 27 bits are delta, and whose upper bits are in
 * the word at next. */
static inline guint64 kmt_tracepoint_ring_long_time(guint32 delta,
						    const guint8 *next)
{
	return ((guint64)kmt_tracepoint_load32(next)
		<< KMT_TRACEPOINT_RING_DELTA_BITS) +
	       delta;
}

/*
 * Complete an absolute timestamp with the upper bits of the previous event's
 * time.
 */
static inline guint64 kmt_tracepoint_ring_complete_time(guint64 stamp,
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

/*
 * Split the first word of an event, in the host's byte order, into type and
 * time delta.
 */
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

/* Mark the page as damaged and skip the rest of the page. Returns NULL. */
static inline const guint8 *
kmt_tracepoint_ring_set_damaged(KmtTracepointCursor *cursor)
{
	cursor->damaged = TRUE;
	cursor->next = cursor->end;
	return NULL;
}

/*
 * Skip an entry that is not an event: a timestamp or a discarded event, whose
 * type is KMT_TRACEPOINT_RING_PADDING or more. Update cursor->time_ns. body
 * points behind the entry's first word; at least one word follows there.
 * Returns FALSE if the page is damaged.
 */
static inline gboolean kmt_tracepoint_ring_skip(KmtTracepointCursor *cursor,
						guint type, guint32 delta,
						const guint8 *body)
{
	gsize length = KMT_TRACEPOINT_RING_WORD_BYTES;

	if (type == KMT_TRACEPOINT_RING_TIME_EXTEND) {
		cursor->time_ns += kmt_tracepoint_ring_long_time(delta, body);
	} else if (type == KMT_TRACEPOINT_RING_TIME_STAMP) {
		cursor->time_ns = kmt_tracepoint_ring_complete_time(
			kmt_tracepoint_ring_long_time(delta, body),
			cursor->time_ns);
	} else {
		/* The length of a discarded event does not include the first
		 * word. A delta of 1 distinguishes a discarded event from the
		 * end of the page and is not a time. */
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
 * Return the data of an event and set *n_bytes to its size. body points behind
 * the event's first word. Advances the cursor. Returns NULL if the page is
 * damaged.
 */
static inline const guint8 *
kmt_tracepoint_ring_read_data(KmtTracepointCursor *cursor, guint type,
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
	/* The length includes its own word. The event is padded to a multiple
	 * of a word. */
	length = kmt_tracepoint_load32(body);
	if (length < KMT_TRACEPOINT_RING_WORD_BYTES || length > left)
		return NULL;
	cursor->next = body + MIN((length + 3) & ~(gsize)3, left);
	*n_bytes = length - KMT_TRACEPOINT_RING_WORD_BYTES;
	return body + KMT_TRACEPOINT_RING_WORD_BYTES;
}

/*
 * Return the data of the next event and set *n_bytes to its size;
 * cursor->time_ns is its time. Returns NULL at the end of the page, or after
 * damage with cursor->damaged set.
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
		/* End of the data in this page. */
		if (type == KMT_TRACEPOINT_RING_PADDING && delta == 0)
			break;
		if ((type == KMT_TRACEPOINT_RING_LONG ||
		     type >= KMT_TRACEPOINT_RING_PADDING) &&
		    left < KMT_TRACEPOINT_RING_WORD_BYTES)
			return kmt_tracepoint_ring_set_damaged(cursor);
		if (type >= KMT_TRACEPOINT_RING_PADDING) {
			if (!kmt_tracepoint_ring_skip(cursor, type, delta,
						      body))
				return kmt_tracepoint_ring_set_damaged(cursor);
			continue;
		}
		data = kmt_tracepoint_ring_read_data(cursor, type, body,
						     n_bytes);
		if (!data)
			return kmt_tracepoint_ring_set_damaged(cursor);
		cursor->time_ns += delta;
		return data;
	}
	cursor->next = cursor->end;
	return NULL;
}

#endif
