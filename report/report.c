// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/capture/subbufs.h"
#include "lib/base/printable.h"
#include "report/columns.h"
#include "report/report.h"
#include "lib/input/name-tables.h"

char *kmt_report_meta_value(const KmtInputCapture *capture, const char *key)
{
	g_autofree char *value = NULL;

	if (!capture->meta)
		return NULL;
	value = g_key_file_get_string(capture->meta, "capture", key, NULL);
	return value ? kmt_printable(value) : NULL;
}

guint kmt_report_wrong_sizes(const KmtInputCapture *capture)
{
	guint i, n = 0;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file =
			g_ptr_array_index(capture->files, i);

		n += file->has_expected_size &&
		     file->size != file->expected_size;
	}
	return n;
}

guint64 kmt_report_capture_duration(const KmtInputCapture *capture)
{
	gint64 from = G_MAXINT64, to = G_MININT64, first, last;
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		if (!kmt_match_merge_file_span(capture->files->pdata[i], &first,
					       &last))
			continue;
		from = MIN(from, first);
		to = MAX(to, last);
	}
	return to < from ? 0 : (guint64)to - (guint64)from;
}

gint64 kmt_report_origin(const KmtReport *report)
{
	return report->aggregate->origin;
}

gboolean kmt_report_lasts_a_second(const KmtReport *report)
{
	const KmtAggregate *a = report->aggregate;

	return (guint64)a->last_timestamp - (guint64)a->first_timestamp >=
	       1000000000;
}

char *kmt_report_format_moment(const KmtReport *report, gint64 time,
			       gboolean is_short)
{
	gint64 origin = kmt_report_origin(report);
	gboolean before = time < origin;
	g_autofree char *length = kmt_format_elapsed(
		before ? (guint64)origin - (guint64)time
		       : (guint64)time - (guint64)origin,
		is_short && kmt_report_lasts_a_second(report));

	return g_strconcat(before ? "-" : "", length, NULL);
}

/*
 * Return the number of sub-buffers per CPU that would have prevented all
 * losses. @subbufs is the number that each CPU had. Return 0 if kmemtrace.meta
 * lacks a value for the calculation, if no record fits into a sub-buffer, or if
 * the result exceeds 64 bits.
 */
static guint64 enough_subbufs(const KmtInputCapture *capture, guint64 subbufs)
{
	guint64 size = 0, worst = 0;
	guint i;

	kmt_input_capture_meta_number(capture, "subbuf_size", &size);
	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file =
			g_ptr_array_index(capture->files, i);

		if (file->has_overruns)
			worst = MAX(worst, file->overruns);
	}
	return kmt_capture_enough_subbufs(subbufs, size, capture->record_size,
					  worst);
}

char *kmt_report_loss_advice(const KmtInputCapture *capture)
{
	g_autofree char *source = kmt_report_meta_value(capture, "source");
	g_autofree char *mode = kmt_report_meta_value(capture, "mode");
	g_autofree char *snapshot = kmt_input_capture_snapshot(capture);
	guint64 subbufs = 0, skipped = 0, enough;

	kmt_input_capture_meta_number(capture, "subbufs", &subbufs);
	kmt_input_capture_meta_number(capture, "skipped_events", &skipped);
	enough = enough_subbufs(capture, subbufs);
	if (skipped && skipped >= capture->overruns)
		return g_strdup("larger buffers do not help, because the "
				"kernel skipped these events");
	if (g_strcmp0(source, "ftrace") == 0 || g_strcmp0(source, "bpf") == 0)
		return g_strdup("trace again with a larger buffer: kmemtraced "
				"-b KB");
	if (g_strcmp0(mode, "overwrite") == 0 || snapshot)
		return g_strdup("trace again with larger buffers "
				"(kmemtrace.subbufs), which reach back "
				"further");
	if (g_strcmp0(source, "import") == 0)
		return g_strdup("trace again with larger buffers of the "
				"recorder, as perf record -m or trace-cmd "
				"record -b");
	if (!enough)
		return g_strdup("trace again with a larger kmemtrace.subbufs");
	return g_strdup_printf(
		"trace again with kmemtrace.subbufs=%" G_GUINT64_FORMAT
		" or more (it was %" G_GUINT64_FORMAT ")",
		enough, subbufs);
}

gboolean kmt_report_is_sample(const KmtReport *report)
{
	return report->capture->sample > 1;
}

gboolean kmt_report_has_filter(const KmtReport *report)
{
	return kmt_filter_is_set(report->aggregate->groups->options.filter);
}

gboolean kmt_report_is_selected(const KmtGroup *group, gconstpointer user)
{
	const KmtReport *report = user;
	const KmtTotals *t = &group->totals;

	/* All objects of the group are outside the span or the lifetime filter.
	 */
	if (!t->allocs && !t->frees && !t->live_objects && !t->peak_bytes_alloc)
		return FALSE;
	if (report->live_only && !group->totals.live_objects)
		return FALSE;
	if (report->slab_only == report->pages_only)
		return TRUE;
	return kmt_kind_layer(group->kind) ==
	       (report->pages_only ? KMT_KIND_PAGES : KMT_KIND_SLAB);
}

gboolean kmt_report_can_have_defers(const KmtReport *report)
{
	return report->aggregate->defer_records ||
	       report->capture->abi_version >= 3;
}

gboolean kmt_report_can_have_kind(const KmtReport *report, KmtKind kind)
{
	return (kind != KMT_KIND_PERCPU && kind != KMT_KIND_VMALLOC) ||
	       report->capture->record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

KmtTable *kmt_report_table_new(const KmtReport *report)
{
	return kmt_table_new(report->aggregate, kmt_report_is_selected, report,
			     report->sort, report->max_lines);
}
