// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns the options of the command line into the plan of a report. */
#include "config.h"

#include "lib/cli/cli.h"
#include "report/columns.h"
#include "report/leaks.h"
#include "report/report-options.h"

#include <string.h>
#include <unistd.h>

#define DEFAULT_LINES 20
/* Upper limit of --jobs. The pipeline starts fewer threads. */
#define MAX_JOBS	 256
#define DEFAULT_CHURN_NS 1000000
/* Number of windows for --leaks without --windows. */
#define DEFAULT_WINDOWS 10
/*
 * Memory limit for windows: a fixed part, and the size of the capture. Each
 * window takes a KmtWindow and, for its losses, two sums of 16 bytes and one of
 * 8 bytes.
 */
#define WINDOWS_BYTES ((guint64)96 << 20)
/* The aggregate has 32-bit window numbers. */
#define MAX_WINDOWS  (G_MAXUINT32 - 1)
#define WINDOW_BYTES ((guint64)sizeof(KmtWindow) + 40)
/* Default columns of the report, of --live, and of --time peak. */
#define FIELDS_DEFAULT                                                         \
	"wasted,frag,requested,allocated,allocs,frees,live,peak,cross-cpu"
#define FIELDS_LIVE                                                            \
	"live,live-objects,reused,live-wasted,live-frag,at-peak,peak"
#define FIELDS_PEAK "at-peak,peak,live,allocs,frees"

void kmt_plan_clear(KmtPlan *plan)
{
	kmt_filter_clear(&plan->filter);
	kmt_sort_free(plan->sort);
	kmt_sym_wrappers_free(plan->skip);
	if (plan->fields)
		g_ptr_array_unref(plan->fields);
	kmt_phases_free(plan->phases);
	g_free(plan->start.mark);
	g_free(plan->stop.mark);
}

static gboolean bad(GError **error, const char *message)
{
	g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    message);
	return FALSE;
}

static gboolean bad_value(GError **error, const char *option, const char *value,
			  const char *form)
{
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s '%s': not %s", option, value, form);
	return FALSE;
}

/* Set the dimensions. --stacks adds the stack, or replaces the default. */
static gboolean set_by(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	g_autofree char *by = NULL;

	if (o->stacks)
		by = g_strconcat(o->by ? o->by : "", o->by ? "," : "", "stack",
				 NULL);
	return kmt_by_parse(by	    ? by
			    : o->by ? o->by
				    : "callsite",
			    &plan->by, error);
}

static gboolean set_skip(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	g_auto(GStrv) globs = NULL;
	guint i;

	if (o->skip && !kmt_by_has(&plan->by, KMT_BY_OWNER))
		return bad(error, "--skip: with --by owner, as it says who is "
				  "none");
	if (o->skip && !kmt_filter_set_globs(&globs, "--skip", o->skip, error))
		return FALSE;
	plan->skip = kmt_sym_wrappers_new();
	if (!kmt_by_has(&plan->by, KMT_BY_OWNER))
		return TRUE;
	for (i = 0; globs && globs[i]; i++)
		kmt_sym_wrappers_add(plan->skip, globs[i]);
	return kmt_sym_wrappers_load(plan->skip, g_getenv("KMEMTRACE_WRAPPERS"),
				     error);
}

static gboolean set_form(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	if (o->json + o->csv + o->folded > 1)
		return bad(error, "--json, --csv and --folded: only one");
	plan->form = o->json	 ? KMT_FORM_JSON
		     : o->csv	 ? KMT_FORM_CSV
		     : o->folded ? KMT_FORM_FOLDED
				 : KMT_FORM_TEXT;
	if ((o->csv || o->folded) && (o->leaks || o->windows || o->cross_cpu ||
				      o->histogram || o->marks)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: not with %s, which has the table only; use "
			    "--json",
			    o->leaks	   ? "--leaks"
			    : o->windows   ? "--windows"
			    : o->cross_cpu ? "--cross-cpu"
			    : o->marks	   ? "--marks"
					   : "--histogram",
			    o->csv ? "--csv" : "--folded");
		return FALSE;
	}
	plan->report.max_lines =
		plan->form == KMT_FORM_TEXT ? DEFAULT_LINES : 0;
	return kmt_cli_parse_number(o->lines, G_MAXUINT32, "--lines",
				    &plan->report.max_lines, error);
}

