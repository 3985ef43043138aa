/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may be leaking, and why it is thought so. */
#ifndef KMEMTRACE_REPORT_LEAKS_H
#define KMEMTRACE_REPORT_LEAKS_H

#include "report/table.h"

/* With fewer windows growth is no pattern. */
#define KMT_LEAK_MIN_WINDOWS 4

/*
 * A group whose live bytes grew, in three of four windows at least, whose live
 * objects are more than one, and half of which are older than 99 of a hundred
 * of those that were freed ever got.
 *
 * But if more of its addresses came again without a free than with one, its
 * frees are what is not seen, and it is no candidate to speak of.
 */
typedef struct {
	const KmtGroup *group;
	guint steps;	      /* windows that it could have grown in */
	guint grown;	      /* those in which it did */
	guint64 growth;	      /* bytes, since the end of the first window */
	guint64 age_median;   /* ns, of what is live */
	guint64 lifetime_p99; /* ns, of what was freed, if frees */
	guint64 frees;
	KmtFigure reused; /* the field of that name */
	gboolean unfreed; /* most of its frees are not seen */
} KmtLeak;

/* Of KmtLeak, those that are unfreed last, then most growth first; aggregate
 * must have windows. */
GArray *kmt_leaks_find(const KmtAggregate *aggregate, KmtTableFilter filter,
		       gconstpointer user);

#endif
