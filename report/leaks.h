/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leak candidates and the evidence for each candidate. */
#ifndef KMEMTRACE_REPORT_LEAKS_H
#define KMEMTRACE_REPORT_LEAKS_H

#include "report/table.h"

/* Fewer windows cannot show a pattern of growth. */
#define KMT_LEAK_MIN_WINDOWS 4

/* Why a group that grew is no evidence of a leak. */
typedef enum {
	KMT_LEAK_LIKELY, /* no such reason: it is a leak candidate */
	/* The group is memory in which an allocator keeps objects that groups
	 * of another kind have: the pages of the slab allocator, or the records
	 * of vmalloc() about its areas, which it frees in batches. */
	KMT_LEAK_ALLOCATOR,
	/* The capture lacks frees of the group: more of its objects were
	 * replaced without a recorded free than were freed, frees of its kind
	 * were switched off at any time, or the recorder recorded only some of
	 * the events. */
	KMT_LEAK_FREES_MISSING,
} KmtLeakDoubt;

/*
 * A leak candidate is a group with four properties, for which deferred objects
 * do not count as live. Its live bytes grew in at least three quarters of the
 * windows after the first. It has more live bytes at the end than after the
 * first window. It has more than one live object. Half of its live objects are
 * older than 99 % of its freed objects were when they were freed, or it has no
 * freed object.
 */
typedef struct {
	const KmtGroup *group;
	guint steps;	      /* number of windows after the first */
	guint grown;	      /* number of windows with growth */
	guint64 in_use;	      /* live objects that are not deferred */
	guint64 growth;	      /* bytes, since the end of the first window */
	guint64 age_median;   /* ns, of live objects that are not deferred */
	guint64 lifetime_p99; /* ns, of freed objects; valid if frees > 0 */
	guint64 frees;
	KmtFigure reused; /* value of the field "reused" */
	KmtLeakDoubt doubt;
	KmtKind objects; /* kind of the objects, if doubt is ALLOCATOR */
} KmtLeak;

/* Return the leak candidates (KmtLeak) among the groups that @filter accepts,
 * in the order of their doubts, then by descending growth. @aggregate must have
 * details, and windows or a history. The caller owns the array. */
GArray *kmt_leaks_find(const KmtAggregate *aggregate, KmtTableFilter filter,
		       gconstpointer user);

#endif
