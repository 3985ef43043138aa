// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "check/check.h"
#include "lib/base/printable.h"
#include "lib/cli/color.h"
#include "lib/input/namespace.h"

static const char *const event_names[] = {
	[KMEMTRACE_EVENT_ALLOC] = "alloc",
	[KMEMTRACE_EVENT_FREE] = "free",
	[KMEMTRACE_EVENT_DEFER] = "defer",
};

static const char *const type_names[] = {
	[KMEMTRACE_TYPE_KMALLOC] = "kmalloc",
	[KMEMTRACE_TYPE_CACHE] = "cache",
	[KMEMTRACE_TYPE_PAGES] = "pages",
	[KMEMTRACE_TYPE_PERCPU] = "percpu",
	[KMEMTRACE_TYPE_VMALLOC] = "vmalloc",
};

static guint64 offset_of(const KmtInputCpuFile *file, guint64 index)
{
	return index * file->record_size;
}

/* Print the bytes after the last complete record, at most as many as a record
 * of version 1 has. */
static void print_rest(const KmtInputCpuFile *file, FILE *out)
{
	guint8 rest[KMEMTRACE_EVENT_SIZE_V1];
	guint n = MIN(file->truncated_bytes, sizeof(rest)), i;

	kmt_input_cpu_file_copy(file, offset_of(file, file->n_records), n,
				rest);
	fprintf(out, "%u bytes:", file->truncated_bytes);
	for (i = 0; i < n; i++)
		fprintf(out, " %02x", rest[i]);
	if (i < file->truncated_bytes)
		fputs(" ...", out);
}

static void print_owner(const KmtInputCpuFile *file, guint64 index, FILE *out)
{
	guint8 record[KMEMTRACE_EVENT_SIZE_V2S];
	KmtInputRecordOwner owner;

	if (!kmt_input_capture_has_owners(file->capture))
		return;
	kmt_input_cpu_file_copy(file, offset_of(file, index),
				MIN(file->record_size, sizeof(record)), record);
	kmt_input_record_owner(record, file->swapped, &owner);
	fprintf(out, " pid=%u cache=%u flags=0x%x", owner.pid, owner.cache,
		owner.flags);
	if (kmt_input_capture_has_stacks(file->capture))
		fprintf(out, " stack=%u",
			kmt_input_record_stack(record, file->swapped));
}

static void print_lost(const struct kmemtrace_event *e, FILE *out)
{
	fprintf(out,
		"lost t=%" G_GINT64_FORMAT " n=%" G_GUINT64_FORMAT
		" since=%" G_GINT64_FORMAT,
		(gint64)e->timestamp, kmt_input_loss_events(e),
		kmt_input_loss_since(e));
}

static void print_mark(const struct kmemtrace_event *e, FILE *out)
{
	struct kmemtrace_event_mark mark;

	memcpy(&mark, e, sizeof(*e));
	fprintf(out, "%s t=%" G_GINT64_FORMAT " number=%u part=%u",
		mark.event_id == KMEMTRACE_EVENT_MARK ? "mark" : "more",
		(gint64)mark.timestamp, mark.mark, mark.part);
}

/* Print an event in the format that tests/lib/mkcapture.py reads. */
static void print_event(const KmtInputCpuFile *file,
			const struct kmemtrace_event *e, FILE *out)
{
	gboolean is_defer = kmt_input_is_defer(e, file->capture);

	if ((e->event_id > KMEMTRACE_EVENT_FREE && !is_defer) ||
	    e->event_id == KMEMTRACE_EVENT_NULL ||
	    e->type_id > kmt_input_last_type(file->record_size) ||
	    e->event_size != file->record_size)
		fprintf(out, "record event=%u type=%u size=%u", e->event_id,
			e->type_id, e->event_size);
	else
		fprintf(out, "%s %s", event_names[e->event_id],
			type_names[e->type_id]);
	fprintf(out,
		" t=%" G_GINT64_FORMAT " site=0x%" G_GINT64_MODIFIER
		"x ptr=0x%" G_GINT64_MODIFIER "x",
		(gint64)e->timestamp, (guint64)e->call_site, (guint64)e->ptr);
	if (e->event_id == KMEMTRACE_EVENT_FREE || is_defer)
		return;
	fprintf(out,
		" req=%" G_GUINT64_FORMAT " alloc=%" G_GUINT64_FORMAT
		" gfp=0x%" G_GINT64_MODIFIER "x node=%d",
		(guint64)e->bytes_req, (guint64)e->bytes_alloc,
		(guint64)e->gfp_flags, e->node);
}

