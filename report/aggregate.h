/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture adds up to.  Output is elsewhere: nothing here prints. */
#ifndef KMEMTRACE_REPORT_AGGREGATE_H
#define KMEMTRACE_REPORT_AGGREGATE_H

#include "report/cross-cpu.h"
#include "report/groups.h"
#include "report/finding-counts.h"
#include "lib/match/matcher.h"

/* When a figure is about; times are from the capture's first record, ns. */
typedef struct {
	gint64 start;
	gint64 stop;
	/* Tables over time, of so many parts of what is between start and
	 * windows_stop; 0: none.  What is later is in the last one. */
	guint windows;
	guint64 windows_stop;
} KmtSpan;

typedef struct {
	const KmtBy *by;
	const KmtSymWrappers *skip; /* whose callers are owners; or NULL */
	const KmtFilter *filter;
	KmtSpan span;
	gboolean lifetimes;	 /* details of groups: see KmtDetail */
	guint64 churn_ns;	 /* what lives shorter is short-lived */
	const KmtPhases *phases; /* for KMT_BY_MARK, or NULL */
	gboolean cross;		 /* by CPU, and pairs of call sites */
	guint jobs;
	gint64 clock_tolerance_ns;
	/* Told now and then how many of all records are read; or NULL. */
	/* Called by any thread, one at a time. */
	void (*progress)(guint64 records);
} KmtAggregateOptions;

/* A part of the span. */
typedef struct {
	guint64 start;		      /* ns from the first record */
	KmtTotals kinds[KMT_N_KINDS]; /* sums and peaks are those in it, live
				       * is at its end */
} KmtWindow;

typedef struct {
	/* frees: FREE records of that kind, matched or not, but with a filter
	 * those of its objects.  The others are booked under the kind of the
	 * allocation. */
	KmtTotals kinds[KMT_N_KINDS];
	KmtGroups *groups;
	KmtFindingCounts *finding_counts;
	KmtCrossCpu *cross; /* or NULL */
	KmtMatchFindings
		findings; /* of the records up to the end of the span */
	KmtWindow *windows;
	guint n_windows;      /* 0 without a record */
	guint64 short_allocs; /* with bytes_alloc below bytes_req */
	guint64 unordered;    /* timestamps going back */
	guint64 skipped;      /* records of unknown kind */
	guint64 stop_records; /* of version 2, likewise no events */
	guint64 mark_records; /* of version 2, those of marks */
	guint64 gap_records;  /* of version 2; they tell of gaps: */
	GArray *gaps;	      /* of KmtMatchGap */
	guint64 truncated_bytes;
	gint64 first_timestamp; /* the smallest and the largest, ns; 0 if */
	gint64 last_timestamp;	/* there is no record */
	gint64 origin;		/* of the first record, whatever the span */
	guint64 span_ns;	/* how long the figures are about */
	gboolean has_peaks;	/* FALSE: peaks are not known */
	GPtrArray *notes;	/* of char *: what is odd in the records */
	gboolean
		has_sequence_times; /* timestamps are but numbers in sequence */
	guint64 scale;		    /* factor of the sample: see scale.h */
	/* A sum of bytes or a figure of a sample is above 2^64 - 1. */
	gboolean overflowed;
	KmtMatchKeys *keys;
	KmtInputTables *tables; /* or NULL: nobody asked for owners */
} KmtAggregate;

/* The first timestamp, where no file is a stream.  FALSE: there is no record.
 */
gboolean kmt_report_first_timestamp(const KmtInputCapture *capture,
				    gint64 *origin);

/* Reads all of the capture.  What options points to must live as long. */
KmtAggregate *kmt_aggregate_new(const KmtInputCapture *capture,
				const KmtSymbolizer *names,
				const KmtAggregateOptions *options);
void kmt_aggregate_free(KmtAggregate *aggregate);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAggregate, kmt_aggregate_free)

#endif
