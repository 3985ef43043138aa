// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of a report that is written to a file: --html. */
#include "config.h"

#include "report/report-plan-private.h"

/* Return the name of an option that the file of the report leaves no choice
 * for, or NULL. */
static const char *excluded_option(const KmtOptions *o)
{
	const struct {
		gboolean given;
		const char *name;
	} options[] = {
		{o->by != NULL, "--by"},
		{o->stacks, "--stacks"},
		{o->skip != NULL, "--skip"},
		{o->fields != NULL, "--fields"},
		{o->sort != NULL, "--sort"},
		{o->lines != NULL, "--lines"},
		{o->windows != NULL, "--windows"},
		{o->histogram != NULL, "--histogram"},
		{o->live, "--live"},
		{o->leaks, "--leaks"},
		{o->cross_cpu, "--cross-cpu"},
		{o->marks, "--marks"},
		{o->before_trace, "--before-trace"},
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

/* Return the options that select objects as text, or NULL. The caller frees the
 * string. */
static char *filter_text(const KmtOptions *o)
{
	const struct {
		const char *name;
		const char *value;
	} options[] = {
		{"--kind", o->kind},	 {"--cpu", o->cpu},
		{"--node", o->node},	 {"--size", o->size},
		{"--module", o->module}, {"--callsite", o->callsite},
		{"--cgroup", o->cgroup},
	};
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].value)
			g_string_append_printf(
				text, "%s%s %s", text->len ? " " : "",
				options[i].name, options[i].value);
	return g_string_free(text, !text->len);
}

gboolean kmt_plan_set_file(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	const char *excluded = excluded_option(o);

	if (!o->html)
		return TRUE;
	if (o->json || o->csv || o->folded)
		return kmt_plan_invalid(error, "--html: not with --json, --csv "
					       "or --folded; run the program "
					       "twice");
	if (excluded) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: not with --html, whose page has all tables, "
			    "sorts them, and limits them to a time span",
			    excluded);
		return FALSE;
	}
	if (o->slab || o->page)
		return kmt_plan_invalid(error, "--slab and --page: not with "
					       "--html; use --kind");
	if (o->lifetime)
		return kmt_plan_invalid(
			error, "--lifetime: not with --html, because a "
			       "lifetime is known only when the object is "
			       "freed");
	if (g_strcmp0(o->time, "peak") == 0)
		return kmt_plan_invalid(error, "--time peak: not with --html, "
					       "whose page shows the peaks");
	plan->form = KMT_FORM_HTML;
	plan->file = g_strdup(o->html);
	plan->filter_text = filter_text(o);
	plan->report.filter = plan->filter_text;
	plan->aggregate.history = TRUE;
	return TRUE;
}

gboolean kmt_plan_open_file(KmtPlan *plan, GError **error)
{
	if (!plan->file)
		return TRUE;
	plan->output = kmt_output_file_open("--html", plan->file, error);
	return plan->output && kmt_html_template_load(&plan->template, error);
}

gboolean kmt_plan_write_file(KmtPlan *plan, GError **error)
{
	kmt_plan_print(plan, kmt_output_file_stream(plan->output));
	return kmt_output_file_commit(plan->output, error);
}
