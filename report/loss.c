// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lost events: their number, their times, and the figures that depend on them.
 */
#include "config.h"

#include "report/report.h"
#include "lib/input/name-tables.h"

static gint64 add_saturated(gint64 a, gint64 b)
{
	gint64 sum;

	return __builtin_add_overflow(a, b, &sum) ? G_MAXINT64 : sum;
}

gboolean kmt_report_time_range(const KmtReport *report, KmtInterval *time)
{
	const KmtAggregate *a = report->aggregate;
	const KmtSpan *span = report->span;
	gint64 origin = kmt_report_origin(report);
	gboolean starts_later = span && span->start > 0;
	gboolean stops_earlier = span && span->stop < G_MAXINT64;

	*time = (KmtInterval){a->first_timestamp, a->last_timestamp};
	if (starts_later)
		time->from =
			MAX(time->from, add_saturated(origin, span->start));
	if (stops_earlier)
		time->until =
			MIN(time->until, add_saturated(origin, span->stop));
	time->until = MAX(time->from, time->until);
	return starts_later || stops_earlier;
}

/*
 * Append the loss at the end of file @number. Events that the CPU lost and that
 * no record of the file reports are taken as lost after the last record of the
 * file. If a record reports an unknown number of lost events, that number may
 * include these events, and nothing is appended.
 */
static void add_last_gap(const KmtReport *report, GArray *gaps, guint number)
{
	const KmtInputCpuFile *file = report->capture->files->pdata[number];
	KmtMatchGap last = {.file = number,
			    .until = report->aggregate->last_timestamp,
			    .events = file->overruns};
	gint64 first;
	guint i;

	/* Without a record in the file, the loss may be at any time. The last
	 * record of a stream is unknown. */
	if (file->stream ||
	    !kmt_match_merge_file_span(file, &first, &last.since))
		last.since = report->aggregate->first_timestamp;
	for (i = 0; i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);

		if (gap->file != number)
			continue;
		if (gap->events == 0)
			return;
		last.events -= MIN(last.events, gap->events);
		last.since = MAX(last.since, gap->until);
	}
	last.until = MAX(last.until, last.since);
	if (last.events)
		g_array_append_val(gaps, last);
}

static gint compare_gaps(gconstpointer a, gconstpointer b)
{
	const KmtMatchGap *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->since < y->since ? -1 : x->since > y->since;
}

static gboolean has_loss_times(const KmtInputCapture *capture)
{
	return capture->has_overruns ? capture->overruns > 0
				     : capture->losses_in_records;
}

static gboolean has_unknown_number(const GArray *gaps)
{
	for (guint i = 0; i < gaps->len; i++)
		if (g_array_index(gaps, KmtMatchGap, i).events == 0)
			return TRUE;
	return FALSE;
}

/* Return all losses of the capture, sorted by file and time. Return NULL if no
 * event is known to be lost, if the records do not report losses, or if there
 * are too many losses to store. The caller owns the array. */
static GArray *all_gaps(const KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;
	GArray *gaps;
	guint i;

	if (!has_loss_times(capture) ||
	    !kmt_input_capture_has_owners(capture) ||
	    report->aggregate->gaps->len == KMT_MATCH_MAX_GAPS)
		return NULL;
	gaps = g_array_copy(report->aggregate->gaps);
	for (i = 0; i < capture->files->len; i++)
		add_last_gap(report, gaps, i);
	g_array_sort(gaps, compare_gaps);
	return gaps;
}

GArray *kmt_report_gaps(const KmtReport *report)
{
	GArray *gaps = all_gaps(report);
	KmtInterval time;
	guint i, n = 0;

	if (!kmt_report_time_range(report, &time) || !gaps)
		return gaps;
	for (i = 0; i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);

		if (gap->until >= time.from && gap->since <= time.until)
			g_array_index(gaps, KmtMatchGap, n++) = *gap;
	}
	g_array_set_size(gaps, n);
	return gaps;
}

static void add_events(guint64 *sum, guint64 events)
{
	if (__builtin_add_overflow(*sum, events, sum))
		*sum = G_MAXUINT64;
}

