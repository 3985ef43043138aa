// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns --time, --windows and --leaks into the span and windows of a report. */
#include "config.h"

#include "lib/cli/cli.h"
#include "report/columns.h"
#include "report/leaks.h"
#include "report/report-plan-private.h"

#include <string.h>

/* Number of windows for --leaks without --windows. */
#define DEFAULT_WINDOWS 10
/* Number of windows for --perfetto without --windows. */
#define TRACK_WINDOWS 1000
/*
 * Memory limit for windows: WINDOWS_BYTES plus the size of the capture files.
 * Each window takes WINDOW_BYTES: a KmtWindow and, for its losses, two sums of
 * 16 bytes and one of 8 bytes.
 */
#define WINDOWS_BYTES ((guint64)96 << 20)
/* The aggregate has 32-bit window numbers. */
#define MAX_WINDOWS  (G_MAXUINT32 - 1)
#define WINDOW_BYTES ((guint64)sizeof(KmtWindow) + 40)

/*
 * Return the unit named by @text in ns; an empty text means seconds. Return 0
 * if the unit is unknown.
 */
static gint64 read_unit(const char *text)
{
	return !*text || strcmp(text, "s") == 0 ? 1000000000
	       : strcmp(text, "ms") == 0	? 1000000
	       : strcmp(text, "us") == 0	? 1000
	       : strcmp(text, "ns") == 0	? 1
						: 0;
}

/*
 * Read the name of a mark, or a time with a resolution of 1 ns in integer
 * arithmetic, because a double is not exact.
 */
static gboolean read_moment(const char *text, KmtMoment *moment)
{
	const char *decimals = NULL;
	guint64 whole;
	gint64 unit;
	char *end;

	/* A moment that begins with a letter or _ is the name of a mark. */
	if (g_ascii_isalpha(*text) || *text == '_') {
		moment->mark = g_strdup(text);
		moment->given = TRUE;
		return TRUE;
	}
	moment->by_clock = *text == '@';
	text += moment->by_clock;
	moment->given = TRUE;
	whole = g_ascii_strtoull(text, &end, 10);
	if (!g_ascii_isdigit(*text))
		return FALSE;
	if (*end == '.' && g_ascii_isdigit(end[1]))
		for (decimals = ++end; g_ascii_isdigit(*end);)
			end++;
	unit = read_unit(end);
	if (!unit ||
	    whole >= G_GUINT64_CONSTANT(9000000000000000000) / (guint64)unit)
		return FALSE;
	moment->ns = (gint64)whole * unit;
	for (; decimals && decimals < end; decimals++) {
		if (unit == 1)
			return FALSE;
		unit /= 10;
		moment->ns += g_ascii_digit_value(*decimals) * unit;
	}
	return TRUE;
}

static gboolean stop_before_start(GError **error)
{
	return kmt_plan_invalid(error, "--time: STOP is before START");
}

static gboolean read_span(KmtPlan *plan, const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit(text, ",", -1);

	if (g_strv_length(words) != 2 ||
	    (*words[0] && !read_moment(words[0], &plan->start)) ||
	    (*words[1] && !read_moment(words[1], &plan->stop)))
		return kmt_plan_invalid_value(
			error, "--time", text,
			"START,STOP as 1.5,2 (seconds from the first "
			"record), 500ms,2s or @29.5,@30 (the kernel's "
			"clock) or as names of marks, one of which "
			"may be left out, or 'peak'");
	if (plan->stop.given && !plan->start.mark && !plan->stop.mark &&
	    plan->stop.by_clock == plan->start.by_clock &&
	    plan->stop.ns < plan->start.ns)
		return stop_before_start(error);
	return TRUE;
}

/* Return a moment in ns from the first record, which is at kernel clock time
 * @origin. A moment before the first record becomes 0. */
static gint64 from_origin(const KmtMoment *moment, gint64 origin)
{
	gint64 ns;

	if (!moment->by_clock)
		return moment->ns;
	if (moment->ns <= origin)
		return 0;
	return __builtin_sub_overflow(moment->ns, origin, &ns) ? G_MAXINT64 - 1
							       : ns;
}

gboolean kmt_plan_needs_marks(const KmtPlan *plan)
{
	return plan->start.mark || plan->stop.mark || plan->diff.mark ||
	       plan->report.shows_marks || plan->form == KMT_FORM_PERFETTO ||
	       kmt_by_has(&plan->by, KMT_BY_MARK);
}

/* If the moment names a mark, resolve it to its kernel clock time, in ns. A
 * name selects the first mark of that name later than @after. */
