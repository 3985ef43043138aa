// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns the options of the command line into the plan of a report. */
#include "config.h"

#include "lib/cli/cli.h"
#include "report/report-plan-private.h"

#include <string.h>
#include <unistd.h>

#define DEFAULT_LINES 20
/* Upper limit of --jobs. The pipeline starts at most 16 threads. */
#define MAX_JOBS	 256
#define DEFAULT_CHURN_NS 1000000
/* Default columns of the report, of --live, and of --time peak. */
#define FIELDS_DEFAULT                                                         \
	"wasted,frag,requested,allocated,allocs,frees,live,peak,cross-cpu"
#define FIELDS_LIVE                                                            \
	"live,live-objects,reused,live-wasted,live-frag,at-peak,peak"
#define FIELDS_PEAK "at-peak,peak,live,allocs,frees"
/* A comparison prints a list for each field. */
#define FIELDS_DIFF	 "live,wasted,peak,allocs"
#define FIELDS_DIFF_LIVE "live"
#define FIELDS_DIFF_PEAK "at-peak"

void kmt_plan_clear(KmtPlan *plan)
{
	kmt_filter_clear(&plan->filter);
	g_free(plan->file);
	g_free(plan->filter_text);
	kmt_output_file_free(plan->output);
	kmt_html_template_clear(&plan->template);
	kmt_sort_free(plan->sort);
	kmt_sym_wrappers_free(plan->skip);
	if (plan->fields)
		g_ptr_array_unref(plan->fields);
	kmt_phases_free(plan->phases);
	g_free(plan->start.mark);
	g_free(plan->stop.mark);
	g_free(plan->diff.mark);
}

/* Set the dimensions. --stacks adds the dimension stack to those of --by;
 * without --by, stack is the only dimension. */
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
		return kmt_plan_invalid(error, "--skip: only with --by owner");
	if (o->skip && !kmt_filter_set_globs(&globs, "--skip", o->skip, error))
		return FALSE;
	plan->skip = kmt_sym_wrappers_new();
	if (!kmt_by_has(&plan->by, KMT_BY_OWNER) && !o->advise)
		return TRUE;
	for (i = 0; globs && globs[i]; i++)
		kmt_sym_wrappers_add(plan->skip, globs[i]);
	return kmt_sym_wrappers_load(plan->skip, g_getenv("KMEMTRACE_WRAPPERS"),
				     error);
}

static gboolean set_form(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	if (o->json + o->csv + o->folded > 1)
		return kmt_plan_invalid(error,
					"--json, --csv and --folded: only one");
	plan->form = o->json	 ? KMT_FORM_JSON
		     : o->csv	 ? KMT_FORM_CSV
		     : o->folded ? KMT_FORM_FOLDED
				 : KMT_FORM_TEXT;
	if ((o->csv || o->folded) && (o->leaks || o->windows || o->cross_cpu ||
				      o->histogram || o->marks || o->advise)) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: not with %s, which has the table only; use "
			    "--json",
			    o->leaks	   ? "--leaks"
			    : o->windows   ? "--windows"
			    : o->cross_cpu ? "--cross-cpu"
			    : o->marks	   ? "--marks"
			    : o->advise	   ? "--advise"
					   : "--histogram",
			    o->csv ? "--csv" : "--folded");
		return FALSE;
	}
	if (!kmt_plan_set_file(plan, o, error))
		return FALSE;
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
		return kmt_plan_invalid(error,
					"--module: not with --raw-ip, which "
					"hides the modules of addresses");
	if (o->lifetime && (o->windows || o->leaks))
		return kmt_plan_invalid(
			error, "--lifetime: not with --windows or --leaks, "
			       "because a lifetime is known only when the "
			       "object is freed");
	if (o->lifetime && o->advise)
		return kmt_plan_invalid(
			error, "--lifetime: not with --advise, which examines "
			       "how long objects live");
	if (o->lifetime && g_strcmp0(o->time, "peak") == 0)
		return kmt_plan_invalid(
			error, "--lifetime: not with --time peak, because the "
			       "peaks of such objects are unknown");
	return (!o->callsite || kmt_filter_set_globs(&f->callsite, "--callsite",
						     o->callsite, error)) &&
	       (!o->module || kmt_filter_set_globs(&f->module, "--module",
						   o->module, error)) &&
	       (!o->cgroup || kmt_filter_set_globs(&f->cgroup, "--cgroup",
						   o->cgroup, error)) &&
	       (!o->kind || kmt_filter_set_kinds(f, o->kind, error)) &&
	       (!o->cpu || kmt_filter_set_cpus(f, o->cpu, error)) &&
	       (!o->node || kmt_filter_set_nodes(f, o->node, error)) &&
	       (!o->size || kmt_filter_set_size(f, o->size, error)) &&
	       (!o->lifetime || kmt_filter_set_lifetime(f, o->lifetime, error));
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
			return kmt_plan_invalid_value(error, "--churn",
						      o->churn,
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
		return kmt_plan_invalid_value(error, "--histogram",
					      o->histogram, "lifetime or size");
	return TRUE;
}

