// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/output/capture-json.h"
#include "report/leaks.h"
#include "report/mark-list.h"
#include "report/report-json-private.h"
#include "report/report.h"
#include "report/scale.h"

static void add_totals(KmtJson *builder, const KmtTotals *totals)
{
	KmtWaste waste = kmt_totals_wasted(totals);

	kmt_json_u64(builder, "allocs", totals->allocs);
	kmt_json_u64(builder, "frees", totals->frees);
	kmt_json_u64(builder, "bytes_requested", totals->bytes_req);
	kmt_json_u64(builder, "bytes_allocated", totals->bytes_alloc);
	kmt_json_integer(builder, "bytes_wasted", waste.negative, waste.bytes);
	kmt_json_double(builder, "fragmentation",
			kmt_totals_fragmentation(totals));
	kmt_json_u64(builder, "cross_cpu_frees", totals->cross_cpu_frees);
	kmt_json_u64(builder, "remote_node_allocs", totals->remote_node_allocs);
	kmt_json_u64(builder, "live_objects", totals->live_objects);
	kmt_json_u64(builder, "live_bytes_requested", totals->live_bytes_req);
	kmt_json_u64(builder, "live_bytes_allocated", totals->live_bytes_alloc);
}

static void add_loss(KmtJson *builder, const KmtReport *report)
{
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;

	kmt_json_text(builder, "loss", kmt_loss_name(kmt_report_loss(report)));
	if (report->lost.is_known && report->capture->has_overruns)
		kmt_json_u64(builder, "lost_in_time", report->lost.within);
	else
		kmt_json_null(builder, "lost_in_time");
	kmt_json_begin_array(builder, "not_exact");
	for (i = 0; i < n; i++) {
		kmt_json_begin_object(builder, NULL);
		kmt_report_json_add_time(builder, report->aggregate, "from",
					 intervals[i].from);
		kmt_report_json_add_time(builder, report->aggregate, "until",
					 intervals[i].until);
		kmt_json_end_object(builder);
	}
	kmt_json_end_array(builder);
}

/* Add the times of the losses; null if they are unknown. */
static void add_gaps(KmtJson *builder, const KmtReport *report)
{
	g_autoptr(GArray) gaps = kmt_report_gaps(report);
	guint i;

	if (!gaps) {
		kmt_json_null(builder, "holes");
		return;
	}
	kmt_json_begin_array(builder, "holes");
	for (i = 0; i < gaps->len; i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);
		const KmtInputCpuFile *file =
			report->capture->files->pdata[gap->file];

		kmt_json_begin_object(builder, NULL);
		kmt_json_u64(builder, "cpu", file->cpu);
		kmt_report_json_add_time(builder, report->aggregate, "from",
					 gap->since);
		kmt_report_json_add_time(builder, report->aggregate, "until",
					 gap->until);
		if (gap->events)
			kmt_json_u64(builder, "events", gap->events);
		else
			kmt_json_null(builder, "events");
		kmt_json_end_object(builder);
	}
	kmt_json_end_array(builder);
}

static void add_lossy_fraction(KmtJson *builder, const KmtReport *report)
{
	kmt_json_double(builder, "blind", kmt_report_lossy_fraction(report));
}

/*
 * List the members whose values are those of the records times capture.sample.
 */
static void add_scaled(KmtJson *builder, const KmtReport *report)
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
		"groups.frees",
		"frees_by_cpu",
		"cross_cpu_pairs",
		/* The last two are scaled only with a filter: without one, they
		 * count all frees. */
		"kinds.frees",
		"windows.frees",
	};
	guint n = G_N_ELEMENTS(keys) - (kmt_report_has_filter(report) ? 0 : 2);
	guint i;

	kmt_json_begin_array(builder, "scaled");
	for (i = 0; kmt_report_is_sample(report) && i < n; i++)
		kmt_json_text(builder, NULL, keys[i]);
	kmt_json_end_array(builder);
}

