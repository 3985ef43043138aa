// SPDX-License-Identifier: GPL-2.0-or-later
/* A view as one JSON document. */
#include "config.h"

#include <stdio.h>

#include "lib/cli/json-writer.h"
#include "top/print-figures.h"

static void add_percent(KmtJson *json, const char *key, double percent)
{
	if (percent < 0)
		kmt_json_null(json, key);
	else
		kmt_json_double(json, key, percent);
}

static void add_capture(KmtJson *json, const KmtTopHeader *h)
{
	static const char *const states[] = {
		[KMT_TOP_CAPTURE_NONE] = NULL,
		[KMT_TOP_CAPTURE_RUNNING] = "running",
		[KMT_TOP_CAPTURE_COMPLETE] = "complete",
		[KMT_TOP_CAPTURE_FAILED] = "failed"};

	if (h->capture == KMT_TOP_CAPTURE_NONE) {
		kmt_json_null(json, "capture");
		return;
	}
	kmt_json_begin_object(json, "capture");
	kmt_json_path(json, "path", h->capture_path);
	kmt_json_text(json, "state", states[h->capture]);
	kmt_json_text(json, "error", h->capture_error);
	kmt_json_u64(json, "bytes", h->capture_bytes);
	kmt_json_end_object(json);
}

static void add_not_seen(KmtJson *json, const KmtTopHeader *h)
{
	kmt_json_begin_array(json, "not_seen");
	for (guint i = 0; h->not_seen && h->not_seen[i]; i++)
		kmt_json_text(json, NULL, h->not_seen[i]);
	kmt_json_end_array(json);
}

static void add_header(KmtJson *json, const KmtTopHeader *h)
{
	kmt_json_text(json, "source", h->source);
	kmt_json_text(json, "kernel", h->kernel);
	kmt_json_path(json, "input", h->input);
	kmt_json_u64(json, "cpus", h->n_cpus);
	kmt_json_double(json, "time", h->time);
	kmt_json_double(json, "elapsed_s", h->elapsed_s);
	kmt_json_double(json, "interval_s", h->interval_s);
	kmt_json_flag(json, "ended", h->ended);
	kmt_json_text(json, "end_reason", h->end_reason);
	kmt_json_u64(json, "events", h->events);
	kmt_json_u64(json, "interval_events", h->interval_events);
	kmt_json_double(json, "events_per_s", h->events_per_s);
	kmt_json_u64(json, "lost", h->lost);
	kmt_json_u64(json, "interval_lost", h->interval_lost);
	kmt_json_flag(json, "losses_unknown", h->losses_unknown);
	add_not_seen(json, h);
	kmt_json_u64(json, "late_records", h->late_records);
	kmt_json_u64(json, "frees_before_trace", h->frees_before);
	kmt_json_u64(json, "unmatched_frees", h->unmatched_frees);
	kmt_json_u64(json, "live_objects", h->live_objects);
	kmt_json_u64(json, "max_objects", h->max_objects);
	kmt_json_flag(json, "limit_reached", h->limit_reached);
	kmt_json_u64(json, "untracked_allocs", h->untracked_allocs);
	kmt_json_u64(json, "memory_bytes", h->memory_bytes);
	add_percent(json, "own_cpu_percent", h->own_cpu_percent);
	add_percent(json, "kmemtraced_cpu_percent", h->daemon_cpu_percent);
	add_capture(json, h);
}

void kmt_top_json_figures(KmtJson *json, const KmtTopFigures *f)
{
	kmt_json_u64(json, "allocs", f->allocs);
	kmt_json_u64(json, "frees", f->frees);
	kmt_json_u64(json, "allocated_bytes", f->alloc_bytes);
	kmt_json_u64(json, "live_objects", f->live_objects);
	kmt_json_u64(json, "live_bytes", f->live_bytes);
	kmt_json_i64(json, "wasted_bytes", f->wasted_bytes);
	kmt_json_u64(json, "interval_allocs", f->interval_allocs);
	kmt_json_u64(json, "interval_frees", f->interval_frees);
	kmt_json_u64(json, "interval_bytes", f->interval_bytes);
	kmt_json_i64(json, "growth_bytes", f->growth_bytes);
	kmt_json_double(json, "allocs_per_s", f->allocs_per_s);
	kmt_json_double(json, "frees_per_s", f->frees_per_s);
	kmt_json_double(json, "bytes_per_s", f->bytes_per_s);
}

static void add_query(KmtJson *json, const KmtTopQuery *query)
{
	kmt_json_begin_object(json, "query");
	kmt_json_text(json, "by", kmt_top_grouping_name(query->grouping));
	kmt_json_text(json, "kind", kmt_top_kind_name(query->kind));
	kmt_json_text(json, "order", kmt_top_order_name(query->order));
	kmt_json_flag(json, "reverse", query->reverse);
	kmt_json_text(json, "match", query->filter);
	kmt_json_end_object(json);
}

static void add_kinds(KmtJson *json, const KmtTopView *view)
{
	guint i;

	kmt_json_begin_object(json, "kinds");
	for (i = KMT_TOP_SLAB; i < KMT_TOP_N_KINDS; i++) {
		kmt_json_begin_object(json, kmt_top_kind_name(i));
		kmt_top_json_figures(json, &view->kinds[i]);
		kmt_json_end_object(json);
	}
	kmt_json_end_object(json);
}

void kmt_top_print_json(const KmtTopView *view, const KmtTopQuery *query,
			guint max_rows, gpointer file)
{
	g_autoptr(KmtJson) json = kmt_json_new(file, 1);
	guint i, n = view->n_rows;

	if (max_rows)
		n = MIN(n, max_rows);
	kmt_json_begin_object(json, NULL);
	kmt_json_u64(json, "version", KMT_TOP_JSON_VERSION);
	kmt_json_begin_object(json, "header");
	add_header(json, view->header);
	kmt_json_end_object(json);
	add_query(json, query);
	add_kinds(json, view);
	kmt_json_u64(json, "groups", view->n_groups);
	kmt_json_begin_array(json, "rows");
	for (i = 0; i < n; i++) {
		const KmtTopRow *row = &view->rows[i];

		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "name", row->name);
		kmt_json_text(json, "kind", kmt_top_kind_name(row->kind));
		kmt_top_json_figures(json, &row->figures);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
	kmt_json_end_object(json);
}
