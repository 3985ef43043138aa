/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leak candidates and the evidence for each candidate. */
#ifndef KMEMTRACE_REPORT_LEAKS_H
#define KMEMTRACE_REPORT_LEAKS_H

#include "report/table.h"

/* Fewer windows cannot show a pattern of growth. */
#define KMT_LEAK_MIN_WINDOWS 4

/*
 * A leak candidate is a group with four properties, for which deferred objects
 * do not count as live. Its live bytes grew in at least three quarters of the
 * windows after the first. It has more live bytes at the end than after the
 * first window. It has more than one live object. Half of its live objects are
 * older than 99 % of its freed objects were when they were freed, or it has no
 * freed object.
 *
 * If more of a group's objects were replaced without a recorded free than were
 * freed, if frees of its kind were switched off at any time, or if the recorder
 * recorded only some of the events, frees are missing from the capture. Such a
 * candidate is marked as frees_missing.
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
	KmtFigure reused;	/* value of the field "reused" */
	gboolean frees_missing; /* frees are missing from the capture */
} KmtLeak;

/* Return the leak candidates (KmtLeak) among the groups that @filter accepts:
 * those without frees_missing first, then by descending growth. @aggregate
 * must have windows and details. The caller owns the array. */
GArray *kmt_leaks_find(const KmtAggregate *aggregate, KmtTableFilter filter,
		       gconstpointer user);

#endif