static void add_capture(KmtJson *builder, const KmtReport *report)
{
	const KmtInputCapture *capture = report->capture;
	g_autofree char *release = kmt_report_meta(capture, "kernel_release");
	g_autofree char *version = kmt_report_meta(capture, "abi_version");
	guint64 abi_version =
		capture->record_size < KMEMTRACE_EVENT_SIZE_V2 ? 1 : 2;

	if (version)
		g_ascii_string_to_unsigned(version, 10, 1, G_MAXINT32,
					   &abi_version, NULL);
	kmt_json_begin_object(builder, "capture");
	kmt_json_path(builder, "directory", capture->directory);
	kmt_json_u64(builder, "abi_version", abi_version);
	kmt_json_text(builder, "byte_order",
		      kmt_input_capture_byte_order(capture));
	kmt_json_text(builder, "layout",
		      kmt_input_layout_name(capture->layout));
	/* Layouts C and D have records of two sizes. */
	if (capture->layout == KMT_INPUT_LAYOUT_C ||
	    capture->layout == KMT_INPUT_LAYOUT_D)
		kmt_json_text(builder, "record_size", NULL);
	else
		kmt_json_u64(builder, "record_size", capture->record_size);
	kmt_json_u64(builder, "cpus", capture->files->len);
	kmt_json_u64(builder, "events",
		     capture->n_records - report->aggregate->gap_records -
			     report->aggregate->stop_records -
			     report->aggregate->mark_records);
	kmt_report_json_add_time(builder, report->aggregate, "first_timestamp",
				 report->aggregate->first_timestamp);
	kmt_report_json_add_time(builder, report->aggregate, "last_timestamp",
				 report->aggregate->last_timestamp);
	kmt_output_loss(builder, capture, report->lost.within);
	add_loss(builder, report);
	add_gaps(builder, report);
	add_lossy_fraction(builder, report);
	kmt_output_not_seen(builder, capture);
	kmt_output_choice(builder, capture);
	add_scaled(builder, report);
	kmt_json_text(builder, "kernel_release", release);
	kmt_json_text(builder, "symbols", kmt_symbolizer_path(report->names));
	kmt_json_end_object(builder);
}

static void add_kinds(KmtJson *builder, const KmtReport *report)
{
	const KmtAggregate *aggregate = report->aggregate;
	guint i;

	kmt_json_begin_object(builder, "kinds");
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!kmt_report_can_have_kind(report, (KmtKind)i))
			continue;
		kmt_json_begin_object(builder, kmt_kind_name((KmtKind)i));
		add_totals(builder, &aggregate->kinds[i]);
		kmt_report_json_add_peak(builder, aggregate,
					 &aggregate->kinds[i]);
		kmt_json_end_object(builder);
	}
	kmt_json_end_object(builder);
}

static void add_histogram(KmtJson *builder, const char *key,
			  const KmtAggregate *aggregate,
			  const KmtHistogram *histogram)
{
	guint power;

	kmt_json_begin_array(builder, key);
	for (power = 0; power < 64; power++) {
		guint64 n = kmt_histogram_power(histogram, power);

		if (!n)
			continue;
		kmt_json_begin_object(builder, NULL);
		kmt_json_u64(builder, "from",
			     power ? G_GUINT64_CONSTANT(1) << power : 0);
		kmt_json_u64(builder, "count",
			     kmt_aggregate_scaled(aggregate, n));
		kmt_json_end_object(builder);
	}
	kmt_json_end_array(builder);
}

/* Add the figures of a group that KmtTotals lacks. */
static void add_details(KmtJson *builder, const KmtReport *report,
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
	/* Every group has the first two figures. */
	guint n = group->detail ? G_N_ELEMENTS(details) : 2, i;

	for (i = 0; i < n; i++) {
		KmtFigure figure = kmt_report_field_get(
			kmt_report_field_find(details[i].field),
			report->aggregate, group);

		kmt_report_json_add_figure(builder, details[i].key, &figure);
	}
	if (!group->detail)
		return;
	add_histogram(builder, "lifetimes", report->aggregate,
		      &group->detail->lifetimes);
	add_histogram(builder, "sizes", report->aggregate,
		      &group->detail->sizes);
}

/*
 * Add the groups. The member is "callsites" for --by callsite, else "groups".
 */
