// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of a report that is written to a file: --html, --pprof,
 * --perfetto. */
#include "config.h"

#include "report/report-plan-private.h"
#include "report/report-pprof.h"

/* An option that writes a file. */
typedef struct {
	KmtForm form;
	const char *option;
	const char *content; /* of the file, for messages */
} KmtFileOption;

static const KmtFileOption file_options[] = {
	{KMT_FORM_HTML, "--html",
	 "whose page has all tables, sorts them, and limits them to a time "
	 "span"},
	{KMT_FORM_PPROF, "--pprof", "whose profile has all groups and figures"},
	{KMT_FORM_PERFETTO, "--perfetto",
	 "whose timeline has the live bytes of each kind, the marks and the "
	 "losses"},
};

static const KmtFileOption *file_option(KmtForm form)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(file_options); i++)
		if (file_options[i].form == form)
			return &file_options[i];
	return NULL;
}

/* Return the FILE of an option that writes a file, or NULL. */
static const char *file_of(const KmtOptions *o, KmtForm form)
{
	switch (form) {
	case KMT_FORM_HTML:
		return o->html;
	case KMT_FORM_PPROF:
		return o->pprof;
	case KMT_FORM_PERFETTO:
		return o->perfetto;
	default:
		return NULL;
	}
}

/* Return the name of an option that the content of the file leaves no choice
 * for, or NULL. */
static const char *excluded_option(const KmtOptions *o, KmtForm form)
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
		{o->windows && form != KMT_FORM_PERFETTO, "--windows"},
		{o->histogram != NULL, "--histogram"},
		{o->live, "--live"},
		{o->leaks, "--leaks"},
		{o->cross_cpu, "--cross-cpu"},
		{o->marks, "--marks"},
		{o->advise, "--advise"},
		{o->before_trace, "--before-trace"},
		{g_strcmp0(o->time, "peak") == 0, "--time peak"},
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

/* Refuse options that contradict the option @file. */
static gboolean check_options(const KmtOptions *o, const KmtFileOption *file,
			      GError **error)
{
	const char *excluded = excluded_option(o, file->form);

	if (o->json || o->csv || o->folded) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: not with --json, --csv or --folded; run the "
			    "program twice",
			    file->option);
		return FALSE;
	}
	if (o->slab || o->page) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--slab and --page: not with %s; use --kind",
			    file->option);
		return FALSE;
	}
	if (o->lifetime && file->form != KMT_FORM_PPROF) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "--lifetime: not with %s, because a lifetime is "
			    "known only when the object is freed",
			    file->option);
		return FALSE;
	}
	if (excluded) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: not with %s, %s", excluded, file->option,
			    file->content);
		return FALSE;
	}
	return TRUE;
}

gboolean kmt_plan_set_file(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	const KmtFileOption *file = NULL;
	guint i;

	for (i = 0; i < G_N_ELEMENTS(file_options); i++) {
		if (!file_of(o, file_options[i].form))
			continue;
		if (file) {
			g_set_error(error, G_OPTION_ERROR,
				    G_OPTION_ERROR_BAD_VALUE,
				    "%s and %s: only one of them; run the "
				    "program twice",
				    file->option, file_options[i].option);
			return FALSE;
		}
		file = &file_options[i];
	}
	if (!file)
		return TRUE;
	if (!check_options(o, file, error))
		return FALSE;
#ifndef HAVE_PPROF
	if (file->form == KMT_FORM_PPROF)
		return kmt_plan_invalid(
			error, "--pprof: this program was built without it; "
			       "install libprotobuf-c-dev, protobuf-c-compiler "
			       "and zlib1g-dev, and build the program again");
#endif
	plan->form = file->form;
	plan->file = g_strdup(file_of(o, file->form));
	plan->filter_text = filter_text(o);
	plan->report.filter = plan->filter_text;
	plan->aggregate.history = plan->form == KMT_FORM_HTML;
	return TRUE;
}

gboolean kmt_plan_open_file(KmtPlan *plan, GError **error)
{
	if (!plan->file)
		return TRUE;
	plan->output = kmt_output_file_open(file_option(plan->form)->option,
					    plan->file, error);
	return plan->output && (plan->form != KMT_FORM_HTML ||
				kmt_html_template_load(&plan->template, error));
}

void kmt_plan_fit_capture(KmtPlan *plan, const KmtInputCapture *capture)
{
#ifdef HAVE_PPROF
	if (plan->form == KMT_FORM_PPROF)
		kmt_by_parse(kmt_report_pprof_by(capture), &plan->by, NULL);
#endif
}
