/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's memory tracepoints, and the conversion of their raw data to
 * records. The data can come from ftrace's ring buffer or from a file.
 */
#ifndef KMEMTRACE_TRACEPOINTS_KMEM_EVENTS_H
#define KMEMTRACE_TRACEPOINTS_KMEM_EVENTS_H

#include <glib.h>
#include <kmemtrace_abi.h>
#include <string.h>

/*
 * Location of a field in the data of an event. size 0: the event has no such
 * field.
 */
typedef struct {
	guint16 offset;
	guint16 size; /* 0, 1, 2, 4 or 8 bytes */
} KmtTracepointSlot;

/* A tracepoint, and the location of each field that a record uses. */
typedef struct {
	guint8 event_id;
	guint8 type_id;
	guint min_bytes;  /* minimum size of an event's data */
	gboolean wide;	  /* the type and the sizes of the fields permit the
			   * fast path of kmt_tracepoint_convert() */
	guint page_bytes; /* page size of the recorded machine */
	guint cpus;	  /* possible CPUs; 0: unknown */
	KmtTracepointSlot call_site, ptr, bytes_req, bytes_alloc, gfp_flags,
		node;
	KmtTracepointSlot pfn, order; /* page tracepoints only */
	KmtTracepointSlot failed;     /* nonzero value: the allocation failed */
	const char *name;
} KmtTracepoint;

/*
 * Finish a tracepoint after the locations of its fields are set. page_bytes is
 * the page size of the recorded machine; cpus is the number of possible CPUs, 0
 * if unknown.
 */
void kmt_tracepoint_prepare(KmtTracepoint *point, guint page_bytes, guint cpus);

/* Maps the name of a tracepoint's field to a field of KmtTracepoint. */
typedef struct {
	const char *name; /* NULL: end of the list */
	gsize field;	  /* offset of the KmtTracepointSlot in KmtTracepoint */
	gboolean optional; /* the field exists only in some kernels */
} KmtTracepointField;

/* A tracepoint whose events become records. */
typedef struct {
	const char *system; /* subdirectory of events/ */
	const char *name;
	guint8 event_id;
	guint8 type_id;
	gboolean optional; /* the tracepoint exists only in some kernels */
	const KmtTracepointField *fields;
} KmtTracepointName;

extern const KmtTracepointName kmt_tracepoint_names[];
extern const guint kmt_tracepoint_n_names;

/*
 * What the page tracepoints do not report: the first text applies to a
 * recording without callchains, the second to a recording with callchains.
 */
#define KMT_TRACEPOINT_GAP_PAGE_CALLERS                                        \
	"the callers that allocate or free pages, and the requested node"
#define KMT_TRACEPOINT_GAP_PAGE_NODES "the requested node of pages"

/*
 * Return what a recording with tracepoints of these types does not contain:
 * newly allocated texts for not_seen in kmemtrace.meta. types has the bit 1U <<
 * KMEMTRACE_TYPE_... of each type whose tracepoints were recorded.
 */
GPtrArray *kmt_tracepoints_not_seen(guint types);

/* Return the slot of point that field refers to. */
static inline KmtTracepointSlot *
kmt_tracepoint_field(KmtTracepoint *point, const KmtTracepointField *field)
{
	return (KmtTracepointSlot *)((char *)point + field->field);
}

/* Bits of common_flags: the event occurred in an interrupt, not in the task. */
#define KMT_TRACEPOINT_COMMON_HARDIRQ 0x08
#define KMT_TRACEPOINT_COMMON_SOFTIRQ 0x10
#define KMT_TRACEPOINT_COMMON_NMI     0x40

/*
 * The lowest valid address of an object. kmalloc(0) returns ZERO_SIZE_PTR,
 * which is 16.
 */
#define KMT_TRACEPOINT_LOWEST_ADDRESS 17

/* Load an unaligned 32-bit integer. */
static inline guint32 kmt_tracepoint_load32(const guint8 *p)
{
	guint32 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/* Load an unaligned 64-bit integer. */
static inline guint64 kmt_tracepoint_load64(const guint8 *p)
{
	guint64 value;

	memcpy(&value, p, sizeof(value));
	return value;
}

/*
 * Load the field of an event, zero-extended to 64 bits. The caller has checked
 * that data contains the field. A field of size 0 has the value 0.
 */
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

/* Slow path of kmt_tracepoint_convert() for any type and fields of any size. */
gboolean kmt_tracepoint_convert_any(const KmtTracepoint *point,
				    const guint8 *data,
				    struct kmemtrace_event *e);

/*
 * Convert an event to a record of version 1. data has at least
 * point->min_bytes bytes, in the host's byte order; time is in ns. Returns
 * FALSE if the event describes no memory: a failed allocation, an allocation of
 * 0 bytes, or a free of NULL or of ZERO_SIZE_PTR.
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
	/* Fast path: the slab events of 64-bit kernels since Linux 6.1 have
	 * these field sizes. */
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
