// SPDX-License-Identifier: GPL-2.0-or-later
/* The members of the HTML report about the capture and its defects. */
#include "config.h"

#include "report/html-private.h"

#define MAX_GAPS  2000
#define MAX_MARKS 1000
#define ALLOWANCE 150000

static void add_meta(KmtHtmlReport *html, const char *key, const char *meta)
{
	g_autofree char *value =
		kmt_report_meta_value(html->report->capture, meta);

	kmt_html_text(html->data, key, value);
}

/* Return a time in ns from the first record. */
static gint64 from_origin(const KmtHtmlReport *html, gint64 time)
{
	return (gint64)((guint64)time -
			(guint64)kmt_report_origin(html->report));
}

static void add_span(KmtHtmlReport *html, guint64 duration)
{
	const KmtSpan *span = html->report->span;

	kmt_html_begin(html->data, "span", '{');
	kmt_html_i64(html->data, "start_ns", span->start);
	kmt_html_u64(html->data, "stop_ns", MIN((guint64)span->stop, duration));
	kmt_html_end(html->data, '}');
}

void kmt_html_add_capture(KmtHtmlReport *html)
{
	const KmtInputCapture *capture = html->report->capture;
	const KmtAggregate *a = html->report->aggregate;
	guint64 duration =
		(guint64)a->last_timestamp - (guint64)a->first_timestamp;
	guint64 page_size = 0;
	gboolean changed, has_page_size = kmt_input_capture_meta_number(
				  capture, "page_size", &page_size);
	g_autofree char *recorded = kmt_input_capture_filter(capture, &changed);
	g_autofree char *filter =
		recorded && html->report->filter
			? g_strconcat(recorded, "; ", html->report->filter,
				      NULL)
			: g_strdup(recorded ? recorded : html->report->filter);

	kmt_html_begin(html->data, "capture", '{');
	kmt_html_text(html->data, "name",
		      capture->directory ? capture->directory
					 : "(single files)");
	add_meta(html, "kernel_release", "kernel_release");
	add_meta(html, "machine", "machine");
	add_meta(html, "source", "source");
	add_meta(html, "recorded", "start_time");
	kmt_html_u64(html->data, "cpus", capture->files->len);
	kmt_html_known_u64(html->data, "page_size", has_page_size, page_size);
	kmt_html_u64(html->data, "events",
		     capture->n_records - a->gap_records - a->stop_records -
			     a->mark_records);
	kmt_html_u64(html->data, "duration_ns",
		     a->has_sequence_times ? 0 : duration);
	kmt_html_i64(html->data, "origin_ns",
		     a->has_sequence_times ? 0
					   : kmt_report_origin(html->report));
	add_span(html, duration);
	kmt_html_text(html->data, "filter", filter);
	kmt_html_u64(html->data, "sample", MAX(1, capture->sample));
	kmt_html_flag(html->data, "has_times", !a->has_sequence_times);
	kmt_html_end(html->data, '}');
}

/* ---- losses ---- */

/* Return what the losses mean for the figures. The caller frees the string. */
static char *loss_summary(const KmtReport *report)
{
	switch (kmt_report_loss_state(report)) {
	case KMT_LOSS_NONE:
		return g_strdup("No event was lost.");
	case KMT_LOSS_EVENTS:
		return g_strdup_printf(
			"%" G_GUINT64_FORMAT
			" events were lost: no figure is complete, and live "
			"and peak bytes may be too high or too low.",
			report->lost.within);
	case KMT_LOSS_CUT:
		return g_strdup("The capture was cut off before its end: the "
				"last events of some CPUs may be missing.");
	case KMT_LOSS_INCOMPLETE:
		return g_strdup("Only a part of the events was recorded: no "
				"figure is complete.");
	case KMT_LOSS_UNCOUNTED:
		return g_strdup("Events were lost, in unknown number: no "
				"figure is complete.");
	case KMT_LOSS_NOT_REPORTED:
		return g_strdup("The recorder does not report losses: whether "
				"events were lost is unknown.");
	case KMT_LOSS_UNKNOWN:
	default:
		return g_strdup("kmemtrace.meta has no count of losses: "
				"whether events were lost is unknown.");
	}
}

/* Add the lines of a list as warnings. */
static void add_list(KmtHtmlReport *html, const char *title, char *const *list)
{
	guint i;

	for (i = 0; list && list[i]; i++) {
		g_autofree char *text =
			g_strdup_printf("%s: %s", title, list[i]);

		kmt_html_text(html->data, NULL, text);
	}
}

static void add_warnings(KmtHtmlReport *html)
{
	const KmtReport *report = html->report;
	g_auto(GStrv) incomplete =
		kmt_input_capture_incomplete(report->capture);
	g_auto(GStrv) not_seen = kmt_input_capture_not_seen(report->capture);
	g_auto(GStrv) off = kmt_input_capture_events_off(report->capture);
	guint i, n = report->warnings->len;

	kmt_html_begin(html->data, "warnings", '[');
	add_list(html, "incomplete", incomplete);
	add_list(html, "not seen", not_seen);
	add_list(html, "switched off, at least at times", off);
	if (report->aggregate->overflowed)
		kmt_html_text(html->data, NULL,
			      "some sums are wrong: they are above 2^64 - 1");
	kmt_html_allow(html->data, ALLOWANCE);
	for (i = 0; i < n; i++) {
		kmt_html_begin_element(html->data);
		kmt_html_text(html->data, NULL, report->warnings->pdata[i]);
		if (kmt_html_fits(html->data))
			continue;
		kmt_html_cut(html->data, "%u of %u warnings are left out.",
			     n - i, n);
		break;
	}
	kmt_html_end(html->data, ']');
}

