// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/report.h"

#include <json-glib/json-glib.h>
#include <string.h>

/*
 * json-glib keeps integers as gint64.  One that does not fit goes in as a
 * string of MARK and its digits, and is made a number again in the text; no
 * other string has a MARK in it.
 */
#define MARK	     '\001'
#define ESCAPED_MARK "\"\\u0001"

static void add_u64(JsonBuilder *builder, const char *key, guint64 value)
{
	json_builder_set_member_name(builder, key);
	if (value <= G_MAXINT64) {
		json_builder_add_int_value(builder, (gint64)value);
	} else {
		g_autofree char *text =
			g_strdup_printf("%c%" G_GUINT64_FORMAT, MARK, value);

		json_builder_add_string_value(builder, text);
	}
}

static void add_i64(JsonBuilder *builder, const char *key, gint64 value)
{
	json_builder_set_member_name(builder, key);
	json_builder_add_int_value(builder, value);
}

static void add_waste(JsonBuilder *builder, const char *key, KmtWaste waste)
{
	g_autofree char *text = NULL;

	if (!waste.negative) {
		add_u64(builder, key, waste.bytes);
		return;
	}
	text = g_strdup_printf("%c-%" G_GUINT64_FORMAT, MARK, waste.bytes);
	json_builder_set_member_name(builder, key);
	json_builder_add_string_value(builder, text);
}

/* NULL becomes null.  File names need not be UTF-8, JSON is. */
static void add_text(JsonBuilder *builder, const char *key, const char *value)
{
	g_autofree char *text = value ? g_utf8_make_valid(value, -1) : NULL;

	if (key)
		json_builder_set_member_name(builder, key);
	if (text)
		json_builder_add_string_value(builder,
					      g_strdelimit(text, "\001", '?'));
	else
		json_builder_add_null_value(builder);
}

static void add_flag(JsonBuilder *builder, const char *key, gboolean value)
{
	json_builder_set_member_name(builder, key);
	json_builder_add_boolean_value(builder, value);
}

static void add_totals(JsonBuilder *builder, const KmtTotals *totals)
{
	add_u64(builder, "allocs", totals->allocs);
	add_u64(builder, "frees", totals->frees);
	add_u64(builder, "bytes_requested", totals->bytes_req);
	add_u64(builder, "bytes_allocated", totals->bytes_alloc);
	add_waste(builder, "bytes_wasted", kmt_totals_wasted(totals));
	json_builder_set_member_name(builder, "fragmentation");
	json_builder_add_double_value(builder,
				      kmt_totals_fragmentation(totals));
	add_u64(builder, "cross_cpu_frees", totals->cross_cpu_frees);
	add_u64(builder, "remote_node_allocs", totals->remote_node_allocs);
	add_u64(builder, "live_objects", totals->live_objects);
	add_u64(builder, "live_bytes_requested", totals->live_bytes_req);
	add_u64(builder, "live_bytes_allocated", totals->live_bytes_alloc);
}

static void add_peak(JsonBuilder *builder, const KmtTotals *totals)
{
	add_u64(builder, "peak_bytes_allocated", totals->peak_bytes_alloc);
	add_i64(builder, "peak_timestamp", totals->peak_timestamp);
}

static void add_site(JsonBuilder *builder, const KmtReport *report,
		     guint64 address, KmtKind kind)
{
	g_autofree char *name = kmt_names_format(report->names, address);
	g_autofree char *text =
		g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", address);

	add_text(builder, "address", text);
	add_text(builder, "symbol", name);
	add_text(builder, "kind", kmt_kind_name(kind));
}

