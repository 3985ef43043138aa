// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/report.h"

/* Captures come from other people too: nothing of them steers a terminal. */
static char *tame(char *text)
{
	char *c;

	for (c = text; c && *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = '?';
	return text;
}

char *kmt_report_meta(const KmtCapture *capture, const char *key)
{
	if (!capture->meta)
		return NULL;
	return tame(g_key_file_get_string(capture->meta, "capture", key, NULL));
}

KmtLoss kmt_report_loss(const KmtCapture *capture)
{
	if (capture->has_overruns && capture->overruns)
		return KMT_LOSS_EVENTS;
	if (kmt_capture_is_cut_off(capture))
		return KMT_LOSS_CUT;
	return capture->has_overruns ? KMT_LOSS_NONE : KMT_LOSS_UNKNOWN;
}

const char *kmt_loss_name(KmtLoss loss)
{
	static const char *const names[] = {
		[KMT_LOSS_NONE] = "none",
		[KMT_LOSS_EVENTS] = "events",
		[KMT_LOSS_CUT] = "cut_off",
		[KMT_LOSS_UNKNOWN] = "unknown",
	};

	return names[loss];
}

/* From when to when all CPUs have records; FALSE if one has none at all. */
static gboolean common_span(const KmtCapture *capture, KmtInterval *span)
{
	struct kmemtrace_event event;
	guint i;

	span->from = G_MININT64;
	span->until = G_MAXINT64;
	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = g_ptr_array_index(capture->files, i);

		if (!file->n_records)
			return FALSE;
		kmt_cpu_file_get(file, 0, &event);
		span->from = MAX(span->from, event.timestamp);
		kmt_cpu_file_get(file, file->n_records - 1, &event);
		span->until = MIN(span->until, event.timestamp);
	}
	return TRUE;
}

guint kmt_report_intervals(const KmtReport *report,
			   KmtInterval intervals[KMT_MAX_INTERVALS])
{
	const KmtCapture *capture = report->capture;
	gboolean cut = kmt_capture_is_cut_off(capture);
	KmtInterval all = {report->aggregate->first_timestamp,
			   report->aggregate->last_timestamp};
	gboolean anywhere = kmt_capture_is_lossy(capture);
	KmtInterval common;
	guint n = 0;

	if (!anywhere && !cut && !capture->continues)
		return 0;
	if (anywhere || !common_span(capture, &common)) {
		intervals[0] = all;
		return 1;
	}
	if (capture->continues)
		intervals[n++] = (KmtInterval){all.from, common.from};
	if (cut)
		intervals[n++] = (KmtInterval){common.until, all.until};
	return n;
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
