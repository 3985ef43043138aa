/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's tracepoints of memory, and how their data becomes records,
 * wherever the data comes from: the ring buffer of ftrace, or a file.
 */
#ifndef KMEMTRACE_TRACEPOINTS_KMEM_EVENTS_H
#define KMEMTRACE_TRACEPOINTS_KMEM_EVENTS_H

#include <glib.h>
#include <kmemtrace_abi.h>
#include <string.h>

/* Where a field is in the data of an event; size 0: there is none. */
typedef struct {
	guint16 offset;
	guint16 size; /* 1, 2, 4 or 8 bytes */
} KmtTracepointSlot;

/* A tracepoint, and the fields that a record is made of. */
typedef struct {
	guint8 event_id;
	guint8 type_id;
	guint min_bytes;  /* all fields are within these */
	gboolean wide;	  /* addresses and sizes have 8 bytes each */
	guint page_bytes; /* of the page allocator */
	guint cpus;	  /* that per-CPU memory is for; 0: nobody knows */
	KmtTracepointSlot call_site, ptr, bytes_req, bytes_alloc, gfp_flags,
		node;
	KmtTracepointSlot pfn, order; /* of pages */
	KmtTracepointSlot failed;     /* not 0: nothing was allocated */
	const char *name;
} KmtTracepoint;

/* When all fields are known.  cpus: those that there can be, or 0. */
void kmt_tracepoint_prepare(KmtTracepoint *point, guint page_bytes, guint cpus);

/* A field of the record, by what the tracepoint calls it. */
typedef struct {
	const char *name; /* NULL: behind the last one */
	gsize field;	  /* offset of the KmtTracepointSlot in KmtTracepoint */
	gboolean optional; /* only some kernels tell it */
} KmtTracepointField;

/* A tracepoint that records are made of. */
typedef struct {
	const char *system; /* its folder in events/ */
	const char *name;
	guint8 event_id;
	guint8 type_id;
	gboolean optional; /* only some kernels have it */
	const KmtTracepointField *fields;
} KmtTracepointName;

extern const KmtTracepointName kmt_tracepoint_names[];
extern const guint kmt_tracepoint_n_names;

/* The gap of pages that callchains close, and what is left of it then. */
#define KMT_TRACEPOINT_GAP_PAGE_CALLERS                                        \
	"who allocates or frees pages, and on which node they were asked for"
#define KMT_TRACEPOINT_GAP_PAGE_NODES "on which node pages were asked for"

/*
 * Return the gaps of a recording with tracepoints of these types, each 1U <<
 * KMEMTRACE_TYPE_..., as newly allocated texts for not_seen in kmemtrace.meta.
 */
GPtrArray *kmt_tracepoints_not_seen(guint types);

/* The field of point that field is about. */
static inline KmtTracepointSlot *
kmt_tracepoint_field(KmtTracepoint *point, const KmtTracepointField *field)
{
	return (KmtTracepointSlot *)((char *)point + field->field);
}

/* Bits of common_flags: the event is of an interrupt, not of the task. */
#define KMT_TRACEPOINT_COMMON_HARDIRQ 0x08
#define KMT_TRACEPOINT_COMMON_SOFTIRQ 0x10
#define KMT_TRACEPOINT_COMMON_NMI     0x40

/* ZERO_SIZE_PTR is the address of what has no bytes. */
#define KMT_TRACEPOINT_LOWEST_ADDRESS 17

static inline guint32 kmt_tracepoint_load32(const guint8 *p)
{
	guint32 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static inline guint64 kmt_tracepoint_load64(const guint8 *p)
{
	guint64 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

static inline guint64 kmt_tracepoint_slot_load(const guint8 *data,
					       KmtTracepointSlot field)
{
	guint16 half;

	switch (field.size) {
	case 8:
		return kmt_tracepoint_load64(data + field.offset);
	case 4:
		return kmt_tracepoint_load32(data + field.offset);
	case 2:
		memcpy(&half, data + field.offset, sizeof(half));
		return half;
	case 1:
		return data[field.offset];
	default:
		return 0;
	}
}

/* Any but those of the usual sizes; see kmt_tracepoint_convert(). */
gboolean kmt_tracepoint_convert_any(const KmtTracepoint *point,
				    const guint8 *data,
				    struct kmemtrace_event *e);

/*
 * Makes the record, of version 1, of an event whose data has at least
 * point->min_bytes, in this host's byte order.  FALSE: it is of no memory, a
 * failed allocation or a free of nothing.
 */
static inline gboolean kmt_tracepoint_convert(const KmtTracepoint *point,
					      const guint8 *data, gint64 time,
					      struct kmemtrace_event *e)
{
	e->event_id = point->event_id;
	e->type_id = point->type_id;
	e->event_size = KMEMTRACE_EVENT_SIZE_V1;
	e->timestamp = time;
	if (!point->wide)
		return kmt_tracepoint_convert_any(point, data, e);
	/* As nearly all events of slab are, on nearly all kernels. */
	e->call_site = kmt_tracepoint_load64(data + point->call_site.offset);
	e->ptr = kmt_tracepoint_load64(data + point->ptr.offset);
	if (point->event_id == KMEMTRACE_EVENT_FREE) {
		e->node = KMEMTRACE_NODE_NONE;
		e->bytes_req = 0;
		e->bytes_alloc = 0;
		e->gfp_flags = 0;
	} else {
		e->node = (gint32)kmt_tracepoint_load32(data +
							point->node.offset);
		e->bytes_req =
			kmt_tracepoint_load64(data + point->bytes_req.offset);
		e->bytes_alloc =
			kmt_tracepoint_load64(data + point->bytes_alloc.offset);
		e->gfp_flags =
			kmt_tracepoint_load64(data + point->gfp_flags.offset);
	}
	return e->ptr >= KMT_TRACEPOINT_LOWEST_ADDRESS;
}

#endif