static gboolean set_filter(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	KmtFilter *f = &plan->filter;

	kmt_filter_init(f);
	if (o->module && o->raw_ip)
		return bad(error, "--module: with --raw-ip no address is known "
				  "to be of a module");
	if (o->lifetime && (o->windows || o->leaks))
		return bad(error, "--lifetime: not with --windows or --leaks, "
				  "as what an object counts for is only known "
				  "when it is freed");
	if (o->lifetime && g_strcmp0(o->time, "peak") == 0)
		return bad(error, "--lifetime: not with --time peak, as peaks "
				  "of such objects are not known");
	return (!o->callsite || kmt_filter_set_globs(&f->callsite, "--callsite",
						     o->callsite, error)) &&
	       (!o->module || kmt_filter_set_globs(&f->module, "--module",
						   o->module, error)) &&
	       (!o->kind || kmt_filter_set_kinds(f, o->kind, error)) &&
	       (!o->cpu || kmt_filter_set_cpus(f, o->cpu, error)) &&
	       (!o->node || kmt_filter_set_nodes(f, o->node, error)) &&
	       (!o->size || kmt_filter_set_size(f, o->size, error)) &&
	       (!o->lifetime || kmt_filter_set_lifetime(f, o->lifetime, error));
}

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
 * Read a moment with up to nine decimals of a second in integer arithmetic,
 * because a double is not exact.
 */
static gboolean read_moment(const char *text, KmtMoment *moment)
{
	const char *decimals = NULL;
	guint64 whole;
	gint64 unit;
	char *end;

	/* A moment that begins with a letter is the name of a mark. */
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
	return bad(error, "--time: STOP is before START");
}