void kmt_report_count_lost(KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;
	g_autoptr(GArray) gaps = all_gaps(report);
	KmtLost lost = {0};
	KmtInterval time;
	gboolean is_part = kmt_report_time_range(report, &time);
	guint i;

	lost.is_known = TRUE;
	if (!capture->has_overruns || !capture->overruns) {
		report->lost = lost;
		return;
	}
	if (!is_part || !gaps || has_unknown_number(gaps)) {
		lost.is_known = !is_part;
		lost.within = capture->overruns;
		report->lost = lost;
		return;
	}
	for (i = 0; i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);

		add_events(gap->until < time.from    ? &lost.before
			   : gap->since > time.until ? &lost.after
						     : &lost.within,
			   gap->events);
	}
	report->lost = lost;
}

/* ---- losses of windows ---- */

/* A sum that may exceed 64 bits. Terms are added and subtracted. */
typedef struct {
	guint64 low, high;
} WideSum;

static void wide_add(WideSum *sum, guint64 n)
{
	sum->high += __builtin_add_overflow(sum->low, n, &sum->low);
}

static void wide_subtract(WideSum *sum, const WideSum *n)
{
	sum->high -= n->high;
	sum->high -= __builtin_sub_overflow(sum->low, n->low, &sum->low);
}

static gint64 window_start(const KmtReport *report, guint i)
{
	return add_saturated(kmt_report_origin(report),
			     (gint64)MIN(report->aggregate->windows[i].start,
					 (guint64)G_MAXINT64));
}

/*
 * Return the first window that starts after @time, or n_windows if no window
 * does.
 */
