// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <json-glib/json-glib.h>

#include "check/check.h"

static void add_int(JsonBuilder *b, const char *name, guint64 value)
{
	json_builder_set_member_name(b, name);
	/* Only damage makes such a number; json-glib's are signed. */
	if (value > G_MAXINT64) {
		g_autofree char *text =
			g_strdup_printf("0x%" G_GINT64_MODIFIER "x", value);

		json_builder_add_string_value(b, text);
	} else {
		json_builder_add_int_value(b, (gint64)value);
	}
}

static void add_signed(JsonBuilder *b, const char *name, gint64 value)
{
	json_builder_set_member_name(b, name);
	json_builder_add_int_value(b, value);
}

static void add_address(JsonBuilder *b, const char *name, guint64 value)
{
	g_autofree char *text =
		g_strdup_printf("0x%" G_GINT64_MODIFIER "x", value);

	json_builder_set_member_name(b, name);
	json_builder_add_string_value(b, text);
}

/* Paths may be in any encoding, JSON is UTF-8. */
static void add_path(JsonBuilder *b, const char *name, const char *path)
{
	json_builder_set_member_name(b, name);
	if (path) {
		g_autofree char *text = g_filename_display_name(path);

		json_builder_add_string_value(b, text);
	} else {
		json_builder_add_null_value(b);
	}
}

static void add_bool(JsonBuilder *b, const char *name, gboolean value)
{
	json_builder_set_member_name(b, name);
	json_builder_add_boolean_value(b, value);
}

static void add_string(JsonBuilder *b, const char *name, const char *value)
{
	json_builder_set_member_name(b, name);
	json_builder_add_string_value(b, value);
}

static void begin(JsonBuilder *b, const char *name)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
}

static void add_place(JsonBuilder *b, const char *name, const KmtCpuFile *file,
		      guint64 index)
{
	struct kmemtrace_event e;

	if (!file) {
		json_builder_set_member_name(b, name);
		json_builder_add_null_value(b);
		return;
	}
	begin(b, name);
	add_path(b, "file", file->path);
	add_int(b, "index", index);
	add_int(b, "offset", index * file->record_size);
	if (index < file->n_records) {
		kmt_cpu_file_get(file, index, &e);
		add_int(b, "event_id", e.event_id);
		add_int(b, "type_id", e.type_id);
		add_int(b, "event_size", e.event_size);
		add_signed(b, "node", e.node);
		add_address(b, "call_site", e.call_site);
		add_address(b, "ptr", e.ptr);
		add_int(b, "bytes_req", e.bytes_req);
		add_int(b, "bytes_alloc", e.bytes_alloc);
		add_address(b, "gfp_flags", e.gfp_flags);
		add_signed(b, "timestamp", e.timestamp);
	} else {
		add_int(b, "truncated_bytes", file->truncated_bytes);
	}
	json_builder_end_object(b);
}

static void add_capture(JsonBuilder *b, const KmtCheck *check)
{
	const KmtCapture *c = check->capture;
	guint i;

	begin(b, "capture");
	add_path(b, "directory", c->directory);
	add_string(b, "byte_order", kmt_capture_byte_order(c));
	add_int(b, "record_size", c->record_size);
	add_int(b, "records", c->n_records);
	if (c->has_overruns) {
		add_int(b, "overruns", c->overruns);
	} else {
		json_builder_set_member_name(b, "overruns");
		json_builder_add_null_value(b);
	}
	json_builder_set_member_name(b, "complete");
	if (c->meta)
		json_builder_add_boolean_value(b, c->complete);
	else
		json_builder_add_null_value(b);
	add_bool(b, "continues", c->continues);
	add_int(b, "missing_files", c->missing_files);
	json_builder_set_member_name(b, "files");
	json_builder_begin_array(b);
	for (i = 0; i < c->files->len; i++) {
		const KmtCpuFile *file = c->files->pdata[i];

		json_builder_begin_object(b);
		add_path(b, "path", file->path);
		add_int(b, "cpu", file->cpu);
		add_int(b, "bytes", file->size);
		add_int(b, "records", file->n_records);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
}

static void add_rules(JsonBuilder *b, const KmtCheck *check)
{
	int n = check->across ? KMT_N_RULES : KMT_N_FILE_RULES;
	int rule;

	json_builder_set_member_name(b, "rules");
	json_builder_begin_array(b);
	for (rule = 0; rule < n; rule++) {
		json_builder_begin_object(b);
		add_string(b, "name", kmt_rules[rule].name);
		add_string(b, "description", kmt_rules[rule].description);
		add_int(b, "errors", check->counts[rule]);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

static void add_findings(JsonBuilder *b, const KmtCheck *check)
{
	const KmtFindings *f = &check->findings;

	json_builder_set_member_name(b, "findings");
	if (!check->across) {
		json_builder_add_null_value(b);
		return;
	}
	json_builder_begin_object(b);
	begin(b, "unmatched_frees");
	add_int(b, "before_trace", f->unmatched[KMT_UNMATCHED_BEFORE_TRACE]);
	add_int(b, "after_loss", f->unmatched[KMT_UNMATCHED_AFTER_LOSS]);
	add_int(b, "unexplained", f->unmatched[KMT_UNMATCHED_UNEXPLAINED]);
	json_builder_end_object(b);
	begin(b, "double_allocations");
	add_int(b, "after_loss", f->doubles[KMT_DOUBLE_AFTER_LOSS]);
	add_int(b, "race", f->doubles[KMT_DOUBLE_RACE]);
	add_int(b, "unexplained", f->doubles[KMT_DOUBLE_UNEXPLAINED]);
	json_builder_end_object(b);
	add_int(b, "type_mismatches", f->mismatches);
	add_int(b, "type_mismatches_after_loss", f->mismatches_after_loss);
	json_builder_end_object(b);
}

static void add_errors(JsonBuilder *b, const KmtCheck *check)
{
	guint i;

	json_builder_set_member_name(b, "errors");
	json_builder_begin_array(b);
	for (i = 0; i < check->errors->len; i++) {
		const KmtError *e = &g_array_index(check->errors, KmtError, i);

		json_builder_begin_object(b);
		add_string(b, "rule", kmt_rules[e->rule].name);
		add_place(b, "record", e->file, e->index);
		add_place(b, "before", e->before_file, e->before_index);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
}

void kmt_check_json(const KmtCheck *check, FILE *out)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autoptr(JsonNode) root = NULL;
	g_autoptr(GPtrArray) loss = kmt_check_loss(check);
	g_autofree char *text = NULL;
	guint i;

	json_builder_begin_object(b);
	add_string(b, "format", "kmemtrace-check");
	add_int(b, "version", 1);
	add_capture(b, check);
	add_int(b, "clock_tolerance", (guint64)check->tolerance_ns);
	json_builder_set_member_name(b, "warnings");
	json_builder_begin_array(b);
	for (i = 0; i < loss->len; i++)
		json_builder_add_string_value(b, loss->pdata[i]);
	json_builder_end_array(b);
	add_rules(b, check);
	add_findings(b, check);
	add_errors(b, check);
	add_int(b, "total_errors", check->total);
	json_builder_end_object(b);

	root = json_builder_get_root(b);
	json_generator_set_root(generator, root);
	json_generator_set_pretty(generator, TRUE);
	text = json_generator_to_data(generator, NULL);
	fputs(text, out);
	fputc('\n', out);
}
