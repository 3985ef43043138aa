/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

char *kmt_report_meta(const KmtCapture *capture, const char *key)
{
	if (!capture->meta)
		return NULL;
	return g_key_file_get_string(capture->meta, "capture", key, NULL);
}

KmtLoss kmt_report_loss(const KmtCapture *capture)
{
	if (capture->has_overruns && capture->overruns)
		return KMT_LOSS_EVENTS;
	if (capture->meta && !capture->complete)
		return KMT_LOSS_CUT;
	return capture->has_overruns ? KMT_LOSS_NONE : KMT_LOSS_UNKNOWN;
}

gboolean kmt_report_is_chosen(const KmtSite *site, gconstpointer user)
{
	const KmtReport *report = user;

	if (report->slab_only == report->pages_only)
		return TRUE;
	return (site->kind == KMT_KIND_PAGES) == report->pages_only;
}

KmtTable *kmt_report_table(const KmtReport *report)
{
	return kmt_table_new(report->aggregate->sites, report->names,
			     kmt_report_is_chosen, report, report->sort,
			     report->max_lines);
}
