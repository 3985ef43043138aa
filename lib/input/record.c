// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/capture.h"

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
