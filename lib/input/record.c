// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/input/capture-private.h"

/* Records in a mapping or a buffer, which may have any alignment. */
typedef struct kmemtrace_event_v2 RawEventV2 __attribute__((aligned(1)));
typedef struct kmemtrace_event_v2s RawEventV2s __attribute__((aligned(1)));

/* Convert the fields of version 1. to and from may be equal. */
static inline __attribute__((always_inline)) void
swap_event(KmtInputRawEvent *to, const KmtInputRawEvent *from)
{
	to->event_id = from->event_id;
	to->type_id = from->type_id;
	to->event_size = GUINT16_SWAP_LE_BE(from->event_size);
	to->node = (gint32)GUINT32_SWAP_LE_BE((guint32)from->node);
	to->call_site = GUINT64_SWAP_LE_BE(from->call_site);
	to->ptr = GUINT64_SWAP_LE_BE(from->ptr);
	to->bytes_req = GUINT64_SWAP_LE_BE(from->bytes_req);
	to->bytes_alloc = GUINT64_SWAP_LE_BE(from->bytes_alloc);
	to->gfp_flags = GUINT64_SWAP_LE_BE(from->gfp_flags);
	to->timestamp = (gint64)GUINT64_SWAP_LE_BE((guint64)from->timestamp);
}

void kmt_input_swap_event(struct kmemtrace_event *event)
{
	swap_event(event, event);
}

/*
 * Copy the known fields of n records and convert them. known is a constant, so
 * that the loop has no branches: a record of version 2 takes 40 instructions
 * instead of 78 with a call for each record.
 */
static inline __attribute__((always_inline)) void
swap_records(guint8 *to, const guint8 *from, guint64 n, guint record_size,
	     guint known)
{
	for (; n; n--, to += record_size, from += record_size) {
		swap_event((KmtInputRawEvent *)to,
			   (const KmtInputRawEvent *)from);
		if (known >= KMEMTRACE_EVENT_SIZE_V2) {
			RawEventV2 *t = (RawEventV2 *)to;
			const RawEventV2 *f = (const RawEventV2 *)from;

			t->pid = GUINT32_SWAP_LE_BE(f->pid);
			t->cache = GUINT16_SWAP_LE_BE(f->cache);
			t->flags = GUINT16_SWAP_LE_BE(f->flags);
		}
		if (known >= KMEMTRACE_EVENT_SIZE_V2S)
			((RawEventV2s *)to)->stack = GUINT32_SWAP_LE_BE(
				((const RawEventV2s *)from)->stack);
	}
}

void kmt_input_swap_records(guint8 *to, const guint8 *from, guint64 n,
			    guint record_size)
{
	if (record_size >= KMEMTRACE_EVENT_SIZE_V2S)
		swap_records(to, from, n, record_size,
			     KMEMTRACE_EVENT_SIZE_V2S);
	else if (record_size >= KMEMTRACE_EVENT_SIZE_V2)
		swap_records(to, from, n, record_size, KMEMTRACE_EVENT_SIZE_V2);
	else
		swap_records(to, from, n, record_size, KMEMTRACE_EVENT_SIZE_V1);
}