static void print_record(const char *label, const KmtInputCpuFile *file,
			 guint64 index, FILE *out)
{
	g_autofree char *path = kmt_printable(file->path);
	struct kmemtrace_event event;

	fprintf(out, "    %s  %s:%" G_GUINT64_FORMAT ": ", label, path,
		offset_of(file, index));
	if (index < file->n_records) {
		kmt_input_cpu_file_get(file, index, &event);
		if (kmt_input_is_loss(&event, file->record_size)) {
			print_lost(&event, out);
		} else {
			if (kmt_input_is_mark(&event, file->record_size))
				print_mark(&event, out);
			else
				print_event(file, &event, out);
			print_owner(file, index, out);
		}
	} else if (file->truncated_bytes) {
		print_rest(file, out);
	} else {
		fputs("end of the file", out);
	}
	fputc('\n', out);
}

static void print_error(const KmtError *e, FILE *out)
{
	g_autofree char *path = kmt_printable(e->file->path);

	fprintf(out,
		"%s: record %" G_GUINT64_FORMAT ", offset %" G_GUINT64_FORMAT
		": %s%s%s: %s\n",
		path, e->index, offset_of(e->file, e->index),
		kmt_color_begin(out, KMT_COLOR_ERROR), kmt_rules[e->rule].name,
		kmt_color_end(out), kmt_rules[e->rule].description);
	if (e->rule == KMT_RULE_WRONG_FILE_SIZE)
		fprintf(out,
			"    size %" G_GUINT64_FORMAT
			" bytes, kmemtrace.meta has %" G_GUINT64_FORMAT "\n",
			e->file->size, e->file->expected_size);
	if (e->rule == KMT_RULE_UNREADABLE) {
		g_autofree char *why = kmt_printable(e->file->defect);

		fprintf(out, "    %s\n", why);
	}
	if (e->before_file)
		print_record("before", e->before_file, e->before_index, out);
	else
		fputs("    before  none\n", out);
	print_record("record", e->file, e->index, out);
	fputc('\n', out);
}

/* Print the files that have records but no usable one, in place of their
 * errors. */
static void print_unusable(const KmtCheck *check, FILE *out)
{
	guint i;

	for (i = 0; i < check->capture->files->len; i++) {
		const KmtInputCpuFile *file = check->capture->files->pdata[i];
		g_autofree char *path = kmt_printable(file->path);

		if (kmt_check_is_unusable(check, file))
			fprintf(out,
				"%s: the file has no valid record: is it a "
				"cpu<n>.out of kmemtraced?\n\n",
				path);
	}
}

static void print_count(const KmtCheck *check, KmtRuleId rule, FILE *out)
{
	gboolean is_broken = check->counts[rule] > 0;

	fprintf(out, "%s%-18s %12" G_GUINT64_FORMAT "%s",
		is_broken ? kmt_color_begin(out, KMT_COLOR_ERROR) : "",
		kmt_rules[rule].name, check->counts[rule],
		is_broken ? kmt_color_end(out) : "");
	if (check->counts[rule] > check->kept[rule])
		fprintf(out, "  (%" G_GUINT64_FORMAT " shown)",
			check->kept[rule]);
}

/* Print the rest of a line that counts errors of unmatched records: the numbers
 * of unmatched records that are no error, by their cause. */