static gboolean read_span(KmtPlan *plan, const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit(text, ",", -1);

	if (g_strv_length(words) != 2 ||
	    (*words[0] && !read_moment(words[0], &plan->start)) ||
	    (*words[1] && !read_moment(words[1], &plan->stop)))
		return bad_value(error, "--time", text,
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

/* Return a moment in ns from the first record. An earlier moment becomes 0. */
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

static gboolean needs_marks(const KmtPlan *plan)
{
	return plan->start.mark || plan->stop.mark ||
	       plan->report.shows_marks || kmt_by_has(&plan->by, KMT_BY_MARK);
}

/* Resolve a mark to its kernel clock time, in ns. */
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
			   const KmtSymbolizer *names, GError **error)
{
	gint64 after = G_MININT64;

	if (!needs_marks(plan))
		return TRUE;
	kmt_phases_free(plan->phases);
	plan->phases = kmt_phases_new(capture, names);
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

gboolean kmt_plan_place(KmtPlan *plan, const KmtInputCapture *capture,
			const KmtSymbolizer *names, GError **error)
{
	KmtSpan *span = &plan->aggregate.span;
	gint64 origin = 0;

	if (!find_marks(plan, capture, names, error))
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
		span->windows_stop = kmt_report_length(capture);
	return TRUE;
}

gboolean kmt_plan_check_span(const KmtPlan *plan, GError **error)
{
	const KmtReport *report = &plan->report;
	const KmtAggregate *a = report->aggregate;
	gint64 origin = kmt_report_origin(report);
	guint64 length = (guint64)a->last_timestamp - (guint64)origin;
	g_autofree char *text = kmt_format_length(length, FALSE);

	if (!report->capture->n_records || a->last_timestamp < origin ||
	    (guint64)plan->aggregate.span.start <= length)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "--time: START is beyond the end: the capture is %s s long",
		    text);
	return FALSE;
}

static gboolean set_time(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	KmtSpan *span = &plan->aggregate.span;
	guint64 windows = o->leaks ? DEFAULT_WINDOWS : 0;

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
			    "--leaks: --windows must be %d at least, as "
			    "growth is seen over time",
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

static gboolean set_histogram(KmtPlan *plan, const KmtOptions *o,
			      GError **error)
{
	KmtFilter churn;

	plan->aggregate.churn_ns = DEFAULT_CHURN_NS;
	if (o->churn) {
		/* --churn has the format of a lifetime, with one value instead
		 * of a range. */
		kmt_filter_init(&churn);
		if (!kmt_filter_set_lifetime(&churn, o->churn, NULL) ||
		    churn.lifetime_min != churn.lifetime_max)
			return bad_value(error, "--churn", o->churn,
					 "a time as 100us or 2s");
		plan->aggregate.churn_ns = churn.lifetime_min;
	}
	if (!o->histogram)
		return TRUE;
	if (strcmp(o->histogram, "lifetime") == 0)
		plan->report.histogram = KMT_HISTOGRAM_LIFETIME;
	else if (strcmp(o->histogram, "size") == 0)
		plan->report.histogram = KMT_HISTOGRAM_SIZE;
	else
		return bad_value(error, "--histogram", o->histogram,
				 "lifetime or size");
	return TRUE;
}

static gboolean set_table(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	gboolean peak = o->time && strcmp(o->time, "peak") == 0;
	const char *fields = o->live ? FIELDS_LIVE
			     : peak  ? FIELDS_PEAK
				     : FIELDS_DEFAULT;
	const char *sort = o->live		    ? "live"
			   : peak		    ? "at-peak"
			   : plan->report.histogram ? "allocs"
						    : "wasted";
	guint i;

	if (plan->form == KMT_FORM_FOLDED && !o->fields)
		fields = o->live ? "live" : peak ? "at-peak" : "allocated";
	plan->fields = kmt_fields_parse(o->fields ? o->fields : fields, error);
	if (!plan->fields)
		return FALSE;
	if (plan->form == KMT_FORM_FOLDED &&
	    !kmt_report_field_is_count(plan->fields->pdata[0]))
		return bad_value(error, "--fields", o->fields,
				 "a weight for --folded: the first must count "
				 "bytes, objects or events");
	plan->sort = kmt_sort_parse(o->sort ? o->sort : sort, error);
	if (!plan->sort)
		return FALSE;
	/* Show the sort keys as columns, so that the order of lines is visible.
	 */
	if (plan->form == KMT_FORM_TEXT && o->sort)
		kmt_sort_add_fields(plan->sort, plan->fields);
	/* JSON with windows includes all details of groups. */
	plan->aggregate.lifetimes =
		plan->report.histogram || o->leaks ||
		(plan->form == KMT_FORM_JSON && o->windows) ||
		kmt_sort_needs_lifetimes(plan->sort);
	for (i = 0; i < plan->fields->len; i++)
		plan->aggregate.lifetimes |= kmt_report_field_needs_lifetimes(
			plan->fields->pdata[i]);
	return TRUE;
}

static void set_report(KmtPlan *plan, const KmtOptions *o)
{
	KmtReport *report = &plan->report;

	report->by = &plan->by;
	report->sort = plan->sort;
	report->fields = plan->fields;
	report->slab_only = o->slab;
	report->pages_only = o->page;
	report->live_only = o->live;
	report->before_trace = o->before_trace;
	report->separators =
		plan->form == KMT_FORM_TEXT && isatty(STDOUT_FILENO);
	report->is_answer = o->live || o->leaks || o->cross_cpu || o->windows ||
			    o->histogram || o->marks;
	report->shows_groups = !report->is_answer || o->live || o->fields;
	/* The default report has a short section of cross-CPU frees by group;
	 * --cross-cpu prints a longer section. */
	report->shows_cross_cpu = !report->is_answer && !o->fields &&
				  !o->time && plan->by.n == 1 &&
				  plan->by.dimensions[0] == KMT_BY_CALLSITE;
	plan->aggregate.by = &plan->by;
	plan->aggregate.skip = plan->skip;
	plan->aggregate.filter = &plan->filter;
	plan->aggregate.cross = o->cross_cpu;
}

gboolean kmt_plan_make(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	guint64 tolerance_ns = KMT_MATCH_CLOCK_TOLERANCE_NS, jobs = 0;

	if (o->kallsyms && o->system_map)
		return bad(error, "--kallsyms and --system-map: only one can "
				  "be where the names are from");
	if (!kmt_cli_parse_number(o->clock_tolerance,
				  KMT_MATCH_CLOCK_TOLERANCE_MAX_NS,
				  "--clock-tolerance", &tolerance_ns, error) ||
	    !kmt_cli_parse_number(o->jobs, MAX_JOBS, "--jobs", &jobs, error) ||
	    !set_by(plan, o, error) || !set_skip(plan, o, error) ||
	    !kmt_input_layout_parse(o->layout, &plan->capture.layout, error) ||
	    !set_form(plan, o, error) || !set_filter(plan, o, error) ||
	    !set_time(plan, o, error) || !set_histogram(plan, o, error) ||
	    !set_table(plan, o, error))
		return FALSE;
	plan->aggregate.clock_tolerance_ns = (gint64)tolerance_ns;
	plan->aggregate.jobs = jobs ? (guint)jobs : g_get_num_processors();
	/* The length of windows depends on the ends of all files. A kernel
	 * clock time or a mark depends on the beginnings of all files. Both
	 * need files instead of streams. */
	plan->capture.random_access =
		(plan->aggregate.span.windows && plan->whole_span) ||
		plan->start.by_clock || plan->stop.by_clock ||
		needs_marks(plan);
	set_report(plan, o);
	return TRUE;
}