/* Return the value of --fields if the option is not given. */
static const char *default_fields(const KmtPlan *plan, const KmtOptions *o,
				  gboolean peak)
{
	if (plan->form == KMT_FORM_FOLDED)
		return o->live ? "live" : peak ? "at-peak" : "allocated";
	if (o->diff)
		return o->live ? FIELDS_DIFF_LIVE
		       : peak  ? FIELDS_DIFF_PEAK
			       : FIELDS_DIFF;
	return o->live ? FIELDS_LIVE : peak ? FIELDS_PEAK : FIELDS_DEFAULT;
}

static gboolean set_table(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	gboolean peak = o->time && strcmp(o->time, "peak") == 0;
	const char *fields =
		o->fields ? o->fields : default_fields(plan, o, peak);
	const char *sort = o->live		    ? "live"
			   : peak		    ? "at-peak"
			   : plan->report.histogram ? "allocs"
			   : o->page && !o->slab    ? "allocated"
						    : "wasted";
	guint i;

	plan->fields = kmt_fields_parse(fields, error);
	if (!plan->fields)
		return FALSE;
	if (plan->form == KMT_FORM_FOLDED &&
	    !kmt_report_field_is_count(plan->fields->pdata[0]))
		return kmt_plan_invalid_value(
			error, "--fields", o->fields,
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
		plan->report.histogram || o->leaks || plan->aggregate.history ||
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
	report->bars =
		report->separators ? kmt_bar_locale_style() : KMT_BAR_NONE;
	report->shows_advice = o->advise;
	report->selects_sections = o->live || o->leaks || o->cross_cpu ||
				   o->windows || o->histogram || o->marks ||
				   o->advise;
	report->shows_groups =
		!report->selects_sections || o->live || o->fields;
	/* The default report has a short section of cross-CPU frees by group;
	 * --cross-cpu prints a longer section. */
	report->shows_cross_cpu = !report->selects_sections && !o->fields &&
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
		return kmt_plan_invalid(error,
					"--kallsyms and --system-map: only one "
					"can provide the symbols");
	if (!kmt_cli_parse_number(o->clock_tolerance,
				  KMT_MATCH_CLOCK_TOLERANCE_MAX_NS,
				  "--clock-tolerance", &tolerance_ns, error) ||
	    !kmt_cli_parse_number(o->jobs, MAX_JOBS, "--jobs", &jobs, error) ||
	    !set_by(plan, o, error) || !set_skip(plan, o, error) ||
	    !kmt_input_layout_parse(o->layout, &plan->capture.layout, error) ||
	    !kmt_plan_set_diff(plan, o, error) || !set_form(plan, o, error) ||
	    !set_filter(plan, o, error) || !kmt_plan_set_time(plan, o, error) ||
	    !set_histogram(plan, o, error) || !set_table(plan, o, error))
		return FALSE;
	plan->aggregate.clock_tolerance_ns = (gint64)tolerance_ns;
	plan->aggregate.jobs = jobs ? (guint)jobs : g_get_num_processors();
	/* Without a STOP, the length of windows depends on the ends of all
	 * files. A kernel clock time depends on the beginnings of all files,
	 * and a mark on all records. The advice reads the records twice. All
	 * four need files instead of streams.
	 */
	plan->capture.random_access =
		(plan->aggregate.span.windows && plan->whole_span) ||
		plan->start.by_clock || plan->stop.by_clock ||
		kmt_plan_needs_marks(plan) || o->advise;
	set_report(plan, o);
	return TRUE;
}

gboolean kmt_plan_needs_times(const KmtPlan *plan)
{
	const KmtAggregateOptions *o = &plan->aggregate;

	return plan->start.given || plan->stop.given || o->span.windows ||
	       o->lifetimes || plan->filter.lifetime ||
	       plan->report.shows_advice || plan->diff.per != KMT_DIFF_PER_NONE;
}
