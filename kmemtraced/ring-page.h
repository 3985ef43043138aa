/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the pages of ftrace's ring buffer to records.
 *
 * A page is the time of its first event, how many bytes are in use, and
 * events; see lib/tracepoints/ring-event.h.
 */
#ifndef KMEMTRACED_RING_PAGE_H
#define KMEMTRACED_RING_PAGE_H

#include <glib.h>

#include "kmemtraced/self-filter.h"
#include "kmemtraced/task-names.h"
#include "lib/tracepoints/tracepoint-format.h"
#include "lib/tracepoints/ring-event.h"

/* Of this kernel. */
typedef struct {
	guint page_bytes;    /* of the buffer: a sub-buffer with its header */
	guint commit_offset; /* in the header */
	guint commit_bytes;
	guint data_offset;
	KmtTracepointCommonFields common; /* of each event */
	GPtrArray *by_id; /* of KmtTracepoint, NULL where is none */
	KmtTracepointTask tasks[KMT_TRACEPOINT_N_TASKS];
} KmtdRingFormat;

void kmtd_ring_format_free(KmtdRingFormat *format);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdRingFormat, kmtd_ring_format_free)

/* What was seen so far. */
typedef struct {
	guint64 events; /* of all tracepoints, as the kernel counts them */
	guint64 records;
	guint64 own;	   /* events of kmemtraced itself, left out */
	guint64 no_memory; /* failed allocations, frees of nothing */
	guint64 unknown;   /* of tracepoints that were not asked for */
	guint64 holes;	   /* times that events before a page were lost */
	guint64 damaged;   /* pages that are not as they have to be */
	guint64 backwards; /* times that the clock went back */
	/* From the last record before the first hole to the first after the
	 * last one; if there are holes. */
	gint64 lost_from;
	gint64 lost_until;
} KmtdRingFigures;

typedef struct {
	const KmtdRingFormat *format;
	KmtdOwnTasks *tasks;	  /* kmemtraced's own, or NULL */
	KmtdTaskChanges *changes; /* where those go, or NULL */
	KmtdSelfFilter own;
	KmtTracepointCursor cursor; /* in the page being read */
	gint64 last_ns;		    /* of the last record */
	gboolean after_hole;
	guint64 n_lost; /* of which no record tells yet */
	KmtdRingFigures figures;
} KmtdRing;

void kmtd_ring_init(KmtdRing *ring, const KmtdRingFormat *format,
		    KmtdOwnTasks *tasks);

/*
 * Begins a page, of which there are n_bytes, and which must stay until it is
 * read.  The bytes in use; 0: there are none.
 */
gsize kmtd_ring_begin(KmtdRing *ring, const guint8 *page, gsize n_bytes);

/* The next max records of the page; fewer: it is at its end. */
gsize kmtd_ring_next(KmtdRing *ring, struct kmemtrace_event_v2 *to, gsize max);

#endif