static void add_gap(KmtHtmlReport *html, gint64 cpu, gint64 since, gint64 until,
		    guint64 events)
{
	kmt_html_begin(html->data, NULL, '{');
	kmt_html_i64(html->data, "cpu", cpu);
	kmt_html_i64(html->data, "from_ns", from_origin(html, since));
	kmt_html_i64(html->data, "until_ns", from_origin(html, until));
	kmt_html_known_u64(html->data, "events", events > 0, events);
	kmt_html_end(html->data, '}');
}

/*
 * Add the gaps, at most MAX_GAPS: @step neighbours of a CPU become one gap,
 * which includes the time between them.
 */
static void add_known_gaps(KmtHtmlReport *html, const GArray *gaps)
{
	GPtrArray *files = html->report->capture->files;
	guint step = (gaps->len + MAX_GAPS - 1) / MAX_GAPS, i, j;

	for (i = 0; i < gaps->len; i = j) {
		KmtMatchGap sum = g_array_index(gaps, KmtMatchGap, i);
		const KmtInputCpuFile *file = files->pdata[sum.file];

		for (j = i + 1; j < gaps->len && j < i + step; j++) {
			const KmtMatchGap *gap =
				&g_array_index(gaps, KmtMatchGap, j);

			if (gap->file != sum.file)
				break;
			sum.until = MAX(sum.until, gap->until);
			sum.events += gap->events;
		}
		add_gap(html, file->cpu, sum.since, sum.until, sum.events);
	}
	if (step > 1)
		kmt_html_cut(html->data,
			     "There are %u losses: up to %u neighbours are "
			     "shown as one, with the time between them.",
			     gaps->len, step);
}

/* Add the losses. If their times are unknown, add the intervals that are not
 * exact, with CPU -1. */
static void add_gaps(KmtHtmlReport *html)
{
	g_autoptr(GArray) gaps = kmt_report_gaps(html->report);
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(html->report, intervals), i;

	kmt_html_begin(html->data, "gaps", '[');
	if (html->report->aggregate->has_sequence_times)
		n = 0;
	else if (gaps && gaps->len)
		add_known_gaps(html, gaps);
	else
		for (i = 0; i < n; i++)
			add_gap(html, -1, intervals[i].from, intervals[i].until,
				0);
	kmt_html_end(html->data, ']');
}

void kmt_html_add_trust(KmtHtmlReport *html)
{
	const KmtReport *report = html->report;
	g_autofree char *summary = loss_summary(report);

	kmt_html_begin(html->data, "trust", '{');
	kmt_html_text(html->data, "loss",
		      kmt_loss_name(kmt_report_loss_state(report)));
	kmt_html_known_u64(html->data, "lost_events",
			   report->capture->has_overruns, report->lost.within);
	kmt_html_fraction(html->data, "lossy_fraction",
			  kmt_report_lossy_fraction(report));
	add_warnings(html);
	kmt_html_text(html->data, "summary", summary);
	kmt_html_end(html->data, '}');
	add_gaps(html);
}

/* ---- marks ---- */

static gboolean has_stream(const KmtInputCapture *capture)
{
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->stream)
			return TRUE;
	}
	return FALSE;
}

static void add_mark_list(KmtHtmlReport *html, const KmtPhases *phases)
{
	guint n = phases->starts->len, i;

	kmt_html_allow(html->data, ALLOWANCE);
	for (i = 0; i < MIN(n, MAX_MARKS); i++) {
		g_autofree char *label = kmt_phases_label(phases, i + 1);
		gint64 time = g_array_index(phases->starts, gint64, i);

		kmt_html_begin_element(html->data);
		kmt_html_begin(html->data, NULL, '{');
		kmt_html_i64(html->data, "at_ns", from_origin(html, time));
		kmt_html_text(html->data, "label", label);
		kmt_html_end(html->data, '}');
		if (!kmt_html_fits(html->data))
			break;
	}
	if (i < n)
		kmt_html_cut(html->data, "The first %u of %u marks are shown.",
			     i, n);
}

void kmt_html_add_marks(KmtHtmlReport *html)
{
	const KmtReport *report = html->report;

	kmt_html_begin(html->data, "marks", '[');
	/* The marks are read from the records again, unless an option needed
	 * them before. A stream cannot be read again. */
	if (report->phases) {
		add_mark_list(html, report->phases);
	} else if (report->aggregate->mark_records &&
		   !has_stream(report->capture)) {
		g_autoptr(KmtPhases) phases =
			kmt_phases_new(report->capture, report->symbolizer);

		add_mark_list(html, phases);
	} else if (report->aggregate->mark_records) {
		kmt_html_cut(html->data,
			     "The marks are not shown, because the capture was "
			     "read from a pipe.");
	}
	kmt_html_end(html->data, ']');
}
