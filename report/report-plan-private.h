/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that report-plan.c and report-plan-time.c share. */
#ifndef KMEMTRACE_REPORT_REPORT_PLAN_PRIVATE_H
#define KMEMTRACE_REPORT_REPORT_PLAN_PRIVATE_H

#include "report/report-options.h"

/* Set the error of an invalid option to @message and return FALSE. */
static inline gboolean kmt_plan_invalid(GError **error, const char *message)
{
	g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
			    message);
	return FALSE;
}

/* Set the error to "@option '@value': not @form" and return FALSE. */
static inline gboolean kmt_plan_invalid_value(GError **error,
					      const char *option,
					      const char *value,
					      const char *form)
{
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "%s '%s': not %s", option, value, form);
	return FALSE;
}

/*
 * Set the span and windows of @plan from the options --time, --windows and
 * --leaks, and select the sections of --windows, --leaks and --marks. Return
 * FALSE if an option is invalid.
 */
gboolean kmt_plan_set_time(KmtPlan *plan, const KmtOptions *o, GError **error);

/* Select the format and the statistics of a report that an option writes to a
 * file. Return FALSE if another option excludes that one. */
gboolean kmt_plan_set_file(KmtPlan *plan, const KmtOptions *o, GError **error);

/*
 * Set plan->diff from --diff, --per and --error-rate. Return FALSE if a value
 * is invalid, or if a comparison does not have another option.
 */
gboolean kmt_plan_set_diff(KmtPlan *plan, const KmtOptions *o, GError **error);

/* Return whether the plan needs the marks of the capture. */
gboolean kmt_plan_needs_marks(const KmtPlan *plan);

#endif
