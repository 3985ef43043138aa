// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints or writes the report of a plan in the format of the plan. */
#include "config.h"

#include "report/report-html.h"
#include "report/report-options.h"
#include "report/report-perfetto.h"
#include "report/report-pprof.h"

void kmt_plan_print(const KmtPlan *plan, FILE *out)
{
	switch (plan->form) {
	case KMT_FORM_JSON:
		kmt_report_json(&plan->report, out);
		break;
	case KMT_FORM_CSV:
		kmt_report_csv(&plan->report, out);
		break;
	case KMT_FORM_FOLDED:
		kmt_report_folded(&plan->report, out);
		break;
	case KMT_FORM_TEXT:
		kmt_report_text(&plan->report, out);
		break;
	case KMT_FORM_PPROF:
#ifdef HAVE_PPROF /* otherwise, kmt_plan_set_file() refuses the format */
		kmt_report_pprof(&plan->report, out);
#endif
		break;
	case KMT_FORM_PERFETTO:
		kmt_report_perfetto(&plan->report, out);
		break;
	case KMT_FORM_HTML:
		kmt_report_html(&plan->report, NULL, &plan->template, out);
		break;
	}
}

gboolean kmt_plan_write_file(KmtPlan *plan, GError **error)
{
	kmt_plan_print(plan, kmt_output_file_stream(plan->output));
	return kmt_output_file_commit(plan->output, error);
}
