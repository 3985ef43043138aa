// SPDX-License-Identifier: GPL-2.0-or-later
/* The options of a comparison: --diff, --per and --error-rate. */
#include "config.h"

#include "report/report-plan-private.h"

#include <string.h>

#define DEFAULT_ERROR_RATE 0.1

/* Return the name of an option that a comparison does not have, or NULL. */
static const char *excluded_option(const KmtOptions *o)
{
	const struct {
		gboolean given;
		const char *name;
	} options[] = {
		{o->pprof != NULL, "--pprof"},
		{o->perfetto != NULL, "--perfetto"},
		{o->sort != NULL, "--sort"},
		{o->windows && !o->leaks, "--windows"},
		{o->histogram != NULL, "--histogram"},
		{o->cross_cpu, "--cross-cpu"},
		{o->marks, "--marks"},
		{o->advise, "--advise"},
		{o->before_trace, "--before-trace"},
		{o->raw_ip, "--raw-ip"},
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].given)
			return options[i].name;
	return NULL;
}

/* Return why the option is refused. */
static const char *reason_of(const char *option)
{
	if (strcmp(option, "--sort") == 0)
		return "whose lists sort by the difference";
	if (strcmp(option, "--raw-ip") == 0)
		return "which matches call sites by the names of functions";
	return "which compares the figures of groups; run the program once for "
	       "each capture";
}

static gboolean set_per(KmtDiffOptions *diff, const char *per, GError **error)
{
	if (!per)
		return TRUE;
	if (strcmp(per, "second") == 0) {
		diff->per = KMT_DIFF_PER_SECOND;
		return TRUE;
	}
	if (!g_str_has_prefix(per, "mark:") || !per[strlen("mark:")])
		return kmt_plan_invalid_value(error, "--per", per,
					      "'second' or 'mark:NAME'");
	diff->per = KMT_DIFF_PER_MARK;
	diff->mark = g_strdup(per + strlen("mark:"));
	return TRUE;
}

static gboolean set_error_rate(KmtDiffOptions *diff, const char *text,
			       GError **error)
{
	char *end;

	diff->error_rate = DEFAULT_ERROR_RATE;
	if (!text)
		return TRUE;
	diff->error_rate = g_ascii_strtod(text, &end);
	if (end == text || *end || !(diff->error_rate > 0) ||
	    !(diff->error_rate < 1))
		return kmt_plan_invalid_value(
			error, "--error-rate", text,
			"a number between 0 and 1, such as 0.05");
	return TRUE;
}

gboolean kmt_plan_set_diff(KmtPlan *plan, const KmtOptions *o, GError **error)
{
	const char *excluded = excluded_option(o);
	const char *orphan = o->per		 ? "--per"
			     : o->error_rate	 ? "--error-rate"
			     : o->base_vmlinux	 ? "--base-vmlinux"
			     : o->base_debug_dir ? "--base-debug-dir"
			     : o->base_source	 ? "--base-source"
						 : NULL;

	plan->diff.given = o->diff != NULL;
	if (!o->diff && orphan) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: only with --diff", orphan);
		return FALSE;
	}
	if (o->diff && excluded) {
		g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    "%s: not with --diff, %s", excluded,
			    reason_of(excluded));
		return FALSE;
	}
	return set_per(&plan->diff, o->per, error) &&
	       set_error_rate(&plan->diff, o->error_rate, error);
}
