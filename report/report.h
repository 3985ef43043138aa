/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of one report and the functions that print it in each output format. */
#ifndef KMEMTRACE_REPORT_REPORT_H
#define KMEMTRACE_REPORT_REPORT_H

#include "report/bar.h"
#include "report/phases.h"
#include "report/table.h"
#include "lib/symbols/symbolizer.h"

#include <stdio.h>

/* The result of --advise; see report/advice.h. */
typedef struct KmtAdviceList KmtAdviceList;

/* The figure that --histogram shows. */
typedef enum {
	KMT_HISTOGRAM_NONE,
	KMT_HISTOGRAM_LIFETIME,
	KMT_HISTOGRAM_SIZE,
} KmtHistogramType;

/* Numbers of lost events, relative to the time that --time selects. Without
 * --time, or if the times of the losses are unknown, @within holds all losses.
 */
typedef struct {
	gboolean
		is_known; /* FALSE: @within may include losses of other times */
	guint64 before, within, after;
} KmtLost;

/*
 * The data of one report and the sections that it prints. The report owns no
 * pointer.
 */
typedef struct {
	const KmtInputCapture *capture;
	const KmtAggregate *aggregate;
	const KmtSymbolizer *symbolizer;
	const KmtBy *by;
	const KmtSort *sort;
	const GPtrArray *fields;  /* columns, const KmtReportField * */
	guint64 max_lines;	  /* limit of groups, of marks and, in text, of
				   * call sites, pairs and leak candidates; 0:
				   * no limit */
	gboolean slab_only;	  /* only slab, unless pages_only is set, too */
	gboolean pages_only;	  /* only pages, unless slab_only is set, too */
	gboolean live_only;	  /* only groups with live objects */
	gboolean before_trace;	  /* list frees of objects from before the
				   * trace */
	gboolean separators;	  /* format numbers as 1,234,567 */
	KmtBarStyle bars;	  /* style of the bars beside shares */
	gboolean shows_cross_cpu; /* section of cross-CPU frees by group */
	gboolean shows_windows;	  /* section of --windows */
	gboolean shows_leaks;	  /* section of --leaks */
	gboolean shows_marks;	  /* section of --marks */
	gboolean shows_advice;	  /* section of --advise */
	/* An option selects sections: the text report omits the findings and,
	 * unless shows_groups is set, the groups. */
	gboolean selects_sections;
	gboolean shows_groups; /* section of the groups */
	gboolean is_peak;      /* --time peak: print the times of the peaks */
	KmtHistogramType histogram;
	const KmtPhases *phases;     /* NULL: no option needs marks */
	const KmtSpan *span;	     /* without --time: the whole capture */
	const GPtrArray *warnings;   /* const char * */
	const KmtAdviceList *advice; /* NULL: not requested */
	const char *filter;	     /* options that select objects, as text, or
				      * NULL; only with --html */
	KmtLost lost;		     /* set by kmt_report_count_lost() */
} KmtReport;

/* Print the report to @out. The caller checks ferror(out) for write errors. */
void kmt_report_text(const KmtReport *report, FILE *out);
void kmt_report_json(const KmtReport *report, FILE *out);
void kmt_report_csv(const KmtReport *report, FILE *out);
/*
 * Print the groups in the folded format of flame graphs: the frames of a group
 * are its kind and its values, and a call stack has a frame for each function.
 * The weight of a group is its first field; groups without weight are omitted.
 */
void kmt_report_folded(const KmtReport *report, FILE *out);

/*
 * A KmtTableFilter: return whether the options of the report in @user select
 * @group, and the group has any figure.
 */
gboolean kmt_report_is_selected(const KmtGroup *group, gconstpointer user);

/*
 * Return whether JSON has the figures of deferred memory: the records have
 * version 3 or later, or the part of the capture that was read has DEFER
 * records.
 */
gboolean kmt_report_can_have_defers(const KmtReport *report);

/* Return whether the record version of the capture has records of @kind. */
gboolean kmt_report_can_have_kind(const KmtReport *report, KmtKind kind);
/*
 * Return the groups that the options select, sorted and limited to max_lines.
 * The caller frees the table.
 */
KmtTable *kmt_report_table_new(const KmtReport *report);

/* The knowledge about lost events in a capture. */
typedef enum {
	KMT_LOSS_NONE,	 /* no event was lost, or all were lost after STOP */
	KMT_LOSS_EVENTS, /* capture->overruns events were lost */
	KMT_LOSS_CUT,	 /* unknown: the capture was cut off */
	/* unknown: the recorder was configured to record only some events */
	KMT_LOSS_INCOMPLETE,
	KMT_LOSS_UNCOUNTED, /* events were lost, in unknown number */
	/* unknown: the recorder does not report losses */
	KMT_LOSS_NOT_REPORTED,
	/* unknown: kmemtrace.meta is missing or has no count */
	KMT_LOSS_UNKNOWN,
} KmtLoss;

/* Set report->lost. Call this function after capture, aggregate and span of
 * @report are set and before any figure is printed. */