static void add_loss(JsonBuilder *builder, const KmtReport *report)
{
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;

	add_text(builder, "loss",
		 kmt_loss_name(kmt_report_loss(report->capture)));
	json_builder_set_member_name(builder, "not_exact");
	json_builder_begin_array(builder);
	for (i = 0; i < n; i++) {
		json_builder_begin_object(builder);
		add_i64(builder, "from", intervals[i].from);
		add_i64(builder, "until", intervals[i].until);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
}

static void add_capture(JsonBuilder *builder, const KmtReport *report)
{
	const KmtCapture *capture = report->capture;
	g_autofree char *release = kmt_report_meta(capture, "kernel_release");
	g_autofree char *version = kmt_report_meta(capture, "abi_version");
	guint64 abi_version = KMEMTRACE_ABI_VERSION;

	if (version)
		g_ascii_string_to_unsigned(version, 10, 1, G_MAXINT32,
					   &abi_version, NULL);
	json_builder_set_member_name(builder, "capture");
	json_builder_begin_object(builder);
	add_text(builder, "directory", capture->directory);
	add_u64(builder, "abi_version", abi_version);
	add_text(builder, "byte_order", kmt_capture_byte_order(capture));
	add_u64(builder, "record_size", capture->record_size);
	add_u64(builder, "cpus", capture->files->len);
	add_u64(builder, "events", capture->n_records);
	add_i64(builder, "first_timestamp", report->aggregate->first_timestamp);
	add_i64(builder, "last_timestamp", report->aggregate->last_timestamp);
	if (capture->has_overruns)
		add_u64(builder, "overruns", capture->overruns);
	else
		add_text(builder, "overruns", NULL);
	if (capture->meta)
		add_flag(builder, "complete", capture->complete);
	else
		add_text(builder, "complete", NULL);
	add_flag(builder, "continues", capture->continues);
	add_u64(builder, "missing_files", capture->missing_files);
	add_loss(builder, report);
	add_text(builder, "kernel_release", release);
	add_text(builder, "symbols", report->names->source);
	json_builder_end_object(builder);
}

static void add_kinds(JsonBuilder *builder, const KmtAggregate *aggregate)
{
	guint i;

	json_builder_set_member_name(builder, "kinds");
	json_builder_begin_object(builder);
	for (i = 0; i < KMT_N_KINDS; i++) {
		json_builder_set_member_name(builder,
					     kmt_kind_name((KmtKind)i));
		json_builder_begin_object(builder);
		add_totals(builder, &aggregate->kinds[i]);
		add_peak(builder, &aggregate->kinds[i]);
		json_builder_end_object(builder);
	}
	json_builder_end_object(builder);
}

static void add_callsites(JsonBuilder *builder, const KmtReport *report)
{
	g_autoptr(KmtTable) table = kmt_report_table(report);
	guint i;

	json_builder_set_member_name(builder, "callsites");
	json_builder_begin_array(builder);
	for (i = 0; i < table->n_shown; i++) {
		const KmtSite *site = table->rows[i].site;

		json_builder_begin_object(builder);
		add_site(builder, report, site->address, site->kind);
		add_totals(builder, &site->totals);
		add_peak(builder, &site->totals);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);

	/* What --lines left out; a peak is no sum, so there is none. */
	json_builder_set_member_name(builder, "callsites_left_out");
	json_builder_begin_object(builder);
	for (i = 0; i < KMT_N_KINDS; i++) {
		if (!table->n_rest[i])
			continue;
		json_builder_set_member_name(builder,
					     kmt_kind_name((KmtKind)i));
		json_builder_begin_object(builder);
		add_u64(builder, "callsites", table->n_rest[i]);
		add_totals(builder, &table->rest[i]);
		json_builder_end_object(builder);
	}
	json_builder_end_object(builder);
}

static void add_tally_sites(JsonBuilder *builder, const KmtReport *report,
			    const char *key, KmtTallyClass class)
{
	g_autoptr(GPtrArray) list =
		kmt_tally_list(report->aggregate->tally, class);
	guint i;

	json_builder_set_member_name(builder, key);
	json_builder_begin_array(builder);
	for (i = 0; i < list->len; i++) {
		const KmtTallyEntry *entry = g_ptr_array_index(list, i);

		json_builder_begin_object(builder);
		add_site(builder, report, entry->first.address,
			 entry->first.kind);
		add_u64(builder, "frees", entry->count);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
}

static void add_pair_site(JsonBuilder *builder, const KmtReport *report,
			  const char *key, const KmtTallySite *site)
{
	json_builder_set_member_name(builder, key);
	json_builder_begin_object(builder);
	add_site(builder, report, site->address, site->kind);
	json_builder_end_object(builder);
}

static void add_tally_pairs(JsonBuilder *builder, const KmtReport *report,
			    const char *key, KmtTallyClass class,
			    const char *first, const char *second)
{
	g_autoptr(GPtrArray) list =
		kmt_tally_list(report->aggregate->tally, class);
	guint i;

	json_builder_set_member_name(builder, key);
	json_builder_begin_array(builder);
	for (i = 0; i < list->len; i++) {
		const KmtTallyEntry *entry = g_ptr_array_index(list, i);

		json_builder_begin_object(builder);
		add_pair_site(builder, report, first, &entry->first);
		add_pair_site(builder, report, second, &entry->second);
		add_u64(builder, "count", entry->count);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
}

static void add_finding_counts(JsonBuilder *builder,
			       const KmtAggregate *aggregate)
{
	const KmtFindings *findings = &aggregate->findings;

	json_builder_set_member_name(builder, "unmatched_frees");
	json_builder_begin_object(builder);
	add_u64(builder, "before_trace",
		findings->unmatched[KMT_UNMATCHED_BEFORE_TRACE]);
	add_u64(builder, "after_loss",
		findings->unmatched[KMT_UNMATCHED_AFTER_LOSS]);
	add_u64(builder, "unexplained",
		findings->unmatched[KMT_UNMATCHED_UNEXPLAINED]);
	json_builder_end_object(builder);

	json_builder_set_member_name(builder, "double_allocations");
	json_builder_begin_object(builder);
	add_u64(builder, "after_loss",
		findings->doubles[KMT_DOUBLE_AFTER_LOSS]);
	add_u64(builder, "race", findings->doubles[KMT_DOUBLE_RACE]);
	add_u64(builder, "unexplained",
		findings->doubles[KMT_DOUBLE_UNEXPLAINED]);
	json_builder_end_object(builder);

	add_u64(builder, "type_mismatches", findings->mismatches);
	add_u64(builder, "type_mismatches_after_loss",
		findings->mismatches_after_loss);
	add_u64(builder, "unordered_timestamps", aggregate->unordered);
	add_u64(builder, "skipped_records", aggregate->skipped);
	add_u64(builder, "truncated_bytes", aggregate->truncated_bytes);
	add_u64(builder, "short_allocations", aggregate->short_allocs);
	add_flag(builder, "sums_overflowed", aggregate->overflowed);
}

static void add_findings(JsonBuilder *builder, const KmtReport *report)
{
	json_builder_set_member_name(builder, "findings");
	json_builder_begin_object(builder);
	add_finding_counts(builder, report->aggregate);
	add_tally_sites(builder, report, "before_trace_sites",
			KMT_TALLY_UNMATCHED_BEFORE_TRACE);
	add_tally_sites(builder, report, "after_loss_sites",
			KMT_TALLY_UNMATCHED_AFTER_LOSS);
	add_tally_sites(builder, report, "unexplained_sites",
			KMT_TALLY_UNMATCHED_UNEXPLAINED);
	add_tally_pairs(builder, report, "double_allocation_pairs",
			KMT_TALLY_DOUBLE_UNEXPLAINED, "older", "newer");
	add_tally_pairs(builder, report, "type_mismatch_pairs",
			KMT_TALLY_MISMATCH, "allocated", "freed");
	json_builder_end_object(builder);
}

static JsonNode *build(const KmtReport *report)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();
	guint i;

	json_builder_begin_object(builder);
	add_text(builder, "format", "kmemtrace-report");
	add_u64(builder, "version", 1);
	add_capture(builder, report);
	add_kinds(builder, report->aggregate);
	add_callsites(builder, report);
	add_findings(builder, report);
	json_builder_set_member_name(builder, "warnings");
	json_builder_begin_array(builder);
	for (i = 0; i < report->warnings->len; i++)
		add_text(builder, NULL, g_ptr_array_index(report->warnings, i));
	json_builder_end_array(builder);
	json_builder_end_object(builder);
	return json_builder_get_root(builder);
}

/* Turns "\u0001123" into 123. */
static void print_marked(const char *text, FILE *out)
{
	const char *mark;

	while ((mark = strstr(text, ESCAPED_MARK))) {
		const char *digits = mark + strlen(ESCAPED_MARK);
		gsize n_digits = strcspn(digits, "\"");

		fwrite(text, 1, (gsize)(mark - text), out);
		fwrite(digits, 1, n_digits, out);
		text = digits + n_digits + 1;
	}
	fputs(text, out);
	fputc('\n', out);
}

void kmt_report_json(const KmtReport *report, FILE *out)
{
	g_autoptr(JsonNode) root = build(report);
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autofree char *text = NULL;

	json_generator_set_pretty(generator, TRUE);
	json_generator_set_indent(generator, 1);
	json_generator_set_root(generator, root);
	text = json_generator_to_data(generator, NULL);
	print_marked(text, out);
}