static void print_explained(const guint64 *unmatched, FILE *out)
{
	fprintf(out,
		"  besides %" G_GUINT64_FORMAT " of memory from before the "
		"trace, %" G_GUINT64_FORMAT " after loss\n",
		unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS]);
}

static void print_after_loss(guint64 n, FILE *out)
{
	fprintf(out, "  besides %" G_GUINT64_FORMAT " after loss\n", n);
}

static void print_defer_counts(const KmtCheck *check, FILE *out)
{
	const KmtMatchFindings *f = &check->findings;

	print_count(check, KMT_RULE_UNMATCHED_DEFER, out);
	print_explained(f->unmatched_defers, out);
	print_count(check, KMT_RULE_DOUBLE_DEFER, out);
	print_after_loss(f->double_defers_after_loss, out);
}

static void print_counts(const KmtCheck *check, FILE *out)
{
	const KmtMatchFindings *f = &check->findings;
	int rule;

	kmt_color_puts(out, KMT_COLOR_HEADING,
		       "Rule                     Errors");
	fputc('\n', out);
	for (rule = 0; rule < KMT_N_MARK_RULES; rule++) {
		if (kmt_rule_is_of_defers(rule) && !check->has_defers)
			continue;
		print_count(check, rule, out);
		fputc('\n', out);
	}
	if (!check->across_files) {
		fputs("Across files: not checked, this is one file.  Specify "
		      "the directory of the capture.\n",
		      out);
		return;
	}
	print_count(check, KMT_RULE_DOUBLE_ALLOCATION, out);
	fprintf(out,
		"  besides %" G_GUINT64_FORMAT " by a race, %" G_GUINT64_FORMAT
		" after loss\n",
		f->doubles[KMT_MATCH_DOUBLE_RACE],
		f->doubles[KMT_MATCH_DOUBLE_AFTER_LOSS]);
	print_count(check, KMT_RULE_UNMATCHED_FREE, out);
	print_explained(f->unmatched, out);
	print_count(check, KMT_RULE_MISMATCHED_FREE, out);
	print_after_loss(f->mismatches_after_loss, out);
	if (check->has_defers)
		print_defer_counts(check, out);
}

static void print_verdict(const KmtCheck *check, FILE *out)
{
	if (check->total) {
		fprintf(out, "%s%" G_GUINT64_FORMAT " error%s.%s\n",
			kmt_color_begin(out, KMT_COLOR_ERROR), check->total,
			check->total == 1 ? "" : "s", kmt_color_end(out));
		return;
	}
	kmt_color_puts(out, KMT_COLOR_GOOD, "No errors.");
	fputc('\n', out);
}

void kmt_check_text(const KmtCheck *check, FILE *out)
{
	const KmtInputCapture *c = check->capture;
	g_autoptr(GPtrArray) warnings = kmt_check_warnings(check);
	guint i;

	print_unusable(check, out);
	for (i = 0; i < check->errors->len; i++)
		print_error(&g_array_index(check->errors, KmtError, i), out);
	fprintf(out,
		"%u file%s, %" G_GUINT64_FORMAT " record%s of %u bytes, %s "
		"endian",
		c->files->len, c->files->len == 1 ? "" : "s", c->n_records,
		c->n_records == 1 ? "" : "s", c->record_size,
		kmt_input_capture_byte_order(c));
	if (c->layout != KMT_INPUT_LAYOUT_B)
		fprintf(out,
			"\nConverted from layout %s: offsets are those of the "
			"converted records",
			kmt_input_layout_name(c->layout));
	fputs("\n\n", out);
	print_counts(check, out);
	fputc('\n', out);
	for (i = 0; i < warnings->len; i++) {
		g_autofree char *text = kmt_printable(warnings->pdata[i]);

		kmt_color_puts(out, KMT_COLOR_WARNING, "WARNING:");
		fprintf(out, " %s.\n", text);
	}
	print_verdict(check, out);
}