static void add_groups(KmtJson *builder, const KmtReport *report)
{
	g_autoptr(KmtTable) table = kmt_report_table(report);
	gboolean sites = report->by->n == 1 &&
			 report->by->dimensions[0] == KMT_BY_CALLSITE;
	guint i;

	kmt_json_begin_array(builder, sites ? "callsites" : "groups");
	for (i = 0; i < table->n_shown; i++) {
		const KmtGroup *group = table->rows[i];

		kmt_json_begin_object(builder, NULL);
		kmt_report_json_add_group_name(builder, report, group);
		add_totals(builder, &group->totals);
		kmt_report_json_add_peak(builder, report->aggregate,
					 &group->totals);
		add_details(builder, report, group);
		kmt_json_end_object(builder);
	}
	kmt_json_end_array(builder);

	/* Sum the groups that --lines omits, without peaks, which have no sum.
	 */
	kmt_json_begin_object(builder,
			      sites ? "callsites_left_out" : "groups_left_out");
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!table->n_rest[i])
			continue;
		kmt_json_begin_object(builder, kmt_kind_name((KmtKind)i));
		kmt_json_u64(builder, sites ? "callsites" : "groups",
			     table->n_rest[i]);
		add_totals(builder, &table->rest[i]);
		kmt_json_end_object(builder);
	}
	kmt_json_end_object(builder);
}

static void add_finding_sites(KmtJson *builder, const KmtReport *report,
			      const char *key, KmtFindingClass class)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, class);
	guint i;

	kmt_json_begin_array(builder, key);
	for (i = 0; i < list->len; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_json_begin_object(builder, NULL);
		kmt_report_json_add_site(builder, report, entry->first.address,
					 entry->first.kind);
		kmt_json_u64(builder, "frees", entry->count);
		kmt_json_end_object(builder);
	}
	kmt_json_end_array(builder);
}

static void add_pair_site(KmtJson *builder, const KmtReport *report,
			  const char *key, const KmtFindingSite *site)
{
	kmt_json_begin_object(builder, key);
	kmt_report_json_add_site(builder, report, site->address, site->kind);
	kmt_json_end_object(builder);
}

static void add_finding_pairs(KmtJson *builder, const KmtReport *report,
			      const char *key, KmtFindingClass class,
			      const char *first, const char *second)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, class);
	guint i;

	kmt_json_begin_array(builder, key);
	for (i = 0; i < list->len; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_json_begin_object(builder, NULL);
		add_pair_site(builder, report, first, &entry->first);
		add_pair_site(builder, report, second, &entry->second);
		kmt_json_u64(builder, "count", entry->count);
		kmt_json_end_object(builder);
	}
	kmt_json_end_array(builder);
}

static void add_finding_counts(KmtJson *builder, const KmtAggregate *aggregate)
{
	kmt_output_findings(builder, &aggregate->findings);
	kmt_json_u64(builder, "unordered_timestamps", aggregate->unordered);
	kmt_json_u64(builder, "skipped_records", aggregate->skipped);
	kmt_json_u64(builder, "truncated_bytes", aggregate->truncated_bytes);
	kmt_json_u64(builder, "short_allocations", aggregate->short_allocs);
	kmt_json_flag(builder, "sums_overflowed", aggregate->overflowed);
}

static void add_findings(KmtJson *builder, const KmtReport *report)
{
	kmt_json_begin_object(builder, "findings");
	add_finding_counts(builder, report->aggregate);
	add_finding_sites(builder, report, "before_trace_sites",
			  KMT_FINDING_UNMATCHED_BEFORE_TRACE);
	add_finding_sites(builder, report, "after_loss_sites",
			  KMT_FINDING_UNMATCHED_AFTER_LOSS);
	add_finding_sites(builder, report, "unexplained_sites",
			  KMT_FINDING_UNMATCHED_UNEXPLAINED);
	add_finding_pairs(builder, report, "double_allocation_pairs",
			  KMT_FINDING_DOUBLE_UNEXPLAINED, "older", "newer");
	add_finding_pairs(builder, report, "type_mismatch_pairs",
			  KMT_FINDING_MISMATCH, "allocated", "freed");
	kmt_json_end_object(builder);
}

void kmt_report_json(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtJson) builder = kmt_json_new(out, 1);
	guint i;

	kmt_json_begin_object(builder, NULL);
	kmt_json_text(builder, "format", "kmemtrace-report");
	kmt_json_u64(builder, "version", 1);
	add_capture(builder, report);
	add_kinds(builder, report);
	add_groups(builder, report);
	kmt_report_json_add_detailed(builder, report);
	add_findings(builder, report);
	kmt_json_begin_array(builder, "warnings");
	for (i = 0; i < report->warnings->len; i++)
		kmt_json_text(builder, NULL,
			      g_ptr_array_index(report->warnings, i));
	kmt_json_end_array(builder);
	kmt_json_end_object(builder);
}
