// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "cli/subbufs.h"
#include "cli/text.h"
#include "report/columns.h"
#include "report/report.h"
#include "trace/tables.h"

char *kmt_report_meta(const KmtCapture *capture, const char *key)
{
	g_autofree char *value = NULL;

	if (!capture->meta)
		return NULL;
	value = g_key_file_get_string(capture->meta, "capture", key, NULL);
	return value ? kmt_printable(value) : NULL;
}

KmtLoss kmt_report_loss(const KmtCapture *capture)
{
	if (capture->has_overruns && capture->overruns)
		return KMT_LOSS_EVENTS;
	if (kmt_capture_is_cut_off(capture))
		return KMT_LOSS_CUT;
	return capture->has_overruns ? KMT_LOSS_NONE : KMT_LOSS_UNKNOWN;
}

guint kmt_report_wrong_sizes(const KmtCapture *capture)
{
	guint i, n = 0;

	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = g_ptr_array_index(capture->files, i);

		n += file->has_expected_size &&
		     file->size != file->expected_size;
	}
	return n;
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
	guint i;

	span->from = G_MININT64;
	span->until = G_MAXINT64;
	for (i = 0; i < capture->files->len; i++) {
		gint64 first, last;

		if (!kmt_merge_span(g_ptr_array_index(capture->files, i),
				    &first, &last))
			return FALSE;
		span->from = MAX(span->from, first);
		span->until = MIN(span->until, last);
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
	gboolean anywhere = kmt_capture_has_lost(capture);
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

guint64 kmt_report_length(const KmtCapture *capture)
{
	gint64 from = G_MAXINT64, to = G_MININT64, first, last;
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		if (!kmt_merge_span(capture->files->pdata[i], &first, &last))
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

gboolean kmt_report_is_long(const KmtReport *report)
{
	const KmtAggregate *a = report->aggregate;

	return (guint64)a->last_timestamp - (guint64)a->first_timestamp >=
	       1000000000;
}

char *kmt_report_moment(const KmtReport *report, gint64 time, gboolean is_short)
{
	gint64 origin = kmt_report_origin(report);
	gboolean before = time < origin;
	g_autofree char *length =
		kmt_format_length(before ? (guint64)origin - (guint64)time
					 : (guint64)time - (guint64)origin,
				  is_short && kmt_report_is_long(report));

	return g_strconcat(before ? "-" : "", length, NULL);
}

/* 0 if kmemtrace.meta does not tell what it takes to know. */
static guint64 enough_subbufs(const KmtCapture *capture, guint64 subbufs)
{
	guint64 size = g_key_file_get_uint64(capture->meta, "capture",
					     "subbuf_size", NULL);
	guint64 worst = 0;
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtCpuFile *file = g_ptr_array_index(capture->files, i);

		if (file->has_overruns)
			worst = MAX(worst, file->overruns);
	}
	return kmt_enough_subbufs(subbufs, size, capture->record_size, worst);
}

char *kmt_report_more_room(const KmtCapture *capture)
{
	g_autofree char *source = kmt_report_meta(capture, "source");
	g_autofree char *mode = kmt_report_meta(capture, "mode");
	g_autofree char *snapshot = kmt_capture_snapshot(capture);
	guint64 subbufs = g_key_file_get_uint64(capture->meta, "capture",
						"subbufs", NULL);
	guint64 enough = enough_subbufs(capture, subbufs);

	if (g_strcmp0(source, "ftrace") == 0)
		return g_strdup("a larger buffer: kmemtraced -b KB");
	if (g_strcmp0(mode, "overwrite") == 0 || snapshot)
		return g_strdup("larger buffers (kmemtrace.subbufs), which "
				"reach back further");
	if (g_strcmp0(source, "import") == 0)
		return g_strdup("larger buffers of the recorder, as perf "
				"record -m or trace-cmd record -b");
	if (!enough)
		return g_strdup("a larger kmemtrace.subbufs");
	return g_strdup_printf("kmemtrace.subbufs=%" G_GUINT64_FORMAT
			       " or more (it was %" G_GUINT64_FORMAT ")",
			       enough, subbufs);
}

/* What the holes of a file lack to what its CPU is known to have lost was lost
 * after its last record. */
static void add_last_hole(const KmtReport *report, GArray *holes, guint number)
{
	const KmtCpuFile *file = report->capture->files->pdata[number];
	KmtHole last = {.file = number,
			.until = report->aggregate->last_timestamp,
			.events = file->overruns};
	gint64 first;
	guint i;

	/* Without a record it may have been at any time. */
	if (file->stream || !kmt_merge_span(file, &first, &last.since))
		last.since = report->aggregate->first_timestamp;
	for (i = 0; i < holes->len; i++) {
		const KmtHole *h = &g_array_index(holes, KmtHole, i);

		if (h->file != number)
			continue;
		last.events -= MIN(last.events, h->events);
		last.since = MAX(last.since, h->until);
	}
	last.until = MAX(last.until, last.since);
	if (last.events)
		g_array_append_val(holes, last);
}

static gint compare_holes(gconstpointer a, gconstpointer b)
{
	const KmtHole *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return x->since < y->since ? -1 : x->since > y->since;
}

GArray *kmt_report_holes(const KmtReport *report)
{
	const KmtCapture *capture = report->capture;
	GArray *holes;
	guint i;

	if (!capture->has_overruns || !capture->overruns ||
	    !kmt_capture_has_owners(capture) ||
	    report->aggregate->holes->len == KMT_MAX_HOLES)
		return NULL;
	holes = g_array_copy(report->aggregate->holes);
	for (i = 0; i < capture->files->len; i++)
		add_last_hole(report, holes, i);
	g_array_sort(holes, compare_holes);
	return holes;
}

static gint compare_times(gconstpointer a, gconstpointer b)
{
	const KmtHole *x = a, *y = b;

	return x->since < y->since ? -1 : x->since > y->since;
}

/* How long any CPU lost events, ns, from the capture's first record on: what
 * was overwritten was lost before that. */
static double length_of_holes(GArray *holes, gint64 first)
{
	double sum = 0;
	gint64 until = first;
	guint i;

	g_array_sort(holes, compare_times);
	for (i = 0; i < holes->len; i++) {
		const KmtHole *h = &g_array_index(holes, KmtHole, i);

		if (h->until > until)
			sum += (double)h->until - (double)MAX(h->since, until);
		until = MAX(until, h->until);
	}
	return sum;
}

double kmt_report_blind(const KmtReport *report)
{
	const KmtAggregate *a = report->aggregate;
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;
	g_autoptr(GArray) holes = kmt_report_holes(report);
	double blind = 0, all;

	all = (double)a->last_timestamp - (double)a->first_timestamp;
	for (i = 0; !holes && i < n; i++)
		blind += MAX(0.0, (double)intervals[i].until -
					  (double)intervals[i].from);
	if (holes)
		blind = length_of_holes(holes, a->first_timestamp);
	if (!n)
		return 0;
	return all > 0 ? MIN(1.0, blind / all) : 1;
}

gboolean kmt_report_is_lossy(const KmtReport *report)
{
	return kmt_capture_is_lossy(report->capture) ||
	       kmt_capture_is_cut_off(report->capture) ||
	       report->capture->continues;
}

gboolean kmt_report_is_doubtful(const KmtReport *report, const KmtField *field)
{
	if (kmt_capture_has_lost(report->capture))
		return TRUE;
	/* What is missing at an end, or of a path that the source does not see,
	 * was not there to be summed. */
	return kmt_report_is_lossy(report) && kmt_field_is_state(field);
}

gboolean kmt_report_is_sample(const KmtReport *report)
{
	return report->capture->sample > 1;
}

gboolean kmt_report_has_filter(const KmtReport *report)
{
	return kmt_filter_is_set(report->aggregate->groups->options.filter);
}

gboolean kmt_report_is_chosen(const KmtGroup *group, gconstpointer user)
{
	const KmtReport *report = user;
	const KmtTotals *t = &group->totals;

	/* Of another time, or of other lifetimes. */
	if (!t->allocs && !t->frees && !t->live_objects && !t->peak_bytes_alloc)
		return FALSE;
	if (report->live_only && !group->totals.live_objects)
		return FALSE;
	if (report->slab_only == report->pages_only)
		return TRUE;
	return kmt_kind_layer(group->kind) ==
	       (report->pages_only ? KMT_KIND_PAGES : KMT_KIND_SLAB);
}

gboolean kmt_report_may_have(const KmtReport *report, KmtKind kind)
{
	return (kind != KMT_KIND_PERCPU && kind != KMT_KIND_VMALLOC) ||
	       report->capture->record_size >= KMEMTRACE_EVENT_SIZE_V2;
}

KmtTable *kmt_report_table(const KmtReport *report)
{
	return kmt_table_new(report->aggregate, kmt_report_is_chosen, report,
			     report->sort, report->max_lines);
}
