// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/base/printable.h"
#include "lib/cli/json-writer.h"
#include "report/mark-list.h"
#include "report/report-perfetto.h"

/* Limits of the size of the file. If there are more losses, those that are
 * close together are joined. */
#define MAX_MARKS      10000
#define MAX_LOSSES     10000
#define MAX_TEXT_BYTES 256

/* All tracks belong to one process. Thread 0 would be the idle task. */
#define PROCESS 1
enum {
	TRACK_MARKS = 1,
	TRACK_NOT_EXACT,
	TRACK_FIRST_CPU, /* the losses of the first CPU file */
};

/* Copy at most MAX_TEXT_BYTES bytes of @text, without control characters. The
 * caller frees the string. */
static char *short_text(const char *text)
{
	g_autofree char *start = g_strndup(text, MAX_TEXT_BYTES);
	g_autofree char *printable = kmt_printable(start);

	return g_strconcat(printable,
			   strlen(text) > MAX_TEXT_BYTES ? "..." : "", NULL);
}

/* Begin an event of type @phase at @ns from the first record. */
static void begin_event(KmtJson *json, const char *phase, const char *name,
			gint64 ns)
{
	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "ph", phase);
	kmt_json_text(json, "name", name);
	kmt_json_u64(json, "pid", PROCESS);
	/* The format has microseconds. */
	kmt_json_double(json, "ts", (double)ns / 1000);
}

/* Name a track of a thread, or the process if @thread is 0. */
static void name_track(KmtJson *json, guint thread, const char *name)
{
	begin_event(json, "M", thread ? "thread_name" : "process_name", 0);
	if (thread)
		kmt_json_u64(json, "tid", thread);
	kmt_json_begin_object(json, "args");
	kmt_json_text(json, "name", name);
	kmt_json_end_object(json);
	kmt_json_end_object(json);
}

/* Return a kernel clock time as ns from the first record. */
static gint64 moment_of(const KmtReport *report, gint64 time)
{
	gint64 origin = kmt_report_origin(report), moment;

	if (__builtin_sub_overflow(time, origin, &moment))
		return time < origin ? G_MININT64 : G_MAXINT64;
	return moment;
}

/* ---- live bytes ---- */

static void add_counter(KmtJson *json, KmtKind kind, gint64 ns, guint64 bytes)
{
	g_autofree char *name = g_strdup_printf("live %s", kmt_kind_name(kind));

	begin_event(json, "C", name, ns);
	kmt_json_begin_object(json, "args");
	kmt_json_u64(json, "bytes", bytes);
	kmt_json_end_object(json);
	kmt_json_end_object(json);
}

static gint64 end_of(const KmtReport *report, guint window)
{
	const KmtAggregate *a = report->aggregate;
	KmtInterval time;

	if (window + 1 < a->n_windows)
		return (gint64)a->windows[window + 1].start;
	kmt_report_time_range(report, &time);
	return MAX(moment_of(report, time.until),
		   (gint64)a->windows[window].start);
}

/*
 * Add the live bytes of a kind at the end of each window, and before that its
 * peak in the window. A window in which nothing changed adds nothing.
 */
static void add_live_bytes(KmtJson *json, const KmtReport *report, KmtKind kind)
{
	const KmtAggregate *a = report->aggregate;
	guint64 shown = 0;
	guint i;

	for (i = 0; i < a->n_windows; i++) {
		const KmtTotals *t = &a->windows[i].kinds[kind];
		gint64 end = end_of(report, i);

		if (a->has_peaks && t->peak_bytes_alloc > t->live_bytes_alloc &&
		    t->peak_bytes_alloc > shown)
			add_counter(json, kind,
				    CLAMP(moment_of(report, t->peak_timestamp),
					  (gint64)a->windows[i].start, end),
				    t->peak_bytes_alloc);
		else if (t->live_bytes_alloc == shown && i > 0 &&
			 i + 1 < a->n_windows)
			continue;
		add_counter(json, kind, end, t->live_bytes_alloc);
		shown = t->live_bytes_alloc;
	}
}

/* ---- marks ---- */

static void add_mark(KmtJson *json, const KmtReport *report, guint i)
{
	const KmtInputMark *mark =
		kmt_input_marks_get(report->phases->marks, i);
	const char *comm = kmt_mark_list_comm(report, mark);
	g_autofree char *label = kmt_phases_label(report->phases, i + 1);
	g_autofree char *text = kmt_phases_text(report->phases, i);
	g_autofree char *name = short_text(label);
	g_autofree char *short_one = short_text(text);
	g_autofree char *task = short_text(comm ? comm : "?");

	begin_event(json, "i", name, moment_of(report, mark->time));
	kmt_json_u64(json, "tid", TRACK_MARKS);
	kmt_json_text(json, "s", "t");
	kmt_json_begin_object(json, "args");
	kmt_json_text(json, "text", short_one);
	kmt_json_u64(json, "cpu", kmt_mark_list_cpu(report, mark));
	kmt_json_u64(json, "pid", mark->pid);
	kmt_json_text(json, "comm", task);
	kmt_json_end_object(json);
	kmt_json_end_object(json);
}

