// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints or writes a comparison in the format of the plan. */
#include "config.h"

#include "report/diff-output.h"
#include "report/report-html.h"

void kmt_diff_print(const KmtDiff *diff, FILE *out)
{
	switch (diff->plan->form) {
	case KMT_FORM_JSON:
		kmt_diff_json(diff, out);
		break;
	case KMT_FORM_CSV:
		kmt_diff_csv(diff, out);
		break;
	case KMT_FORM_FOLDED:
		kmt_diff_folded(diff, out);
		break;
	default:
		kmt_diff_text(diff, out);
		break;
	}
}

/* Append copies of the strings of @from to @to. */
static void add_texts(GPtrArray *to, const GPtrArray *from)
{
	guint i;

	for (i = 0; i < from->len; i++)
		g_ptr_array_add(to, g_strdup(from->pdata[i]));
}

gboolean kmt_diff_write_page(KmtCaptureReport *report, const char *const *base,
			     const char *const *new, const char *program,
			     GPtrArray *warnings, GError **error)
{
	const char *const shown[] = {new[0], NULL};
	g_autofree char *fields = kmt_html_comparison_fields();
	KmtOptions options = *report->options; /* shares the strings */
	g_autoptr(KmtCaptureReport) compared = NULL;
	g_autoptr(KmtDiff) diff = NULL;
	KmtPlan *plan = &report->plan;

	options.html = NULL;
	options.fields = fields;
	compared = kmt_capture_report_new(&options, error);
	if (compared)
		diff = kmt_diff_read(compared, base, new, program, error);
	if (!diff || !kmt_capture_report_read(report, shown, program, error))
		return FALSE;
	add_texts(warnings, diff->warnings);
	kmt_report_html(&plan->report, diff, &plan->template,
			kmt_output_file_stream(plan->output));
	return kmt_output_file_commit(plan->output, error);
}
