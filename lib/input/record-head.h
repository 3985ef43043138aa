/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first four bytes of a record, event_id, type_id, and event_size, as one
 * number. One comparison then tests all three fields of an ALLOC or FREE.
 */
#ifndef KMEMTRACE_INPUT_RECORD_HEAD_H
#define KMEMTRACE_INPUT_RECORD_HEAD_H

#include <string.h>

#include "lib/input/capture.h"
#include "lib/input/namespace.h"

/* Return the first four bytes of a record as a little-endian number. */
static inline guint32 kmt_input_record_head(const KmtInputRawEvent *event)
{
	guint32 head;

	memcpy(&head, event, sizeof(head));
	return GUINT32_FROM_LE(head);
}

/* Return the smallest head of an ALLOC or FREE of this size. */
static inline guint32 kmt_input_first_head(guint record_size)
{
	const struct kmemtrace_event first = {.event_id = KMEMTRACE_EVENT_ALLOC,
					      .event_size =
						      (guint16)record_size};

	return kmt_input_record_head((const KmtInputRawEvent *)&first);
}

/*
 * Return the distance from the smallest to the largest head of an ALLOC or FREE
 * of this size. A smaller distance may be that of a head with another event_id:
 * bits 1 to 7 of the distance must be 0.
 */
static inline guint32 kmt_input_last_head(guint record_size)
{
	return kmt_input_last_type(record_size) << 8 |
	       (KMEMTRACE_EVENT_FREE - KMEMTRACE_EVENT_ALLOC);
}

#endif
