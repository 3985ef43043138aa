// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/check.h"
#include "lib/output/capture-json.h"

static void add_record(KmtJson *json, const char *name,
		       const KmtInputCpuFile *file, guint64 index)
{
	struct kmemtrace_event e;
	guint8 record[KMEMTRACE_EVENT_SIZE_V2S];
	KmtInputRecordOwner owner;

	if (!file) {
		kmt_json_null(json, name);
		return;
	}
	kmt_json_begin_object(json, name);
	kmt_json_path(json, "file", file->path);
	kmt_json_u64(json, "index", index);
	kmt_json_u64(json, "offset", index * file->record_size);
	if (index < file->n_records) {
		kmt_input_cpu_file_get(file, index, &e);
		kmt_json_u64(json, "event_id", e.event_id);
		kmt_json_u64(json, "type_id", e.type_id);
		kmt_json_u64(json, "event_size", e.event_size);
		kmt_json_i64(json, "node", e.node);
		kmt_json_hex(json, "call_site", e.call_site, 1);
		kmt_json_hex(json, "ptr", e.ptr, 1);
		kmt_json_u64(json, "bytes_req", e.bytes_req);
		kmt_json_u64(json, "bytes_alloc", e.bytes_alloc);
		kmt_json_hex(json, "gfp_flags", e.gfp_flags, 1);
		kmt_json_i64(json, "timestamp", e.timestamp);
		if (kmt_input_capture_has_owners(file->capture)) {
			kmt_input_cpu_file_copy(
				file, index * file->record_size,
				MIN(file->record_size, sizeof(record)), record);
			kmt_input_record_owner(record, file->swapped, &owner);
			kmt_json_u64(json, "pid", owner.pid);
			kmt_json_u64(json, "cache", owner.cache);
			kmt_json_hex(json, "flags", owner.flags, 1);
			if (kmt_input_capture_has_stacks(file->capture))
				kmt_json_u64(json, "stack",
					     kmt_input_record_stack(
						     record, file->swapped));
		}
	} else {
		kmt_json_u64(json, "truncated_bytes", file->truncated_bytes);
	}
	kmt_json_end_object(json);
}

static void add_capture(KmtJson *json, const KmtCheck *check)
{
	const KmtInputCapture *c = check->capture;
	guint i;

	kmt_json_begin_object(json, "capture");
	kmt_json_path(json, "directory", c->directory);
	kmt_json_text(json, "byte_order", kmt_input_capture_byte_order(c));
	kmt_json_text(json, "layout", kmt_input_layout_name(c->layout));
	kmt_json_u64(json, "record_size", c->record_size);
	kmt_json_u64(json, "records", c->n_records);
	kmt_output_loss(json, c, c->overruns);
	kmt_output_not_seen(json, c);
	kmt_output_choice(json, c);
	kmt_json_begin_array(json, "files");
	for (i = 0; i < c->files->len; i++) {
		const KmtInputCpuFile *file = c->files->pdata[i];

		kmt_json_begin_object(json, NULL);
		kmt_json_path(json, "path", file->path);
		kmt_json_u64(json, "cpu", file->cpu);
		kmt_json_u64(json, "bytes", file->size);
		kmt_json_u64(json, "records", file->n_records);
		kmt_json_u64(json, "usable", check->usable[i]);
		kmt_json_text(json, "defect", file->defect);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
	kmt_json_end_object(json);
}

static void add_rules(KmtJson *json, const KmtCheck *check)
{
	int n = check->across_files ? KMT_N_RULES : KMT_N_MARK_RULES;
	int rule;

	kmt_json_begin_array(json, "rules");
	for (rule = 0; rule < n; rule++) {
		if (kmt_rule_is_of_defers(rule) && !check->has_defers)
			continue;
		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "name", kmt_rules[rule].name);
		kmt_json_text(json, "description", kmt_rules[rule].description);
		kmt_json_u64(json, "errors", check->counts[rule]);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

static void add_errors(KmtJson *json, const KmtCheck *check)
{
	guint i;

	kmt_json_begin_array(json, "errors");
	for (i = 0; i < check->errors->len; i++) {
		const KmtError *e = &g_array_index(check->errors, KmtError, i);

		kmt_json_begin_object(json, NULL);
		kmt_json_text(json, "rule", kmt_rules[e->rule].name);
		add_record(json, "record", e->file, e->index);
		add_record(json, "before", e->before_file, e->before_index);
		kmt_json_end_object(json);
	}
	kmt_json_end_array(json);
}

void kmt_check_json(const KmtCheck *check, FILE *out)
{
	g_autoptr(KmtJson) json = kmt_json_new(out, 2);
	g_autoptr(GPtrArray) warnings = kmt_check_warnings(check);
	guint i;

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "format", "kmemtrace-check");
	kmt_json_u64(json, "version", 1);
	add_capture(json, check);
	kmt_json_u64(json, "clock_tolerance", (guint64)check->tolerance_ns);
	kmt_json_begin_array(json, "warnings");
	for (i = 0; i < warnings->len; i++)
		kmt_json_text(json, NULL, warnings->pdata[i]);
	kmt_json_end_array(json);
	add_rules(json, check);
	if (check->across_files) {
		kmt_json_begin_object(json, "findings");
		kmt_output_findings(json, &check->findings, check->has_defers);
		kmt_json_end_object(json);
	} else {
		kmt_json_null(json, "findings");
	}
	add_errors(json, check);
	kmt_json_u64(json, "total_errors", check->total);
	kmt_json_end_object(json);
}
