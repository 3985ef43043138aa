/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the forms of output are given. */
#ifndef KMEMTRACE_REPORT_REPORT_H
#define KMEMTRACE_REPORT_REPORT_H

#include "report/phases.h"
#include "report/table.h"
#include "lib/symbols/symbolizer.h"

#include <stdio.h>

typedef enum {
	KMT_HISTOGRAM_NONE,
	KMT_HISTOGRAM_LIFETIME,
	KMT_HISTOGRAM_SIZE,
} KmtHistogramOf;

/* Lost events, by whether they were lost in the time of --time.  Without that
 * option, or if their times are not known, within has all. */
typedef struct {
	gboolean is_known; /* FALSE: within may have some of other times */
	guint64 before, within, after;
} KmtLost;

typedef struct {
	const KmtInputCapture *capture;
	const KmtAggregate *aggregate;
	const KmtSymbolizer *names;
	const KmtBy *by;
	const KmtSort *sort;
	const GPtrArray *fields;  /* of const KmtReportField: columns */
	guint64 max_lines;	  /* of each table; 0: all */
	gboolean slab_only;	  /* kinds in the tables; both */
	gboolean pages_only;	  /* or none: all */
	gboolean live_only;	  /* only groups that hold something */
	gboolean before_trace;	  /* list those frees by call site */
	gboolean separators;	  /* 1,234,567 */
	gboolean shows_cross_cpu; /* who is freed elsewhere */
	gboolean shows_windows;
	gboolean shows_leaks;
	gboolean shows_marks;
	/* There is a question: only what answers it is told. */
	gboolean is_answer;
	gboolean shows_groups; /* the table of them */
	gboolean is_peak;      /* sorted by what there was at peaks */
	KmtHistogramOf histogram;
	const KmtPhases *phases;   /* or NULL: nobody asked for marks */
	const KmtSpan *span;	   /* of --time; or NULL */
	const GPtrArray *warnings; /* of const char * */
	KmtLost lost;		   /* by kmt_report_count_lost() */
} KmtReport;

/* Print to out, in which errors stick (ferror()). */
void kmt_report_text(const KmtReport *report, FILE *out);
void kmt_report_json(const KmtReport *report, FILE *out);
void kmt_report_csv(const KmtReport *report, FILE *out);
/* Stacks of kind and group for flame graphs; the weight is the first field. */
void kmt_report_folded(const KmtReport *report, FILE *out);

/* A KmtTableFilter: the kinds that the options of user, a report, chose. */
gboolean kmt_report_is_chosen(const KmtGroup *group, gconstpointer user);

/* Whether records of the capture's version may be of this kind. */
gboolean kmt_report_may_have(const KmtReport *report, KmtKind kind);
/* The groups that the options chose, sorted and cut. */
KmtTable *kmt_report_table(const KmtReport *report);

/* What is known about events that were lost. */
typedef enum {
	KMT_LOSS_NONE,	 /* none were */
	KMT_LOSS_EVENTS, /* capture->overruns of them */
	KMT_LOSS_CUT,	 /* unknown: the capture was cut off */
	/* unknown: the recorder was set up to record only a part */
	KMT_LOSS_INCOMPLETE,
	KMT_LOSS_UNCOUNTED, /* some were, and their number is not known */
	/* unknown: the recorder does not report losses */
	KMT_LOSS_NOT_REPORTED,
	KMT_LOSS_UNKNOWN, /* unknown: kmemtrace.meta does not say */
} KmtLoss;

/* Set report->lost, once capture, aggregate and span are set and before any
 * figure is printed. */
void kmt_report_count_lost(KmtReport *report);

/*
 * The events lost in each window of the aggregate, saturated; NULL if their
 * times are not known.  A loss whose time reaches into several windows counts
 * in each of them, as it does with --time.  Free it with g_free().
 */
guint64 *kmt_report_window_losses(const KmtReport *report);

/* Whether all events that were lost were lost after STOP, so that no figure
 * depends on them. */
gboolean kmt_report_lost_later_only(const KmtReport *report);

/* Return how many events the figures may lack.  Losses after STOP do not
 * count. */
KmtLoss kmt_report_loss(const KmtReport *report);

/* How many files are not of the size that kmemtrace.meta says: damaged. */
guint kmt_report_wrong_sizes(const KmtInputCapture *capture);

/* "none", "events", "cut_off", "unknown". */
const char *kmt_loss_name(KmtLoss loss);

/* Records of this time may be missing, ns. */
typedef struct {
	gint64 from;
	gint64 until;
} KmtInterval;

/* Set *time to what figures are about: the capture, or what --time leaves of
 * it.  Returns whether --time leaves less than the capture. */
gboolean kmt_report_time(const KmtReport *report, KmtInterval *time);

#define KMT_MAX_INTERVALS 2

/*
 * Store the intervals in which a finding may be due to missing records, and
 * return their number.  If events were lost, the interval is the whole time of
 * the figures, unless all events were lost after it.  The end of a capture that
 * was cut off is incomplete from the time at which the first CPU ends.  The
 * beginning of a capture that an earlier reader took is incomplete up to the
 * time at which the last CPU begins.
 */
guint kmt_report_intervals(const KmtReport *report,
			   KmtInterval intervals[KMT_MAX_INTERVALS]);

/* Is anything known to be missing, and could that have changed a figure? */
gboolean kmt_report_is_lossy(const KmtReport *report);
gboolean kmt_report_is_doubtful(const KmtReport *report,
				const KmtReportField *field);

/* Are figures of allocations scaled, as one of so many was recorded? */
gboolean kmt_report_is_sample(const KmtReport *report);
/* Are figures of some objects only: frees too? */
gboolean kmt_report_has_filter(const KmtReport *report);

/* How long the capture is by the ends of its files, ns; 0 without a record.
 * Where clocks went back, something may be later.  No file may be a stream. */
guint64 kmt_report_length(const KmtInputCapture *capture);

/*
 * Return the losses that overlap the time of the figures, of KmtMatchGap, by
 * file and time.  NULL: the records do not report losses, as those of version
 * 1, or no event of the capture was lost.  The loss after the last record of a
 * CPU lasts to the end of the capture.  The caller owns the array.
 */
GArray *kmt_report_gaps(const KmtReport *report);

/* Return the share of the time of the figures, from 0 to 1, in which any CPU
 * lost events; if that is not known, the share of the intervals. */
double kmt_report_blind(const KmtReport *report);

/*
 * The first record, by the kernel's clock: where moments in text count from.
 * Of a capture that can be read but once, that is its smallest timestamp.
 */
gint64 kmt_report_origin(const KmtReport *report);

/* A moment of the kernel's clock in seconds from the first record, as --time
 * takes them; short: with three decimals if the capture is a second long. */
char *kmt_report_moment(const KmtReport *report, gint64 time,
			gboolean is_short);
/* Is the capture that long? */
gboolean kmt_report_is_long(const KmtReport *report);

/* What to do against the loss of events: "kmemtrace.subbufs=120 or more ..." */
char *kmt_report_more_room(const KmtInputCapture *capture);

/* A value of group [capture] of kmemtrace.meta; NULL if it is not there. */
char *kmt_report_meta(const KmtInputCapture *capture, const char *key);

#endif