static guint window_after(const KmtReport *report, gint64 time)
{
	guint low = 0, high = report->aggregate->n_windows;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (window_start(report, middle) > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/*
 * Return the first window that a loss from @since on can overlap: the window
 * before the first one that starts at or after @since. An event at the border
 * of two windows belongs to the earlier window.
 */
static guint window_of_begin(const KmtReport *report, gint64 since)
{
	guint i = since == G_MININT64 ? 0 : window_after(report, since - 1);

	return i ? i - 1 : 0;
}

guint64 *kmt_report_window_losses(const KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;
	guint n = report->aggregate->n_windows;
	g_autoptr(GArray) gaps = all_gaps(report);
	g_autofree WideSum *begin = g_new0(WideSum, n + 1);
	g_autofree WideSum *end = g_new0(WideSum, n + 1);
	WideSum sum = {0};
	guint64 *lost;
	KmtInterval time;

	if (!capture->has_overruns ||
	    (capture->overruns && (!gaps || has_unknown_number(gaps))))
		return NULL;
	kmt_report_time_range(report, &time);
	for (guint i = 0; capture->overruns && i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);
		guint last = window_after(report, gap->until);

		/* A loss before the first or after the last window overlaps no
		 * window. */
		if (last == 0 ||
		    gap->since > MAX(time.until, window_start(report, n - 1)))
			continue;
		wide_add(&begin[window_of_begin(report, gap->since)],
			 gap->events);
		wide_add(&end[last], gap->events);
	}
	lost = g_new0(guint64, n + 1);
	for (guint i = 0; i < n; i++) {
		wide_subtract(&sum, &end[i]);
		sum.high += begin[i].high;
		wide_add(&sum, begin[i].low);
		lost[i] = sum.high ? G_MAXUINT64 : sum.low;
	}
	return lost;
}

/* Return whether events are missing that could have changed any figure: they
 * were lost or not recorded, or a file is missing, shortened or damaged. The
 * function also returns TRUE if a file belongs to another capture. */
static gboolean has_lost(const KmtReport *report)
{
	const KmtInputCapture *c = report->capture;

	if (c->has_overruns && c->overruns &&
	    !kmt_report_lost_later_only(report))
		return TRUE;
	return c->incomplete || c->missing_files || c->unlisted_files ||
	       c->shortened || c->damaged || c->reports_loss;
}

gboolean kmt_report_lost_later_only(const KmtReport *report)
{
	const KmtLost *lost = &report->lost;

	return lost->is_known && lost->after && !lost->before && !lost->within;
}

KmtLoss kmt_report_loss_state(const KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;

	if (capture->has_overruns && capture->overruns &&
	    !kmt_report_lost_later_only(report))
		return KMT_LOSS_EVENTS;
	if (kmt_input_capture_is_truncated(capture))
		return KMT_LOSS_CUT;
	if (capture->incomplete)
		return KMT_LOSS_INCOMPLETE;
	if (capture->has_overruns)
		return KMT_LOSS_NONE;
	if (!capture->imported)
		return KMT_LOSS_UNKNOWN;
	return capture->reports_loss ? KMT_LOSS_UNCOUNTED
				     : KMT_LOSS_NOT_REPORTED;
}

const char *kmt_loss_name(KmtLoss loss)
{
	static const char *const names[] = {
		[KMT_LOSS_NONE] = "none",
		[KMT_LOSS_EVENTS] = "events",
		[KMT_LOSS_CUT] = "cut_off",
		[KMT_LOSS_INCOMPLETE] = "unknown",
		[KMT_LOSS_UNCOUNTED] = "unknown",
		[KMT_LOSS_NOT_REPORTED] = "unknown",
		[KMT_LOSS_UNKNOWN] = "unknown",
	};

	return names[loss];
}

/*
 * Set *span to the time in which every CPU has records. Return FALSE if a CPU
 * has no record.
 */
static gboolean common_span(const KmtInputCapture *capture, KmtInterval *span)
{
	guint i;

	span->from = G_MININT64;
	span->until = G_MAXINT64;
	for (i = 0; i < capture->files->len; i++) {
		gint64 first, last;

		if (!kmt_match_merge_file_span(
			    g_ptr_array_index(capture->files, i), &first,
			    &last))
			return FALSE;
		span->from = MAX(span->from, first);
		span->until = MIN(span->until, last);
	}
	return TRUE;
}

guint kmt_report_intervals(const KmtReport *report,
			   KmtInterval intervals[KMT_MAX_INTERVALS])
{
	const KmtInputCapture *capture = report->capture;
	gboolean cut = kmt_input_capture_is_truncated(capture);
	gboolean is_anywhere = has_lost(report);
	KmtInterval common, time;
	guint n = 0;

	if (!is_anywhere && !cut && !capture->continues)
		return 0;
	kmt_report_time_range(report, &time);
	if (is_anywhere || !common_span(capture, &common)) {
		intervals[0] = time;
		return 1;
	}
	if (capture->continues && common.from >= time.from)
		intervals[n++] =
			(KmtInterval){time.from, MIN(common.from, time.until)};
	if (cut && common.until <= time.until)
		intervals[n++] =
			(KmtInterval){MAX(common.until, time.from), time.until};
	return n;
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
	const KmtMatchGap *x = a, *y = b;

	return x->since < y->since ? -1 : x->since > y->since;
}

/* Return the length of the part of @time in which any CPU lost events, in ns.
 * The function sorts @gaps by time. */
static double length_of_gaps(GArray *gaps, const KmtInterval *time)
{
	double sum = 0;
	gint64 until = time->from;
	guint i;

	g_array_sort(gaps, compare_times);
	for (i = 0; i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);

		gint64 end = MIN(gap->until, time->until);
		gint64 begin = MAX(gap->since, until);

		if (end > begin)
			sum += (double)end - (double)begin;
		until = MAX(until, end);
	}
	return sum;
}

double kmt_report_lossy_fraction(const KmtReport *report)
{
	KmtInterval intervals[KMT_MAX_INTERVALS], time;
	guint n = kmt_report_intervals(report, intervals), i;
	g_autoptr(GArray) gaps = kmt_report_gaps(report);
	double blind = 0, all;

	kmt_report_time_range(report, &time);
	all = (double)time.until - (double)time.from;
	for (i = 0; !gaps && i < n; i++)
		blind += MAX(0.0, (double)intervals[i].until -
					  (double)intervals[i].from);
	if (gaps)
		blind = length_of_gaps(gaps, &time);
	if (!n)
		return 0;
	return all > 0 ? MIN(1.0, blind / all) : 1;
}

gboolean kmt_report_is_lossy(const KmtReport *report)
{
	return report->capture->has_blind_spots || has_lost(report) ||
	       kmt_input_capture_is_truncated(report->capture) ||
	       report->capture->continues;
}

gboolean kmt_report_is_doubtful(const KmtReport *report,
				const KmtReportField *field)
{
	if (has_lost(report))
		return TRUE;
	/* Events that are missing at an end of the capture, or that the source
	 * cannot record, make a sum smaller, but each counted event is right. A
	 * state, such as live bytes, may be wrong. */
	return kmt_report_is_lossy(report) && kmt_report_field_is_state(field);
}
