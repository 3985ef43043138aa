// SPDX-License-Identifier: GPL-2.0-or-later
/* --marks: the list of annotations. */
#include "config.h"

#include "lib/base/printable.h"
#include "report/mark-list.h"
#include "report/report-text.h"

static const char *context_of(const KmtInputMark *mark)
{
	return mark->flags & KMEMTRACE_FLAG_HARDIRQ   ? "hardirq"
	       : mark->flags & KMEMTRACE_FLAG_SOFTIRQ ? "softirq"
						      : "task";
}

guint kmt_mark_list_cpu(const KmtReport *report, const KmtInputMark *mark)
{
	const KmtInputCpuFile *file = report->capture->files->pdata[mark->file];

	return file->cpu;
}

const char *kmt_mark_list_comm(const KmtReport *report,
			       const KmtInputMark *mark)
{
	return kmt_input_tables_task_name(report->phases->tables, mark->pid,
					  mark->time, NULL);
}

gboolean kmt_mark_list_has(const KmtReport *report, const KmtInputMark *mark)
{
	gint64 start, stop, origin = kmt_report_origin(report);

	if (!report->span)
		return TRUE;
	if (__builtin_add_overflow(origin, report->span->start, &start))
		start = G_MAXINT64;
	if (__builtin_add_overflow(origin, report->span->stop, &stop))
		stop = G_MAXINT64;
	return (!report->span->start || mark->time >= start) &&
	       mark->time <= stop;
}

static void print_line(const KmtReport *report, KmtColumns *columns, guint i)
{
	const KmtInputMark *mark =
		kmt_input_marks_get(report->phases->marks, i);
	g_autofree char *moment =
		kmt_report_format_moment(report, mark->time, FALSE);
	g_autofree char *label = kmt_input_mark_name(mark);
	g_autofree char *text = kmt_phases_text(report->phases, i);
	const char *comm = kmt_mark_list_comm(report, mark);
	g_autofree char *task = kmt_printable(comm ? comm : "?");

	kmt_columns_add_text(columns, moment);
	kmt_columns_add_number(columns, FALSE, kmt_mark_list_cpu(report, mark));
	kmt_columns_add_number(columns, FALSE, mark->pid);
	kmt_columns_add_text(columns, task);
	kmt_columns_add_text(columns, context_of(mark));
	kmt_columns_add_text(columns, label);
	kmt_columns_add_text(columns, text);
}

/*
 * Fill the lines of the marks. Return the number of marks that max_lines omits.
 */
static guint fill_marks(const KmtReport *report, KmtColumns *columns)
{
	static const char *const heads[] = {"time, s", "CPU",  "pid", "task",
					    "context", "mark", "text"};
	guint n = kmt_input_marks_count(report->phases->marks), shown = 0,
	      rest = 0, i;

	for (i = 0; i < G_N_ELEMENTS(heads); i++)
		kmt_columns_add_text(columns, heads[i]);
	for (i = 0; i < n; i++) {
		if (!kmt_mark_list_has(
			    report,
			    kmt_input_marks_get(report->phases->marks, i)))
			continue;
		if (report->max_lines && shown == report->max_lines) {
			rest++;
			continue;
		}
		print_line(report, columns, i);
		shown++;
	}
	return rest;
}

static gboolean has_marks(const KmtReport *report)
{
	guint n = kmt_input_marks_count(report->phases->marks), i;

	for (i = 0; i < n; i++)
		if (kmt_mark_list_has(
			    report,
			    kmt_input_marks_get(report->phases->marks, i)))
			return TRUE;
	return FALSE;
}

void kmt_text_mark_list(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtColumns) columns = kmt_columns_new("rrrllll", FALSE);
	guint rest = 0;

	kmt_text_print_title(out, "MARKS");
	if (!has_marks(report)) {
		fputs("none\n", out);
		return;
	}
	while (kmt_columns_next_pass(columns, out))
		rest = fill_marks(report, columns);
	if (rest)
		fprintf(out, "(%u more marks)\n", rest);
}

/*
 * Set *magnitude to the absolute value of an integer. Return whether the
 * integer is negative.
 */
static gboolean integer_of(const KmtInputMarkValue *value, guint64 *magnitude)
{
	guint bits = g_ascii_tolower(value->type) == 'b'   ? 8
		     : g_ascii_tolower(value->type) == 'h' ? 16
		     : g_ascii_tolower(value->type) == 'i' ? 32
							   : 64;
	guint64 word = value->word << (64 - bits);
	gboolean is_signed = g_ascii_islower(value->type);

	if (is_signed && (gint64)word < 0) {
		*magnitude = -(guint64)((gint64)word >> (64 - bits));
		return TRUE;
	}
	*magnitude = word >> (64 - bits);
	return FALSE;
}

static void add_value(KmtJson *json, const KmtInputMarkValue *value)
{
	g_autofree char *text = NULL;
	guint64 magnitude;
	gboolean negative;

	switch (value->type) {
	case 's':
		text = g_strndup((const char *)value->bytes,
				 (gsize)value->word);
		kmt_json_text(json, NULL, text);
		break;
	case 'p':
		kmt_json_hex(json, NULL, value->word, 16);
		break;
	case 'c':
		kmt_json_u64(json, NULL, (guint8)value->word);
		break;
	default:
		negative = integer_of(value, &magnitude);
		kmt_json_integer(json, NULL, negative, magnitude);
	}
}

static void add_values(KmtJson *json, const KmtPhases *phases,
		       const KmtInputMark *mark)
{
	KmtInputMarkValue value;
	guint i;

	kmt_json_begin_array(json, "values");
	for (i = 0; mark->whole &&
		    kmt_input_mark_value(phases->marks, mark, i, &value);
	     i++)
		add_value(json, &value);
	kmt_json_end_array(json);
}

static void add_mark(KmtJson *json, const KmtReport *report, guint i)
{
	const KmtInputMark *mark =
		kmt_input_marks_get(report->phases->marks, i);
	g_autofree char *name = kmt_input_mark_name(mark);
	g_autofree char *label = kmt_phases_label(report->phases, i + 1);
	g_autofree char *text = kmt_phases_text(report->phases, i);

	kmt_json_begin_object(json, NULL);
	kmt_json_i64(json, "timestamp", mark->time);
	kmt_json_u64(json, "cpu", kmt_mark_list_cpu(report, mark));
	kmt_json_u64(json, "pid", mark->pid);
	kmt_json_text(json, "comm", kmt_mark_list_comm(report, mark));
	kmt_json_text(json, "context", context_of(mark));
	kmt_json_u64(json, "number", mark->number);
	kmt_json_text(json, "name", name);
	kmt_json_text(json, "module",
		      mark->kind && *mark->kind->module ? mark->kind->module
							: NULL);
	kmt_json_text(json, "phase", label);
	kmt_json_text(json, "text", text);
	kmt_json_flag(json, "whole", mark->whole);
	add_values(json, report->phases, mark);
	kmt_json_end_object(json);
}

void kmt_json_marks(KmtJson *json, const KmtReport *report)
{
	guint n = kmt_input_marks_count(report->phases->marks), shown = 0, i;

	kmt_json_begin_array(json, "marks");
	for (i = 0; i < n; i++) {
		if (!kmt_mark_list_has(
			    report,
			    kmt_input_marks_get(report->phases->marks, i)))
			continue;
		if (report->max_lines && shown++ == report->max_lines)
			break;
		add_mark(json, report, i);
	}
	kmt_json_end_array(json);
}