void kmt_report_count_lost(KmtReport *report);

/*
 * Return the number of events lost in each window of the aggregate, saturated,
 * or NULL if the number or the times of the losses are unknown. A loss that
 * overlaps several windows counts in each of these windows; --time counts
 * losses in the same way. The caller frees the array with g_free().
 */
guint64 *kmt_report_window_losses(const KmtReport *report);

/* Return whether events were lost, and all of them after STOP, so that no
 * figure depends on them. */
gboolean kmt_report_lost_later_only(const KmtReport *report);

/* Return what is known about the lost events that may have changed the figures.
 * If all events were lost after STOP, they are ignored. */
KmtLoss kmt_report_loss_state(const KmtReport *report);

/*
 * Return the number of CPU files whose size differs from the size in
 * kmemtrace.meta; 0 if kmemtrace.meta does not state that the capture is
 * complete.
 */
guint kmt_report_wrong_sizes(const KmtInputCapture *capture);

/*
 * Return the name of @loss in JSON: "none", "events", "cut_off" or "unknown".
 */
const char *kmt_loss_name(KmtLoss loss);

/* An interval of kernel clock time in ns, including both ends. */
typedef struct {
	gint64 from;
	gint64 until;
} KmtInterval;

/* Set *time to the time that the figures cover: the time of the capture,
 * limited by --time. Return whether --time sets a START after the first record,
 * or any STOP. */
gboolean kmt_report_time_range(const KmtReport *report, KmtInterval *time);

#define KMT_MAX_INTERVALS 2

/*
 * Store the intervals in which missing records may have caused a finding, and
 * return the number of intervals. If events may be missing at any time, the
 * interval is the whole time of the figures, unless all events were lost after
 * that time. Otherwise, the end of a capture that was cut off is incomplete
 * from the earliest of the CPUs' last records on, and the beginning of a
 * capture whose first records another reader consumed is incomplete up to the
 * latest of the CPUs' first records. In both cases, if a CPU has no records,
 * the interval is the whole time of the figures.
 */
guint kmt_report_intervals(const KmtReport *report,
			   KmtInterval intervals[KMT_MAX_INTERVALS]);

/*
 * kmt_report_is_lossy() returns whether records are missing, or may be because
 * the capture was cut off or its source cannot observe all code paths. Losses
 * that are all after STOP do not count. kmt_report_is_doubtful() returns
 * whether the missing records could have changed @field.
 */
gboolean kmt_report_is_lossy(const KmtReport *report);
gboolean kmt_report_is_doubtful(const KmtReport *report,
				const KmtReportField *field);

/*
 * Return whether the capture is a sample with a known factor, so that the
 * figures of allocations are scaled estimates.
 */
gboolean kmt_report_is_sample(const KmtReport *report);
/*
 * Return whether a filter limits the figures, including frees but not findings,
 * to some objects.
 */
gboolean kmt_report_has_filter(const KmtReport *report);

/* Return the time between the first and the last record of all files in ns; 0
 * if the capture has no record. If a clock went back, a record inside a file
 * may be later than this end. No file may be a stream. */
guint64 kmt_report_capture_duration(const KmtInputCapture *capture);

/*
 * Return the losses (KmtMatchGap) that overlap the time of the figures, sorted
 * by file and time. Return NULL if the losses are not reported (records of
 * version 1, or no kmemtrace.meta), if no event is known to be lost, or if
 * KMT_MATCH_MAX_GAPS losses or more were reported. The loss after the last
 * record of a CPU lasts to the end of the capture. The caller owns the array.
 */
GArray *kmt_report_gaps(const KmtReport *report);

/* Return the fraction, from 0 to 1, of the time of the figures in which any CPU
 * lost events. If kmt_report_gaps() returns NULL, return the fraction that
 * kmt_report_intervals() covers. */
double kmt_report_lossy_fraction(const KmtReport *report);

/*
 * Return the kernel clock time of the first record, in ns. Moments in text
 * reports count from this time. In a capture with a stream, the time is the
 * smallest timestamp.
 */
gint64 kmt_report_origin(const KmtReport *report);

/* Format @time, a kernel clock time in ns, as seconds from the first record, in
 * the format of --time. If @is_short is set and the capture lasts a second or
 * longer, three decimals are printed, otherwise nine. A time before the first
 * record is negative. The caller frees the string. */
char *kmt_report_format_moment(const KmtReport *report, gint64 time,
			       gboolean is_short);
/* Return whether the capture lasts a second or longer. */
gboolean kmt_report_lasts_a_second(const KmtReport *report);

/*
 * Return advice against lost events, such as "trace again with
 * kmemtrace.subbufs=120 or more (it was 60)". The caller frees the string.
 */
char *kmt_report_loss_advice(const KmtInputCapture *capture);

/*
 * Return the printable value of @key in group [capture] of kmemtrace.meta, or
 * NULL if the key or kmemtrace.meta is missing. The caller frees the string.
 */
char *kmt_report_meta_value(const KmtInputCapture *capture, const char *key);

#endif
