/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Converts the pages of ftrace's ring buffer to records.
 *
 * A page contains the time of its first event, the number of bytes in use, and
 * the events; see lib/tracepoints/ring-event.h.
 */
#ifndef KMEMTRACED_RING_PAGE_H
#define KMEMTRACED_RING_PAGE_H

#include <glib.h>

#include "kmemtraced/self-filter.h"
#include "kmemtraced/task-names.h"
#include "lib/tracepoints/kmalloc-pairs.h"
#include "lib/tracepoints/tracepoint-format.h"
#include "lib/tracepoints/ring-event.h"

/* The ring buffer and tracepoints of the running kernel. */
typedef struct {
	guint page_bytes;    /* size of a sub-buffer with its header */
	guint commit_offset; /* position of the commit field in the header */
	guint commit_bytes;  /* size of the commit field */
	guint data_offset;   /* size of the page header */
	KmtTracepointCommonFields common; /* fields that each event has */
	GPtrArray *by_id; /* of KmtTracepoint *, by event id; NULL: none */
	KmtTracepointInner inner; /* see kmalloc-pairs.h */
	KmtTracepointTask tasks[KMT_TRACEPOINT_N_TASKS];
} KmtdRingFormat;

/* Free @format. */
void kmtd_ring_format_free(KmtdRingFormat *format);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtdRingFormat, kmtd_ring_format_free)

/* Counters of one CPU. */
typedef struct {
	guint64 events; /* all events, as the kernel's "read events" counts */
	guint64 records;
	guint64 own;	   /* omitted events of kmemtraced itself */
	guint64 no_memory; /* events that describe no memory, such as failed
			    * allocations and frees of NULL */
	guint64 unknown;   /* events of other tracepoints */
	guint64 gaps;	   /* pages before which events were lost */
	guint64 damaged;   /* malformed pages and events */
	guint64 backwards; /* records whose time was before the previous one */
	/* Time range of the losses, valid if gaps > 0: from the last record
	 * before the first loss, or 0, to the first record after the last loss.
	 * While after_gap is set, lost_until is not final. */
	gint64 lost_from;
	gint64 lost_until;
} KmtdRingCounters;

/*
 * State of the conversion of one CPU's pages. One thread at a time may use a
 * KmtdRing. The member pairs may hold a record back until later events are
 * known, possibly from the next page.
 */
typedef struct {
	const KmtdRingFormat *format;
	KmtdOwnTasks *tasks; /* threads of kmemtraced; NULL: omit no events */
	KmtdTaskChanges *changes; /* destination of task names; NULL: none */
	KmtdSelfFilter own;
	KmtTracepointPairs pairs;
	KmtTracepointCursor cursor; /* position in the current page */
	gint64 last_ns;		    /* time of the last record */
	/* Events were lost, and no record has followed yet. */
	gboolean after_gap;
	gboolean is_cut_short; /* the end of the current page is missing */
	guint64 n_lost;	       /* lost events that no record reports yet */
	KmtdRingCounters counters;
} KmtdRing;

/*
 * Initialise *ring. @format and @tasks must outlive it. Release the memory with
 * kmtd_ring_clear().
 */
void kmtd_ring_init(KmtdRing *ring, const KmtdRingFormat *format,
		    KmtdOwnTasks *tasks);
void kmtd_ring_clear(KmtdRing *ring);

/*
 * Begin to read a page of @n_bytes bytes. The page must stay valid until all
 * its records are read. Return the number of bytes in use, 0 for an empty or
 * unusable page.
 */
gsize kmtd_ring_begin(KmtdRing *ring, const guint8 *page, gsize n_bytes);

/*
 * Convert the next events of the page to at most @max records. A result below
 * @max means the end of the page.
 */
gsize kmtd_ring_next(KmtdRing *ring, struct kmemtrace_event_v2 *to, gsize max);

/*
 * Let kmtd_ring_next() return all records that wait for further events, because
 * the CPU has no more pages.
 */
void kmtd_ring_end(KmtdRing *ring);

/*
 * Return the time of the first record that waits for further events, or
 * G_MAXINT64 if none waits.
 */
gint64 kmtd_ring_held_since(const KmtdRing *ring);

#endif
