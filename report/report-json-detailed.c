// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the sections of the JSON report that an option selects. */
#include "config.h"

#include "report/advice-output.h"
#include "report/leaks.h"
#include "report/mark-list.h"
#include "report/report-json-private.h"
#include "report/scale.h"

static void add_windows(KmtJson *json, const KmtReport *report)
{
	g_autofree guint64 *lost = kmt_report_window_losses(report);
	guint i, kind;

	kmt_json_begin_array(json, "windows");
	for (i = 0; i < report->aggregate->n_windows; i++) {
		const KmtWindow *window = &report->aggregate->windows[i];

		kmt_json_begin_object(json, NULL);
		kmt_json_u64(json, "start", window->start);
		kmt_json_known_u64(json, "lost", lost != NULL,
				   lost ? lost[i] : 0);
		for (kind = 0; kind < KMT_N_KINDS; kind++) {
			const KmtTotals *t = &window->kinds[kind];

			if (!kmt_report_can_have_kind(report, (KmtKind)kind))
				continue;
			kmt_json_begin_object(json,
					      kmt_kind_name((KmtKind)kind));
			kmt_json_u64(json, "allocs", t->allocs);
			kmt_json_u64(json, "frees", t->frees);
			kmt_json_u64(json, "bytes_requested", t->bytes_req);
			kmt_json_u64(json, "bytes_allocated", t->bytes_alloc);
			kmt_json_u64(json, "live_bytes_allocated",
				     t->live_bytes_alloc);
			kmt_report_json_add_peak(json, report->aggregate, t);
			if (kmt_report_can_have_defers(report))
				kmt_json_u64(json, "deferred_bytes_allocated",
					     window->deferred[kind]);
			kmt_json_end_object(json);
		}
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_leaks(KmtJson *json, const KmtReport *report)
{
	g_autoptr(GArray) leaks = kmt_leaks_find(
		report->aggregate, kmt_report_is_selected, report);
	guint i;

	kmt_json_begin_array(json, "leak_candidates");
	for (i = 0; i < leaks->len; i++) {
		const KmtLeak *leak = &g_array_index(leaks, KmtLeak, i);

		kmt_json_begin_object(json, NULL);
		kmt_report_json_add_group_name(json, report, leak->group);
		kmt_json_u64(json, "windows_grown", leak->grown);
		kmt_json_u64(json, "windows", leak->steps);
		kmt_json_u64(json, "growth_bytes", leak->growth);
		kmt_json_u64(json, "live_objects",
			     leak->group->totals.live_objects);
		if (kmt_report_can_have_defers(report))
			kmt_json_u64(json, "deferred_objects",
				     leak->group->totals.live_objects -
					     leak->in_use);
		kmt_json_u64(json, "frees", leak->group->totals.frees);
		kmt_report_json_add_figure(json, "reused", &leak->reused);
		kmt_json_flag(json, "frees_not_seen",
			      leak->doubt == KMT_LEAK_FREES_MISSING);
		kmt_json_text(json, "keeps_objects_of",
			      leak->doubt == KMT_LEAK_ALLOCATOR
				      ? kmt_kind_name(leak->objects)
				      : NULL);
		kmt_json_u64(json, "age_median", leak->age_median);
		kmt_json_known_u64(json, "lifetime_p99", leak->frees > 0,
				   leak->lifetime_p99);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_sum(KmtJson *json, const KmtCrossCpuSum *sum)
{
	kmt_json_u64(json, "frees", sum->frees);
	kmt_json_u64(json, "bytes_allocated", sum->bytes);
}

static void add_matrix(KmtJson *json, const KmtReport *report)
{
	const GArray *cells = report->aggregate->cross->cells;
	KmtInputCpuFile *const *files =
		(KmtInputCpuFile *const *)report->capture->files->pdata;
	guint i;

	kmt_json_begin_array(json, "frees_by_cpu");
	for (i = 0; i < cells->len; i++) {
		const KmtCrossCpuCell *c =
			&g_array_index(cells, KmtCrossCpuCell, i);

		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "kind",
			      kmt_kind_name(kmt_layers[c->layer]));
		kmt_json_u64(json, "allocating_cpu", files[c->from]->cpu);
		kmt_json_u64(json, "freeing_cpu", files[c->to]->cpu);
		add_sum(json, &c->sum);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_cross(KmtJson *json, const KmtReport *report)
{
	const GArray *pairs = report->aggregate->cross->pairs;
	guint i;

	add_matrix(json, report);
	kmt_json_begin_array(json, "cross_cpu_pairs");
	for (i = 0; i < pairs->len; i++) {
		const KmtCrossCpuPair *pair =
			&g_array_index(pairs, KmtCrossCpuPair, i);
		const KmtFindingSite freed_by = {{.address = pair->free_site},
						 pair->alloc.kind};

		kmt_json_begin_object(json, NULL);
		kmt_json_begin_object(json, "allocated");
		kmt_report_json_add_site(json, report, &pair->alloc);
		kmt_json_end_object(json);
		kmt_json_begin_object(json, "freed");
		kmt_report_json_add_site(json, report, &freed_by);
		kmt_json_end_object(json);
		add_sum(json, &pair->sum);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

/* Add the sections that have an option of their own. */
void kmt_report_json_add_detailed(KmtJson *json, const KmtReport *report)
{
	if (report->shows_windows)
		add_windows(json, report);
	if (report->shows_leaks)
		add_leaks(json, report);
	if (report->advice)
		kmt_advice_json(json, report);
	if (report->shows_marks)
		kmt_json_marks(json, report);
	if (report->aggregate->cross)
		add_cross(json, report);
}
