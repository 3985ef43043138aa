// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/check.h"
#include "lib/output/capture-json.h"

static void add_record(KmtJson *b, const char *name,
		       const KmtInputCpuFile *file, guint64 index)
{
	struct kmemtrace_event e;
	KmtInputRecordOwner owner;

	if (!file) {
		kmt_json_null(b, name);
		return;
	}
	kmt_json_begin_object(b, name);
	kmt_json_path(b, "file", file->path);
	kmt_json_u64(b, "index", index);
	kmt_json_u64(b, "offset", index * file->record_size);
	if (index < file->n_records) {
		kmt_input_cpu_file_get(file, index, &e);
		kmt_json_u64(b, "event_id", e.event_id);
		kmt_json_u64(b, "type_id", e.type_id);
		kmt_json_u64(b, "event_size", e.event_size);
		kmt_json_i64(b, "node", e.node);
		kmt_json_hex(b, "call_site", e.call_site, 1);
		kmt_json_hex(b, "ptr", e.ptr, 1);
		kmt_json_u64(b, "bytes_req", e.bytes_req);
		kmt_json_u64(b, "bytes_alloc", e.bytes_alloc);
		kmt_json_hex(b, "gfp_flags", e.gfp_flags, 1);
		kmt_json_i64(b, "timestamp", e.timestamp);
		if (kmt_input_capture_has_owners(file->capture)) {
			kmt_input_record_owner(
				file->map + index * file->record_size,
				file->swapped, &owner);
			kmt_json_u64(b, "pid", owner.pid);
			kmt_json_u64(b, "cache", owner.cache);
			kmt_json_hex(b, "flags", owner.flags, 1);
			if (kmt_input_capture_has_stacks(file->capture))
				kmt_json_u64(
					b, "stack",
					kmt_input_record_stack(
						file->map +
							index * file->record_size,
						file->swapped));
		}
	} else {
		kmt_json_u64(b, "truncated_bytes", file->truncated_bytes);
	}
	kmt_json_end_object(b);
}

static void add_capture(KmtJson *b, const KmtCheck *check)
{
	const KmtInputCapture *c = check->capture;
	guint i;

	kmt_json_begin_object(b, "capture");
	kmt_json_path(b, "directory", c->directory);
	kmt_json_text(b, "byte_order", kmt_input_capture_byte_order(c));
	kmt_json_text(b, "layout", kmt_input_layout_name(c->layout));
	kmt_json_u64(b, "record_size", c->record_size);
	kmt_json_u64(b, "records", c->n_records);
	kmt_output_loss(b, c, c->overruns);
	kmt_output_not_seen(b, c);
	kmt_output_choice(b, c);
	kmt_json_begin_array(b, "files");
	for (i = 0; i < c->files->len; i++) {
		const KmtInputCpuFile *file = c->files->pdata[i];

		kmt_json_begin_object(b, NULL);
		kmt_json_path(b, "path", file->path);
		kmt_json_u64(b, "cpu", file->cpu);
		kmt_json_u64(b, "bytes", file->size);
		kmt_json_u64(b, "records", file->n_records);
		kmt_json_u64(b, "usable", check->usable[i]);
		kmt_json_text(b, "defect", file->defect);
		kmt_json_end_object(b);
	}
	kmt_json_end_array(b);
	kmt_json_end_object(b);
}

static void add_rules(KmtJson *b, const KmtCheck *check)
{
	int n = check->across_files ? KMT_N_RULES : KMT_N_MARK_RULES;
	int rule;

	kmt_json_begin_array(b, "rules");
	for (rule = 0; rule < n; rule++) {
		kmt_json_begin_object(b, NULL);
		kmt_json_text(b, "name", kmt_rules[rule].name);
		kmt_json_text(b, "description", kmt_rules[rule].description);
		kmt_json_u64(b, "errors", check->counts[rule]);
		kmt_json_end_object(b);
	}
	kmt_json_end_array(b);
}

static void add_errors(KmtJson *b, const KmtCheck *check)
{
	guint i;

	kmt_json_begin_array(b, "errors");
	for (i = 0; i < check->errors->len; i++) {
		const KmtError *e = &g_array_index(check->errors, KmtError, i);

		kmt_json_begin_object(b, NULL);
		kmt_json_text(b, "rule", kmt_rules[e->rule].name);
		add_record(b, "record", e->file, e->index);
		add_record(b, "before", e->before_file, e->before_index);
		kmt_json_end_object(b);
	}
	kmt_json_end_array(b);
}

void kmt_check_json(const KmtCheck *check, FILE *out)
{
	g_autoptr(KmtJson) b = kmt_json_new(out, 2);
	g_autoptr(GPtrArray) warnings = kmt_check_warnings(check);
	guint i;

	kmt_json_begin_object(b, NULL);
	kmt_json_text(b, "format", "kmemtrace-check");
	kmt_json_u64(b, "version", 1);
	add_capture(b, check);
	kmt_json_u64(b, "clock_tolerance", (guint64)check->tolerance_ns);
	kmt_json_begin_array(b, "warnings");
	for (i = 0; i < warnings->len; i++)
		kmt_json_text(b, NULL, warnings->pdata[i]);
	kmt_json_end_array(b);
	add_rules(b, check);
	if (check->across_files) {
		kmt_json_begin_object(b, "findings");
		kmt_output_findings(b, &check->findings);
		kmt_json_end_object(b);
	} else {
		kmt_json_null(b, "findings");
	}
	add_errors(b, check);
	kmt_json_u64(b, "total_errors", check->total);
	kmt_json_end_object(b);
}
