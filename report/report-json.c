// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/output/capture-json.h"
#include "report/leaks.h"
#include "report/mark-list.h"
#include "report/report-json-private.h"
#include "report/report.h"
#include "report/scale.h"

static void add_totals(KmtJson *json, const KmtTotals *totals)
{
	KmtWaste waste = kmt_totals_wasted(totals);

	kmt_json_u64(json, "allocs", totals->allocs);
	kmt_json_u64(json, "frees", totals->frees);
	kmt_json_u64(json, "bytes_requested", totals->bytes_req);
	kmt_json_u64(json, "bytes_allocated", totals->bytes_alloc);
	kmt_json_integer(json, "bytes_wasted", waste.negative, waste.bytes);
	kmt_json_double(json, "fragmentation",
			kmt_totals_fragmentation(totals));
	kmt_json_u64(json, "cross_cpu_frees", totals->cross_cpu_frees);
	kmt_json_u64(json, "remote_node_allocs", totals->remote_node_allocs);
	kmt_json_u64(json, "live_objects", totals->live_objects);
	kmt_json_u64(json, "live_bytes_requested", totals->live_bytes_req);
	kmt_json_u64(json, "live_bytes_allocated", totals->live_bytes_alloc);
}

static void add_loss(KmtJson *json, const KmtReport *report)
{
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;

	kmt_json_text(json, "loss",
		      kmt_loss_name(kmt_report_loss_state(report)));
	kmt_json_known_u64(json, "lost_in_time",
			   report->lost.is_known &&
				   report->capture->has_overruns,
			   report->lost.within);
	kmt_json_begin_array(json, "not_exact");
	for (i = 0; i < n; i++) {
		kmt_json_begin_object(json, NULL);
		kmt_report_json_add_time(json, report->aggregate, "from",
					 intervals[i].from);
		kmt_report_json_add_time(json, report->aggregate, "until",
					 intervals[i].until);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

/* Add the times of the losses; null if the times are unknown, or if no event is
 * known to be lost. */
static void add_gaps(KmtJson *json, const KmtReport *report)
{
	g_autoptr(GArray) gaps = kmt_report_gaps(report);
	guint i;

	if (!gaps) {
		kmt_json_null(json, "holes");
		return;
	}
	kmt_json_begin_array(json, "holes");
	for (i = 0; i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);
		const KmtInputCpuFile *file =
			report->capture->files->pdata[gap->file];

		kmt_json_begin_object(json, NULL);
		kmt_json_u64(json, "cpu", file->cpu);
		kmt_report_json_add_time(json, report->aggregate, "from",
					 gap->since);
		kmt_report_json_add_time(json, report->aggregate, "until",
					 gap->until);
		kmt_json_known_u64(json, "events", gap->events > 0,
				   gap->events);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_lossy_fraction(KmtJson *json, const KmtReport *report)
{
	kmt_json_double(json, "blind", kmt_report_lossy_fraction(report));
}

/*
 * In the report of a sample, list the members whose values are those of the
 * records times capture.sample; otherwise, add an empty list.
 */
static void add_scaled(KmtJson *json, const KmtReport *report)
{
	static const char *const keys[] = {
		"allocs",
		"bytes_requested",
		"bytes_allocated",
		"bytes_wasted",
		"cross_cpu_frees",
		"remote_node_allocs",
		"live_objects",
		"live_bytes_requested",
		"live_bytes_allocated",
		"peak_bytes_allocated",
		"live_bytes_at_peak",
		"reused",
		"churn_per_second",
		"lifetimes",
		"sizes",
		"growth_bytes",
		"callsites.frees",
		"callsites_left_out.frees",
		"groups.frees",
		"groups_left_out.frees",
		"leak_candidates.frees",
		"frees_by_cpu",
		"cross_cpu_pairs",
		/* Keep these two keys last. They are scaled only with a filter:
		 * without a filter, they count all FREE records. */
		"kinds.frees",
		"windows.frees",
	};
	static const char *const deferred[] = {
		"deferred_bytes_allocated", "deferred_objects",
		"deferred_frees",	    "deferred_peak_bytes_allocated",
		"deferred_bytes_at_peak",
	};
	/* Without a filter, omit the last two keys. */
	guint n = G_N_ELEMENTS(keys) - (kmt_report_has_filter(report) ? 0 : 2);
	guint i;

	kmt_json_begin_array(json, "scaled");
	for (i = 0; kmt_report_is_sample(report) && i < n; i++)
		kmt_json_text(json, NULL, keys[i]);
	for (i = 0;
	     kmt_report_is_sample(report) &&
	     kmt_report_can_have_defers(report) && i < G_N_ELEMENTS(deferred);
	     i++)
		kmt_json_text(json, NULL, deferred[i]);
	kmt_json_end_array(json);
}

static void add_capture(KmtJson *json, const KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;
	g_autofree char *release =
		kmt_report_meta_value(capture, "kernel_release");
	g_autofree char *version =
		kmt_report_meta_value(capture, "abi_version");
	guint64 abi_version =
		capture->record_size < KMEMTRACE_EVENT_SIZE_V2 ? 1 : 2;
	guint64 slab;

	if (report->aggregate->defer_records)
		abi_version = 3;
	if (version)
		g_ascii_string_to_unsigned(version, 10, 1, G_MAXINT32,
					   &abi_version, NULL);
	kmt_json_begin_object(json, "capture");
	kmt_json_path(json, "directory", capture->directory);
	kmt_json_u64(json, "abi_version", abi_version);
	kmt_json_text(json, "byte_order",
		      kmt_input_capture_byte_order(capture));
	kmt_json_text(json, "layout", kmt_input_layout_name(capture->layout));
	/* Layouts C and D have records of two sizes. */
	if (capture->layout == KMT_INPUT_LAYOUT_C ||
	    capture->layout == KMT_INPUT_LAYOUT_D)
		kmt_json_text(json, "record_size", NULL);
	else
		kmt_json_u64(json, "record_size", capture->record_size);
	kmt_json_u64(json, "cpus", capture->files->len);
	kmt_json_u64(json, "events",
		     capture->n_records - report->aggregate->gap_records -
			     report->aggregate->stop_records -
			     report->aggregate->mark_records);
	kmt_report_json_add_time(json, report->aggregate, "first_timestamp",
				 report->aggregate->first_timestamp);
	kmt_report_json_add_time(json, report->aggregate, "last_timestamp",
				 report->aggregate->last_timestamp);
	kmt_output_loss(json, capture, report->lost.within);
	add_loss(json, report);
	add_gaps(json, report);
	add_lossy_fraction(json, report);
	kmt_output_not_seen(json, capture);
	if (kmt_input_capture_meta_number(capture, "slab_at_start", &slab))
		kmt_json_u64(json, "slab_at_start", slab);
	kmt_output_choice(json, capture);
	add_scaled(json, report);
	kmt_json_text(json, "kernel_release", release);
	kmt_json_text(json, "symbols", kmt_symbolizer_path(report->symbolizer));
	kmt_json_end_object(json);
}

static void add_kinds(KmtJson *json, const KmtReport *report)
{
	const KmtAggregate *aggregate = report->aggregate;
	guint i;

	kmt_json_begin_object(json, "kinds");
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!kmt_report_can_have_kind(report, (KmtKind)i))
			continue;
		kmt_json_begin_object(json, kmt_kind_name((KmtKind)i));
		add_totals(json, &aggregate->kinds[i]);
		kmt_report_json_add_peak(json, aggregate, &aggregate->kinds[i]);
		kmt_report_json_add_deferred(json, report,
					     &aggregate->deferred[i], FALSE);
		kmt_json_end_object(json);
	}
	kmt_json_end_object(json);
}

static void add_histogram(KmtJson *json, const char *key,
			  const KmtAggregate *aggregate,
			  const KmtHistogram *histogram)
{
	guint power;

	kmt_json_begin_array(json, key);
	for (power = 0; power < 64; power++) {
		guint64 n = kmt_histogram_power(histogram, power);

		if (!n)
			continue;
		kmt_json_begin_object(json, NULL);
		kmt_json_u64(json, "from",
			     power ? G_GUINT64_CONSTANT(1) << power : 0);
		kmt_json_u64(json, "count", kmt_aggregate_scaled(aggregate, n));
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

/* Add the figures of a group that are neither totals, peaks, nor figures of
 * deferred memory. */
static void add_details(KmtJson *json, const KmtReport *report,
			const KmtGroup *group)
{
	static const struct {
		const char *key;
		const char *field;
	} details[] = {
		{"live_bytes_at_peak", "at-peak"},
		{"reused", "reused"},
		{"lifetime_median", "lifetime-median"},
		{"lifetime_p99", "lifetime-p99"},
		{"age_median", "age-median"},
		{"churn_per_second", "churn"},
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(details); i++) {
		const KmtReportField *field =
			kmt_report_field_find(details[i].field);
		KmtFigure figure;

		if (!group->detail && kmt_report_field_needs_lifetimes(field))
			continue;
		figure = kmt_report_field_get(field, report->aggregate, group);
		kmt_report_json_add_figure(json, details[i].key, &figure);
	}
	if (!group->detail)
		return;
	add_histogram(json, "lifetimes", report->aggregate,
		      &group->detail->lifetimes);
	add_histogram(json, "sizes", report->aggregate, &group->detail->sizes);
}

/*
 * Add the groups. The member is "callsites" for --by callsite, else "groups".
 */
static void add_groups(KmtJson *json, const KmtReport *report)
{
	g_autoptr(KmtTable) table = kmt_report_table_new(report);
	gboolean sites = report->by->n == 1 &&
			 report->by->dimensions[0] == KMT_BY_CALLSITE;
	guint i;

	kmt_json_begin_array(json, sites ? "callsites" : "groups");
	for (i = 0; i < table->n_shown; i++) {
		const KmtGroup *group = table->rows[i];

		kmt_json_begin_object(json, NULL);
		kmt_report_json_add_group_name(json, report, group);
		add_totals(json, &group->totals);
		kmt_report_json_add_peak(json, report->aggregate,
					 &group->totals);
		add_details(json, report, group);
		kmt_report_json_add_deferred(json, report, group->deferred,
					     FALSE);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);

	/* Add the sums of the groups that --lines omits, which kmt_table_new()
	 * computed for each kind. Peaks are omitted: they have no sum. */
	kmt_json_begin_object(json,
			      sites ? "callsites_left_out" : "groups_left_out");
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!table->n_rest[i])
			continue;
		kmt_json_begin_object(json, kmt_kind_name((KmtKind)i));
		kmt_json_u64(json, sites ? "callsites" : "groups",
			     table->n_rest[i]);
		add_totals(json, &table->rest[i]);
		kmt_report_json_add_deferred(json, report,
					     &table->rest_deferred[i], TRUE);
		kmt_json_end_object(json);
	}
	kmt_json_end_object(json);
}

static void add_finding_sites(KmtJson *json, const KmtReport *report,
			      const char *key, KmtFindingClass class,
			      const char *count)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, class);
	guint i;

	kmt_json_begin_array(json, key);
	for (i = 0; i < list->len; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_json_begin_object(json, NULL);
		kmt_report_json_add_site(json, report, &entry->first);
		kmt_json_u64(json, count, entry->count);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_pair_site(KmtJson *json, const KmtReport *report,
			  const char *key, const KmtFindingSite *site)
{
	kmt_json_begin_object(json, key);
	kmt_report_json_add_site(json, report, site);
	kmt_json_end_object(json);
}

static void add_finding_pairs(KmtJson *json, const KmtReport *report,
			      const char *key, KmtFindingClass class,
			      const char *first, const char *second)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, class);
	guint i;

	kmt_json_begin_array(json, key);
	for (i = 0; i < list->len; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_json_begin_object(json, NULL);
		add_pair_site(json, report, first, &entry->first);
		add_pair_site(json, report, second, &entry->second);
		kmt_json_u64(json, "count", entry->count);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_finding_counts(KmtJson *json, const KmtReport *report)
{
	const KmtAggregate *aggregate = report->aggregate;

	kmt_output_findings(json, &aggregate->findings,
			    kmt_report_can_have_defers(report));
	kmt_json_u64(json, "unordered_timestamps", aggregate->unordered);
	kmt_json_u64(json, "skipped_records", aggregate->skipped);
	kmt_json_u64(json, "truncated_bytes", aggregate->truncated_bytes);
	kmt_json_u64(json, "short_allocations", aggregate->short_allocs);
	kmt_json_flag(json, "sums_overflowed", aggregate->overflowed);
}

static void add_findings(KmtJson *json, const KmtReport *report)
{
	kmt_json_begin_object(json, "findings");
	add_finding_counts(json, report);
	add_finding_sites(json, report, "before_trace_sites",
			  KMT_FINDING_UNMATCHED_BEFORE_TRACE, "frees");
	add_finding_sites(json, report, "after_loss_sites",
			  KMT_FINDING_UNMATCHED_AFTER_LOSS, "frees");
	add_finding_sites(json, report, "unexplained_sites",
			  KMT_FINDING_UNMATCHED_UNEXPLAINED, "frees");
	add_finding_pairs(json, report, "double_allocation_pairs",
			  KMT_FINDING_DOUBLE_UNEXPLAINED, "older", "newer");
	add_finding_pairs(json, report, "type_mismatch_pairs",
			  KMT_FINDING_MISMATCH, "allocated", "freed");
	if (kmt_report_can_have_defers(report)) {
		add_finding_sites(json, report, "unexplained_defer_sites",
				  KMT_FINDING_UNMATCHED_DEFER, "defers");
		add_finding_pairs(json, report, "double_defer_pairs",
				  KMT_FINDING_DOUBLE_DEFER, "allocated",
				  "deferred");
	}
	kmt_json_end_object(json);
}

void kmt_report_json(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtJson) json = kmt_json_new(out, 1);
	guint i;

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "format", "kmemtrace-report");
	kmt_json_u64(json, "version", 1);
	add_capture(json, report);
	add_kinds(json, report);
	add_groups(json, report);
	kmt_report_json_add_detailed(json, report);
	add_findings(json, report);
	kmt_json_begin_array(json, "warnings");
	for (i = 0; i < report->warnings->len; i++)
		kmt_json_text(json, NULL,
			      g_ptr_array_index(report->warnings, i));
	kmt_json_end_array(json);
	kmt_json_end_object(json);
}
