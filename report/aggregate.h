/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All figures of a capture, computed from its records. Printing is left to
 * other files.
 */
#ifndef KMEMTRACE_REPORT_AGGREGATE_H
#define KMEMTRACE_REPORT_AGGREGATE_H

#include "report/cross-cpu.h"
#include "report/groups.h"
#include "report/history.h"
#include "report/finding-counts.h"
#include "lib/match/matcher.h"

/*
 * The time that the figures cover, in ns from the first record of the capture.
 * Records at start and at stop are included.
 */
typedef struct {
	gint64 start;
	gint64 stop;
	/* Number of equal windows between start and windows_stop; 0: no
	 * windows. Records after windows_stop belong to the last window. */
	guint windows;
	guint64 windows_stop;
} KmtSpan;

/* Selects the figures that an aggregate computes. No pointer is owned. */
typedef struct {
	const KmtBy *by;
	const KmtSymWrappers
		*skip; /* functions skipped to find owners, or NULL */
	const KmtFilter *filter;
	KmtSpan span;
	gboolean lifetimes;	 /* compute KmtDetail of each group */
	guint64 churn_ns;	 /* an object that lives less is short-lived */
	const KmtPhases *phases; /* for KMT_BY_MARK, or NULL */
	gboolean cross;	  /* count frees by CPU and by pair of call sites */
	gboolean history; /* count the figures of KmtHistory, which needs
			   * lifetimes and excludes windows */
	guint jobs;	  /* maximum number of threads */
	gint64 clock_tolerance_ns; /* assumed largest difference of the clocks
				    * of two CPUs */
	/* Progress callback with the number of usable records read so far, or
	 * NULL. Any thread may make the call, but only one thread at a time. */
	void (*progress)(guint64 records);
} KmtAggregateOptions;

/* The figures of one window of the span. */
typedef struct {
	guint64 start;		       /* ns from the first record */
	KmtTotals kinds[KMT_N_KINDS];  /* Sums and peaks cover the window; live
					* figures are as of its end. */
	guint64 deferred[KMT_N_KINDS]; /* deferred bytes at the end of the
					* window */
} KmtWindow;

/* All figures of a capture. */
typedef struct {
	/* Figures count under the kind of the allocation. Without a filter,
	 * frees are all FREE records of the span, matched or not; a record that
	 * was not matched at once counts under its own kind. With a filter,
	 * frees are those of the selected objects. */
	KmtTotals kinds[KMT_N_KINDS];
	KmtDeferred deferred[KMT_N_KINDS];
	KmtGroups *groups;
	KmtFindingCounts *finding_counts;
	KmtCrossCpu *cross;	   /* NULL: not requested */
	KmtHistory *history;	   /* NULL: not requested */
	KmtMatchFindings findings; /* findings up to the end of the span */
	KmtWindow *windows;
	guint n_windows;       /* 0 if no option needs windows, or if the
				* capture has no record */
	guint64 short_allocs;  /* allocations with bytes_alloc < bytes_req */
	guint64 unordered;     /* records with a decreasing timestamp */
	guint64 skipped;       /* unusable records; see
				* kmt_match_merge_skipped() */
	guint64 stop_records;  /* STOP records; 0 in record version 1 */
	guint64 mark_records;  /* records of marks; 0 in record version 1 */
	guint64 defer_records; /* DEFER records; 0 before record version 3 */
	guint64 gap_records;   /* LOST records; 0 in record version 1 */
	GArray *gaps;	       /* KmtMatchGap: losses that LOST records report;
				* see KMT_MATCH_MAX_GAPS */
	guint64 truncated_bytes;
	gint64 first_timestamp; /* smallest timestamp, ns; 0: no record */
	gint64 last_timestamp;	/* largest timestamp, ns; 0: no record */
	gint64 origin;	    /* first record's time, independent of the span */
	guint64 span_ns;    /* length of the time covered, ns */
	gboolean has_peaks; /* FALSE: peaks are unknown */
	GPtrArray *notes;   /* char *: warnings about the records and tables */
	gboolean has_sequence_times; /* timestamps are sequence numbers */
	guint64 scale;		     /* factor of the sample: see scale.h */
	/* A sum or a scaled figure exceeds 2^64 - 1. */
	gboolean overflowed;
	KmtMatchKeys *keys;
	GArray *tag_ends;	/* KmtMatchTagEnd, for keys */
	KmtInputTables *tables; /* NULL: owners not requested or not recorded */
} KmtAggregate;

/* Set *origin to the smallest timestamp of the files' first usable records, in
 * ns. No file may be a stream. Return FALSE if the capture has no such record.
 */
gboolean kmt_report_first_timestamp(const KmtInputCapture *capture,
				    gint64 *origin);

/*
 * Read the capture, up to STOP if --time has one, and return its figures.
 * @capture, @symbolizer and all objects that @options points to must outlive
 * the aggregate. The caller frees the result with kmt_aggregate_free().
 */
KmtAggregate *kmt_aggregate_new(const KmtInputCapture *capture,
				const KmtSymbolizer *symbolizer,
				const KmtAggregateOptions *options);
void kmt_aggregate_free(KmtAggregate *aggregate);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtAggregate, kmt_aggregate_free)

#endif
