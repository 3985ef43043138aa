/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture adds up to.  Output is elsewhere: nothing here prints. */
#ifndef KMEMTRACE_REPORT_AGGREGATE_H
#define KMEMTRACE_REPORT_AGGREGATE_H

#include "report/sites.h"
#include "report/tally.h"
#include "trace/match.h"

typedef struct {
	/* frees: FREE records of that kind, matched or not.  The others are
	 * booked under the kind of the allocation. */
	KmtTotals kinds[KMT_N_KINDS];
	KmtSites *sites;
	KmtTally *tally;
	KmtFindings findings;
	guint64 short_allocs; /* with bytes_alloc below bytes_req */
	guint64 unordered;    /* timestamps going back */
	guint64 skipped;      /* records of unknown kind */
	guint64 truncated_bytes;
	gint64 first_timestamp; /* the smallest and the largest, ns; 0 if */
	gint64 last_timestamp;	/* there is no record */
	gboolean overflowed;	/* some sum of bytes is above 2^64 - 1 */
} KmtAggregate;

/* Reads all of the capture, by so many threads. */
KmtAggregate *kmt_aggregate_new(const KmtCapture *capture, guint jobs,
				gint64 clock_tolerance_ns);
void kmt_aggregate_free(KmtAggregate *aggregate);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAggregate, kmt_aggregate_free)

#endif
