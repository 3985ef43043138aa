// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/input/capture-private.h"

void kmt_input_swap_event(struct kmemtrace_event *event)
{
	event->event_size = GUINT16_SWAP_LE_BE(event->event_size);
	event->node = (gint32)GUINT32_SWAP_LE_BE((guint32)event->node);
	event->call_site = GUINT64_SWAP_LE_BE(event->call_site);
	event->ptr = GUINT64_SWAP_LE_BE(event->ptr);
	event->bytes_req = GUINT64_SWAP_LE_BE(event->bytes_req);
	event->bytes_alloc = GUINT64_SWAP_LE_BE(event->bytes_alloc);
	event->gfp_flags = GUINT64_SWAP_LE_BE(event->gfp_flags);
	event->timestamp =
		(gint64)GUINT64_SWAP_LE_BE((guint64)event->timestamp);
}

/*
 * Copy the known fields of a record and convert them to the byte order of this
 * host. to and from may be equal; if they are not, bytes beyond the known
 * fields remain undefined.
 */
static void swap_record(guint8 *to, const guint8 *from, guint record_size)
{
	struct kmemtrace_event_v2 event;
	struct kmemtrace_event_v2s newest;
	guint32 stack;

	if (record_size < sizeof(event)) {
		memcpy(&event.v1, from, sizeof(event.v1));
		kmt_input_swap_event(&event.v1);
		memcpy(to, &event.v1, sizeof(event.v1));
		return;
	}
	memcpy(&event, from, sizeof(event));
	kmt_input_swap_event(&event.v1);
	event.pid = GUINT32_SWAP_LE_BE(event.pid);
	event.cache = GUINT16_SWAP_LE_BE(event.cache);
	event.flags = GUINT16_SWAP_LE_BE(event.flags);
	memcpy(to, &event, sizeof(event));
	if (record_size < sizeof(newest))
		return;
	memcpy(&newest, from, sizeof(newest));
	stack = GUINT32_SWAP_LE_BE(newest.stack);
	memcpy(to + offsetof(struct kmemtrace_event_v2s, stack), &stack,
	       sizeof(stack));
}

void kmt_input_swap_records(guint8 *to, const guint8 *from, guint64 n,
			    guint record_size)
{
	for (; n; n--, to += record_size, from += record_size)
		swap_record(to, from, record_size);
}