/* Add the marks. Return the number of marks that are left out. */
static guint add_marks(KmtJson *json, const KmtReport *report)
{
	guint n = kmt_input_marks_count(report->phases->marks), shown = 0,
	      left_out = 0, i;

	for (i = 0; i < n; i++) {
		if (!kmt_mark_list_has(
			    report,
			    kmt_input_marks_get(report->phases->marks, i)))
			continue;
		if (shown == MAX_MARKS) {
			left_out++;
			continue;
		}
		if (!shown++)
			name_track(json, TRACK_MARKS, "marks");
		add_mark(json, report, i);
	}
	return left_out;
}

/* ---- losses ---- */

/* Begin an event that lasts from one kernel clock time to another. */
static void begin_slice(KmtJson *json, const KmtReport *report,
			const char *name, guint thread, KmtInterval time)
{
	gint64 from = moment_of(report, time.from);
	gint64 until = moment_of(report, time.until);

	begin_event(json, "X", name, from);
	kmt_json_u64(json, "tid", thread);
	kmt_json_double(json, "dur", ((double)until - (double)from) / 1000);
}

/* Return whether a loss begins at most @resolution ns after @until. */
static gboolean is_close(const KmtMatchGap *gap, gint64 until,
			 guint64 resolution)
{
	return gap->since <= until ||
	       (guint64)gap->since - (guint64)until < resolution;
}

/*
 * Add the losses of one CPU file from index @i of @gaps on. Join losses that
 * are close together. Return the index after the losses of the file.
 */
static guint add_losses_of_file(KmtJson *json, const KmtReport *report,
				const GArray *gaps, guint i, guint64 resolution)
{
	const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);
	const guint file = gap->file;

	while (i < gaps->len && gap->file == file) {
		KmtInterval time = {gap->since, gap->until};
		guint64 events = 0;
		gboolean is_known = TRUE;

		do {
			time.until = MAX(time.until, gap->until);
			is_known &= gap->events > 0;
			events += gap->events;
			gap = &g_array_index(gaps, KmtMatchGap, ++i);
		} while (i < gaps->len && gap->file == file &&
			 is_close(gap, time.until, resolution));
		begin_slice(json, report, "events lost", TRACK_FIRST_CPU + file,
			    time);
		kmt_json_begin_object(json, "args");
		kmt_json_known_u64(json, "events", is_known, events);
		kmt_json_end_object(json);
		kmt_json_end_object(json);
	}
	return i;
}

/* Return the resolution of losses, in ns, that keeps their number near
 * MAX_LOSSES; 0 if all losses fit. */
static guint64 loss_resolution(const KmtReport *report, const GArray *gaps)
{
	guint files = MAX(report->capture->files->len, 1);

	if (!gaps || gaps->len <= MAX_LOSSES)
		return 0;
	return report->aggregate->span_ns / MAX(MAX_LOSSES / files, 1);
}

/* Add the losses of each CPU. */
static void add_losses(KmtJson *json, const KmtReport *report,
		       const GArray *gaps)
{
	guint64 resolution = loss_resolution(report, gaps);
	guint i = 0;

	while (gaps && i < gaps->len) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);
		const KmtInputCpuFile *file =
			report->capture->files->pdata[gap->file];
		g_autofree char *name =
			g_strdup_printf("lost events of CPU %u", file->cpu);

		name_track(json, TRACK_FIRST_CPU + gap->file, name);
		i = add_losses_of_file(json, report, gaps, i, resolution);
	}
}

/* Add the times in which figures may not be exact. */
static void add_not_exact(KmtJson *json, const KmtReport *report)
{
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;

	for (i = 0; i < n; i++) {
		if (i == 0)
			name_track(json, TRACK_NOT_EXACT, "not exact");
		begin_slice(json, report, "events may be missing",
			    TRACK_NOT_EXACT, intervals[i]);
		kmt_json_end_object(json);
	}
}

static void add_other_data(KmtJson *json, const KmtReport *report,
			   guint marks_left_out, guint64 resolution)
{
	g_autofree char *release =
		kmt_report_meta_value(report->capture, "kernel_release");
	g_autofree char *short_release = release ? short_text(release) : NULL;

	kmt_json_begin_object(json, "otherData");
	kmt_json_text(json, "format", "kmemtrace-report");
	kmt_json_text(json, "kernel_release", short_release);
	kmt_json_i64(json, "first_timestamp", kmt_report_origin(report));
	kmt_json_u64(json, "windows", report->aggregate->n_windows);
	kmt_json_u64(json, "marks_left_out", marks_left_out);
	kmt_json_u64(json, "losses_joined_within", resolution);
	kmt_json_text(json, "loss",
		      kmt_loss_name(kmt_report_loss_state(report)));
	kmt_json_end_object(json);
}

void kmt_report_perfetto(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtJson) json = kmt_json_new(out, 0);
	g_autoptr(GArray) gaps = kmt_report_gaps(report);
	guint marks_left_out, kind;

	kmt_json_begin_object(json, NULL);
	kmt_json_text(json, "displayTimeUnit", "ns");
	kmt_json_begin_array(json, "traceEvents");
	name_track(json, 0, "kernel memory");
	for (kind = 0; kind < KMT_KIND_SLAB; kind++)
		if (kmt_report_can_have_kind(report, (KmtKind)kind))
			add_live_bytes(json, report, (KmtKind)kind);
	marks_left_out = add_marks(json, report);
	add_losses(json, report, gaps);
	add_not_exact(json, report);
	kmt_json_end_array(json);
	add_other_data(json, report, marks_left_out,
		       loss_resolution(report, gaps));
	kmt_json_end_object(json);
}
