// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the properties of the capture and the defects that affect its figures.
 */
#include "config.h"

#include <stdarg.h>
#include <string.h>

#include "lib/base/printable.h"
#include "report/columns.h"
#include "report/report-text.h"

#define LABEL_WIDTH 15
#define BAR_WIDTH   20

/* Print the label of a line about a defect. */
static void print_label(FILE *out, const char *label)
{
	kmt_color_puts(out, KMT_COLOR_WARNING, label);
	fprintf(out, "%*s", LABEL_WIDTH - (int)strlen(label), "");
}

/* Print a line about a defect. */
static void print_defect(FILE *out, const char *label, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

static void print_defect(FILE *out, const char *label, const char *format, ...)
{
	va_list args;

	print_label(out, label);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
}

static void print_loss_per_cpu(const KmtReport *report, FILE *out)
{
	const GPtrArray *files = report->capture->files;
	guint i;

	for (i = 0; i < files->len; i++) {
		const KmtInputCpuFile *file = g_ptr_array_index(files, i);

		if (!file->has_overruns || !file->overruns)
			continue;
		fprintf(out, "               cpu%u: ", file->cpu);
		kmt_text_print_number(report, out, file->overruns);
		fputc('\n', out);
	}
}

static void print_events_lost(const KmtReport *report, FILE *out, guint64 n)
{
	fputs(kmt_color_begin(out, KMT_COLOR_ERROR), out);
	kmt_text_print_number(report, out, n);
	fprintf(out, " EVENTS WERE LOST%s", kmt_color_end(out));
}

/*
 * Print the losses within --time. Losses outside of this time are omitted, even
 * if a figure depends on an earlier loss.
 */
static void print_lost_in_time(const KmtReport *report, FILE *out)
{
	guint64 n = report->lost.within;

	if (n)
		print_events_lost(report, out, n);
	else
		kmt_text_print_number(report, out, n);
	fputs(" in this time\n", out);
}

static void print_lost(const KmtReport *report, FILE *out)
{
	g_autofree char *advice = kmt_report_loss_advice(report->capture);
	KmtInterval time;

	if (kmt_report_time_range(report, &time) && report->lost.is_known) {
		print_lost_in_time(report, out);
	} else {
		print_events_lost(report, out, report->capture->overruns);
		fputc('\n', out);
		print_loss_per_cpu(report, out);
	}
	fprintf(out,
		"               %s: live and peak bytes may be too high or\n"
		"               too low, and findings \"after loss\" may be "
		"due to the loss.\n",
		report->lost.within ? "No figure below is complete"
				    : "The time before START is not complete");
	fprintf(out, "               %c%s.\n", g_ascii_toupper(advice[0]),
		advice + 1);
}

/* Return whether a file with or without frames could not be read completely. */
static gboolean has_defect(const KmtInputCapture *capture, gboolean frames)
{
	guint i;

	for (i = 0; i < capture->files->len; i++) {
		const KmtInputCpuFile *file = capture->files->pdata[i];

		if (file->defect && (file->frames != NULL) == frames)
			return TRUE;
	}
	return FALSE;
}

static void print_files(const KmtReport *report, FILE *out)
{
	const KmtInputCapture *capture = report->capture;

	if (capture->missing_files)
		print_defect(out, "Files:",
			     "%u MISSING: kmemtrace.meta lists CPUs "
			     "without a file here.\n",
			     capture->missing_files);
	if (capture->unlisted_files)
		print_defect(out, "Files:",
			     "%u of ANOTHER CAPTURE: kmemtrace.meta "
			     "does not list their CPUs.\n",
			     capture->unlisted_files);
	if (has_defect(capture, TRUE))
		print_defect(out, "Files:",
			     "at least one has DAMAGED PARTS: their records "
			     "are missing.\n");
	if (has_defect(capture, FALSE))
		print_defect(out, "Files:",
			     "at least one could NOT be read to its "
			     "END: its later records are missing.\n");
	if (capture->shortened)
		print_defect(
			out, "Files:",
			"at least one is SHORTER than in "
			"kmemtrace.meta: kmemtrace-check names the file.\n");
	else if (kmt_report_wrong_sizes(capture))
		print_defect(
			out, "Files:",
			"at least one is LONGER than in "
			"kmemtrace.meta: kmemtrace-check names the file.\n");
}

static void print_beginning(const KmtInputCapture *capture, FILE *out)
{
	g_autofree char *why = kmt_input_capture_snapshot(capture);

	if (why) {
		g_autofree char *text = kmt_printable(why);

		print_defect(out, "Snapshot:",
			     "taken for '%s'; events overwritten in "
			     "its buffers are MISSING.\n",
			     text);
	} else if (capture->continues) {
		print_defect(out, "Beginning:",
			     "MISSING: an earlier reader consumed the "
			     "first part of this trace.\n");
	}
}

static void print_loss(const KmtReport *report, FILE *out)
{
	fputs("Events lost:   ", out);
	switch (kmt_report_loss_state(report)) {
	case KMT_LOSS_NONE:
		if (kmt_report_lost_later_only(report))
			print_lost_in_time(report, out);
		else
			fputs("0\n", out);
		break;
	case KMT_LOSS_EVENTS:
		print_lost(report, out);
		break;
	case KMT_LOSS_CUT:
		kmt_color_puts(out, KMT_COLOR_ERROR,
			       "UNKNOWN: THE CAPTURE WAS CUT OFF");
		fputs(" before its end.\n"
		      "               The last events of some CPUs may be "
		      "missing.\n",
		      out);
		break;
	case KMT_LOSS_INCOMPLETE:
		kmt_color_puts(out, KMT_COLOR_ERROR,
			       "UNKNOWN: ONLY A PART OF THE EVENTS WAS "
			       "RECORDED.");
		fputc('\n', out);
		break;
	case KMT_LOSS_UNCOUNTED:
		kmt_color_puts(out, KMT_COLOR_ERROR,
			       "SOME, IN UNKNOWN NUMBER.");
		fputc('\n', out);
		break;
	case KMT_LOSS_NOT_REPORTED:
		fputs("unknown (the recorder does not report losses); assumed "
		      "0\n",
		      out);
		break;
	case KMT_LOSS_UNKNOWN:
		fputs("unknown (no count in kmemtrace.meta); assumed 0\n", out);
		break;
	}
	print_files(report, out);
	print_beginning(report->capture, out);
}

/*
 * Print the title, the lines of a list, and their consequence. A list that is
 * NULL prints nothing.
 */
static void print_list(char *const *list, const char *title,
		       const char *consequence, FILE *out)
{
	guint i;

	for (i = 0; list && list[i]; i++) {
		g_autofree char *text = kmt_printable(list[i]);

		print_label(out, i ? "" : title);
		fprintf(out, "%s\n", text);
	}
	if (list)
		fputs(consequence, out);
}

/* Print that memory from before the recording is not in the figures. */
static void print_memory_before(const KmtReport *report, FILE *out)
{
	guint64 bytes;

	if (!kmt_input_capture_meta_number(report->capture, "slab_at_start",
					   &bytes))
		return;
	fputs("Before:        ", out);
	kmt_text_print_number(report, out, bytes);
	fputs(" bytes of slab were in use at the start. No figure has memory\n"
	      "               from before the recording.\n",
	      out);
}

/*
 * Print what was not recorded, and the allocations and frees that the source
 * cannot record, because a free that is not recorded looks like a leak.
 */
static void print_unrecorded(const KmtInputCapture *capture, FILE *out)
{
	g_auto(GStrv) incomplete = kmt_input_capture_incomplete(capture);
	g_auto(GStrv) not_seen = kmt_input_capture_not_seen(capture);

	print_list(incomplete, "Incomplete:",
		   "               No figure below is complete. Frees are "
		   "missing: live objects\n"
		   "               may have been freed unrecorded.\n",
		   out);
	print_list(not_seen, "Not seen:",
		   "               All of this is missing: live objects may "
		   "have been freed\n"
		   "               unrecorded.\n",
		   out);
}

/* Print the switches, filter and sampling that limited the recorded events. */
static void print_recording_limits(const KmtInputCapture *capture, FILE *out)
{
	g_auto(GStrv) off = kmt_input_capture_events_off(capture);
	gboolean changed;
	g_autofree char *filter = kmt_input_capture_filter(capture, &changed);
	g_autofree char *text = filter ? kmt_printable(filter) : NULL;

	if (off) {
		g_autofree char *list = g_strjoinv(", ", off);
		g_autofree char *names = kmt_printable(list);

		print_defect(out, "Switched off:",
			     "%s, at least at times\n"
			     "               Live objects may have been freed "
			     "unrecorded.\n",
			     names);
	}
	if (text)
		fprintf(out,
			"Filter:        %s%s: no other allocation is "
			"recorded\n%s",
			text, changed ? " (CHANGED DURING THE TRACE)" : "",
			capture->filtered ? "               The frees of other "
					    "memory are recorded, too.\n"
					  : "");
	if (capture->sample > 1)
		print_defect(out, "Sample:",
			     "ONE OF %" G_GUINT64_FORMAT
			     " allocations was recorded; figures marked * are "
			     "scaled estimates\n",
			     capture->sample);
}

static void print_source(const KmtInputCapture *capture, FILE *out)
{
	g_autofree char *source = kmt_report_meta_value(capture, "source");

	if (source && !g_str_equal(source, "relay"))
		fprintf(out, "Source:        %s\n", source);
}

/* Ten lines suffice to locate the losses; JSON lists all losses. */
#define MAX_GAP_LINES 10

static void print_gaps(const KmtReport *report, FILE *out)
{
	g_autoptr(GArray) gaps = kmt_report_gaps(report);
	guint i;

	for (i = 0; gaps && i < MIN(gaps->len, MAX_GAP_LINES); i++) {
		const KmtMatchGap *gap = &g_array_index(gaps, KmtMatchGap, i);
		const KmtInputCpuFile *file =
			report->capture->files->pdata[gap->file];
		g_autofree char *from =
			kmt_report_format_moment(report, gap->since, FALSE);
		g_autofree char *until =
			kmt_report_format_moment(report, gap->until, FALSE);

		fprintf(out, "%-15scpu%u from %s s to %s s: ", i ? "" : "Lost:",
			file->cpu, from, until);
		if (gap->events)
			kmt_text_print_number(report, out, gap->events);
		else
			fputs("an unknown number of", out);
		fputs(" events\n", out);
	}
	if (gaps && gaps->len > MAX_GAP_LINES)
		fprintf(out, "               and %u more: use --json\n",
			gaps->len - MAX_GAP_LINES);
}

static void print_intervals(const KmtReport *report, FILE *out)
{
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;
	char share[G_ASCII_DTOSTR_BUF_SIZE];
	double blind = kmt_report_lossy_fraction(report);
	g_autofree char *bar = kmt_bar_new(report->bars, blind, BAR_WIDTH);

	if (!n)
		return;
	print_gaps(report, out);
	if (report->capture->has_sequence_times || blind >= 1) {
		print_defect(out, "Not exact:", "all of it\n");
		return;
	}
	for (i = 0; i < n; i++) {
		g_autofree char *from = kmt_report_format_moment(
			report, intervals[i].from, FALSE);
		g_autofree char *until = kmt_report_format_moment(
			report, intervals[i].until, FALSE);

		print_defect(out, "Not exact:", "from %s s to %s s\n", from,
			     until);
	}
	g_ascii_formatd(share, sizeof(share), "%.1f", 100 * blind);
	fprintf(out, "Blind:         %s%s %%%s of the time%s%s\n",
		kmt_color_begin(out, KMT_COLOR_SHARE), share,
		kmt_color_end(out), *bar ? "  " : "", bar);
}

static void print_machine(const KmtInputCapture *capture, FILE *out)
{
	g_autofree char *release =
		kmt_report_meta_value(capture, "kernel_release");
	g_autofree char *machine = kmt_report_meta_value(capture, "machine");

	fprintf(out, ", %s endian", kmt_input_capture_byte_order(capture));
	if (capture->layout != KMT_INPUT_LAYOUT_B)
		fprintf(out, ", layout %s",
			kmt_input_layout_name(capture->layout));
	if (release)
		fprintf(out, ", Linux %s", release);
	if (machine)
		fprintf(out, " (%s)", machine);
	fputc('\n', out);
}

/*
 * Print the number of events and their time. Only this line of the text report
 * has a kernel clock time.
 */
static void print_events(const KmtReport *report, FILE *out)
{
	const KmtAggregate *a = report->aggregate;
	gboolean is_short = kmt_report_lasts_a_second(report);
	g_autofree char *seconds = kmt_format_elapsed(
		(guint64)a->last_timestamp - (guint64)a->first_timestamp,
		is_short);
	g_autofree char *first =
		kmt_format_seconds(kmt_report_origin(report), is_short);

	fputs("Events:        ", out);
	kmt_text_print_number(report, out,
			      report->capture->n_records - a->gap_records -
				      a->stop_records - a->mark_records);
	if (report->capture->has_sequence_times)
		fputs(", in sequence: the records have no time\n", out);
	else if (!report->capture->n_records)
		fputc('\n', out);
	else
		fprintf(out,
			" in %s s; the first at %s s of the kernel's clock\n",
			seconds, first);
}

static void print_saved(const KmtInputCapture *capture, FILE *out)
{
	if (capture->complete)
		fputs("Saved:         completely\n", out);
	else
		print_defect(out, "Saved:", "%s\n",
			     capture->imported
				     ? "in PART: the imported file is damaged"
				     : "NOT completely");
}

void kmt_text_capture(const KmtReport *report, FILE *out)
{
	const KmtInputCapture *capture = report->capture;
	const KmtAggregate *aggregate = report->aggregate;
	g_autofree char *directory = kmt_printable(
		capture->directory ? capture->directory : "(single files)");
	guint n_cpus = capture->files->len;

	fprintf(out, "Capture:       %s\n", directory);
	fprintf(out, "Traced:        %u CPU%s", n_cpus, n_cpus == 1 ? "" : "s");
	print_machine(capture, out);
	print_source(capture, out);
	print_events(report, out);
	if (capture->meta)
		print_saved(capture, out);
	print_loss(report, out);
	print_memory_before(report, out);
	print_unrecorded(capture, out);
	print_recording_limits(capture, out);
	print_intervals(report, out);
	if (aggregate->overflowed)
		print_defect(out, "Sums:",
			     "WRONG: some are above 2^64 - 1; records "
			     "are damaged (see kmemtrace-check), or sample= in "
			     "kmemtrace.meta is.\n");
}