static gboolean find_mark(const KmtPlan *plan, KmtMoment *moment, gint64 after,
			  GError **error)
{
	if (!moment->mark)
		return TRUE;
	moment->by_clock = TRUE;
	return kmt_phases_find(plan->phases, moment->mark, after, &moment->ns,
			       error);
}

static gboolean find_marks(KmtPlan *plan, const KmtInputCapture *capture,
			   const KmtSymbolizer *symbolizer, GError **error)
{
	gint64 after = G_MININT64;

	if (!kmt_plan_needs_marks(plan))
		return TRUE;
	kmt_phases_free(plan->phases);
	plan->phases = kmt_phases_new(capture, symbolizer);
	plan->aggregate.phases = plan->phases;
	plan->report.phases = plan->phases;
	if (!find_mark(plan, &plan->start, after, error))
		return FALSE;
	if (plan->start.mark)
		after = plan->start.ns;
	return find_mark(plan, &plan->stop, after, error);
}

/* Refuse a number of windows that needs more memory than the limit. */
static gboolean check_windows(const KmtSpan *span,
			      const KmtInputCapture *capture, GError **error)
{
	guint64 bytes = WINDOWS_BYTES, max;

	for (guint i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		bytes += MIN(file->size, G_MAXUINT64 / 2 - bytes);
	}
	max = bytes / WINDOW_BYTES;
	if (span->windows <= max)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--windows '%u': the memory of this report is bounded, and "
		    "for this capture it has room for %" G_GUINT64_FORMAT
		    " windows; choose fewer",
		    span->windows, max);
	return FALSE;
}

gboolean kmt_plan_resolve_time(KmtPlan *plan, const KmtInputCapture *capture,
			       const KmtSymbolizer *symbolizer, GError **error)
{
	KmtSpan *span = &plan->aggregate.span;
	gint64 origin = 0;

	if (!find_marks(plan, capture, symbolizer, error))
		return FALSE;
	if (plan->start.by_clock || plan->stop.by_clock)
		kmt_report_first_timestamp(capture, &origin);
	span->start = from_origin(&plan->start, origin);
	span->stop = plan->stop.given ? from_origin(&plan->stop, origin)
				      : G_MAXINT64;
	if (plan->stop.by_clock && plan->stop.ns < origin) {
		g_autofree char *first = kmt_format_seconds(origin, FALSE);

		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--time: STOP is before the first record, which "
			    "is at %s s of the kernel's clock",
			    first);
		return FALSE;
	}
	if (span->stop < span->start)
		return stop_before_start(error);
	plan->filter.starts_later = span->start > 0;
	if (!check_windows(span, capture, error))
		return FALSE;
	span->windows_stop = (guint64)span->stop;
	if (span->windows && plan->whole_span)
		span->windows_stop = kmt_report_capture_duration(capture);
	return TRUE;
}

gboolean kmt_plan_check_span(const KmtPlan *plan, GError **error)
{
	const KmtReport *report = &plan->report;
	const KmtAggregate *a = report->aggregate;
	gint64 origin = kmt_report_origin(report);
	guint64 length = (guint64)a->last_timestamp - (guint64)origin;
	g_autofree char *text = kmt_format_elapsed(length, FALSE);

	if (!report->capture->n_records || a->last_timestamp < origin ||
	    (guint64)plan->aggregate.span.start <= length)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--time: START is beyond the end: the capture is %s s long",
		    text);
	return FALSE;
}

gboolean kmt_plan_set_time(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	KmtSpan *span = &plan->aggregate.span;
	guint64 windows = o->leaks			    ? DEFAULT_WINDOWS
			  : plan->form == KMT_FORM_PERFETTO ? TRACK_WINDOWS
							    : 0;

	plan->report.is_peak = g_strcmp0(o->time, "peak") == 0;
	if (o->time && !plan->report.is_peak &&
	    !read_span(plan, o->time, error))
		return FALSE;
	if (!kmt_cli_parse_number(o->windows, MAX_WINDOWS, "--windows",
				  &windows, NULL) ||
	    (o->windows && !windows)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--windows '%s': not a number from 1 to %u",
			    o->windows, MAX_WINDOWS);
		return FALSE;
	}
	if (o->leaks && windows < KMT_LEAK_MIN_WINDOWS) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--leaks: --windows must be %d or more, because "
			    "growth needs several windows",
			    KMT_LEAK_MIN_WINDOWS);
		return FALSE;
	}
	plan->whole_span = !plan->stop.given;
	span->windows = (guint)windows;
	plan->report.shows_windows = o->windows && windows > 0;
	plan->report.shows_leaks = o->leaks;
	plan->report.shows_marks = o->marks;
	plan->report.span = span;
	return TRUE;
}
