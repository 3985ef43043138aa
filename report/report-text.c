// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/printable.h"
#include "report/columns.h"
#include "report/report.h"
#include "report/report-text.h"

static const KmtKind summary_kinds[] = {
	KMT_KIND_KMALLOC, KMT_KIND_CACHE,  KMT_KIND_SLAB,
	KMT_KIND_PAGES,	  KMT_KIND_PERCPU, KMT_KIND_VMALLOC,
};

/* What only version 2 has is left out where there is none. */
static gboolean is_summed(const KmtReport *report, KmtKind kind)
{
	const KmtTotals *t = &report->aggregate->kinds[kind];

	return (kind != KMT_KIND_PERCPU && kind != KMT_KIND_VMALLOC) ||
	       t->allocs || t->frees || t->live_objects || t->peak_bytes_alloc;
}

static void print_number(const KmtReport *report, FILE *out, guint64 number)
{
	g_autofree char *text = kmt_format_number(number, report->separators);

	fputs(text, out);
}

/* The capture. */

static void print_loss_per_cpu(const KmtReport *report, FILE *out)
{
	const GPtrArray *files = report->capture->files;
	guint i;

	for (i = 0; i < files->len; i++) {
		const KmtInputCpuFile *file = g_ptr_array_index(files, i);

		if (!file->has_overruns || !file->overruns)
			continue;
		fprintf(out, "               cpu%u: ", file->cpu);
		print_number(report, out, file->overruns);
		fputc('\n', out);
	}
}

/*
 * The losses in a part of the time.  Those of other times are not printed, even
 * where a figure depends on an earlier one.
 */
static void print_lost_in_time(const KmtReport *report, FILE *out)
{
	guint64 n = report->lost.within;

	print_number(report, out, n);
	fputs(n ? " EVENTS WERE LOST in this time\n" : " in this time\n", out);
}

static void print_lost(const KmtReport *report, FILE *out)
{
	g_autofree char *room = kmt_report_more_room(report->capture);
	KmtInterval time;

	if (kmt_report_time(report, &time) && report->lost.is_known) {
		print_lost_in_time(report, out);
	} else {
		print_number(report, out, report->capture->overruns);
		fputs(" EVENTS WERE LOST\n", out);
		print_loss_per_cpu(report, out);
	}
	fprintf(out,
		"               %s: live and peak bytes may be too high or\n"
		"               too low, and what is \"after loss\" may be due "
		"to it.\n",
		report->lost.within ? "No figure below is complete"
				    : "What was before is not complete");
	fprintf(out, "               Trace again with %s.\n", room);
}

static void print_files(const KmtReport *report, FILE *out)
{
	const KmtInputCapture *capture = report->capture;

	if (capture->missing_files)
		fprintf(out,
			"Files:         %u MISSING: kmemtrace.meta knows CPUs "
			"whose records are not here.\n",
			capture->missing_files);
	if (capture->damaged)
		fputs("Files:         at least one could NOT be read to its "
		      "END: what came after is missing.\n",
		      out);
	if (capture->shortened)
		fputs("Files:         at least one is SHORTER than "
		      "kmemtrace.meta says: kmemtrace-check tells which.\n",
		      out);
	else if (kmt_report_wrong_sizes(capture))
		fputs("Files:         at least one is LONGER than "
		      "kmemtrace.meta says: kmemtrace-check tells which.\n",
		      out);
}

static void print_beginning(const KmtInputCapture *capture, FILE *out)
{
	g_autofree char *why = kmt_input_capture_snapshot(capture);

	if (why) {
		g_autofree char *text = kmt_printable(why);

		fprintf(out,
			"Snapshot:      taken for '%s'; what its buffers no "
			"longer had is MISSING.\n",
			text);
	} else if (capture->continues) {
		fputs("Beginning:     MISSING: an earlier reader took the "
		      "first part of this trace.\n",
		      out);
	}
}

static void print_loss(const KmtReport *report, FILE *out)
{
	fputs("Events lost:   ", out);
	switch (kmt_report_loss(report)) {
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
		fputs("UNKNOWN: THE CAPTURE WAS CUT OFF before its end.\n"
		      "               What its CPUs did last may be missing "
		      "for "
		      "some of them.\n",
		      out);
		break;
	case KMT_LOSS_INCOMPLETE:
		fputs("UNKNOWN: ONLY A PART OF THE EVENTS WAS RECORDED.\n",
		      out);
		break;
	case KMT_LOSS_UNCOUNTED:
		fputs("SOME, AND NOBODY KNOWS HOW MANY.\n", out);
		break;
	case KMT_LOSS_NOT_REPORTED:
		fputs("unknown (the recorder does not report it); taken as "
		      "0\n",
		      out);
		break;
	case KMT_LOSS_UNKNOWN:
		fputs("unknown (no kmemtrace.meta tells); taken as 0\n", out);
		break;
	}
	print_files(report, out);
	print_beginning(report->capture, out);
}

static void print_incomplete(const KmtInputCapture *capture, FILE *out)
{
	g_auto(GStrv) list = kmt_input_capture_incomplete(capture);
	guint i;

	for (i = 0; list && list[i]; i++) {
		g_autofree char *text = kmt_printable(list[i]);

		fprintf(out, "%-15s%s\n", i ? "" : "Incomplete:", text);
	}
	if (list)
		fputs("               No figure below is complete. Frees are "
		      "missing: live objects\n"
		      "               may have been freed unrecorded.\n",
		      out);
}

/* So that nobody takes a gap for a leak. */
static void print_not_seen(const KmtInputCapture *capture, FILE *out)
{
	g_auto(GStrv) list = kmt_input_capture_not_seen(capture);
	guint i;

	for (i = 0; list && list[i]; i++) {
		g_autofree char *text = kmt_printable(list[i]);

		fprintf(out, "%-15s%s\n", i ? "" : "Not seen:", text);
	}
	if (list)
		fputs("               What was allocated or freed so is "
		      "missing: "
		      "live objects may be\n"
		      "               such as were freed unseen.\n",
		      out);
}

/* What nobody wanted to be recorded. */
static void print_choice(const KmtInputCapture *capture, FILE *out)
{
	g_auto(GStrv) off = kmt_input_capture_events_off(capture);
	gboolean changed;
	g_autofree char *filter = kmt_input_capture_filter(capture, &changed);
	g_autofree char *text = filter ? kmt_printable(filter) : NULL;

	if (off) {
		g_autofree char *list = g_strjoinv(", ", off);
		g_autofree char *names = kmt_printable(list);

		fprintf(out,
			"Switched off:  %s, at least at times\n"
			"               What is live may have been freed "
			"unseen.\n",
			names);
	}
	if (text)
		fprintf(out,
			"Filter:        %s%s: nothing else that was allocated "
			"is recorded\n",
			text, changed ? " (ANOTHER ONE AT TIMES)" : "");
	if (capture->sample > 1)
		fprintf(out,
			"Sample:        ONE OF %" G_GUINT64_FORMAT
			" allocations was recorded; what is marked * is "
			"scaled, an estimate\n",
			capture->sample);
}

static void print_source(const KmtInputCapture *capture, FILE *out)
{
	g_autofree char *source = kmt_report_meta(capture, "source");

	if (source && !g_str_equal(source, "relay"))
		fprintf(out, "Source:        %s\n", source);
}

/* Some are enough to see where to look. */
#define MAX_HOLE_LINES 10

static void print_holes(const KmtReport *report, FILE *out)
{
	g_autoptr(GArray) gaps = kmt_report_gaps(report);
	guint i;

	for (i = 0; gaps && i < MIN(gaps->len, MAX_HOLE_LINES); i++) {
		const KmtMatchGap *h = &g_array_index(gaps, KmtMatchGap, i);
		const KmtInputCpuFile *file =
			report->capture->files->pdata[h->file];
		g_autofree char *from =
			kmt_report_moment(report, h->since, FALSE);
		g_autofree char *until =
			kmt_report_moment(report, h->until, FALSE);

		fprintf(out, "%-15scpu%u from %s s to %s s: ", i ? "" : "Lost:",
			file->cpu, from, until);
		if (h->events)
			print_number(report, out, h->events);
		else
			fputs("an unknown number of", out);
		fputs(" events\n", out);
	}
	if (gaps && gaps->len > MAX_HOLE_LINES)
		fprintf(out, "               and %u more: --json has them\n",
			gaps->len - MAX_HOLE_LINES);
}

static void print_intervals(const KmtReport *report, FILE *out)
{
	KmtInterval intervals[KMT_MAX_INTERVALS];
	guint n = kmt_report_intervals(report, intervals), i;
	char share[G_ASCII_DTOSTR_BUF_SIZE];
	double blind = kmt_report_blind(report);

	if (!n)
		return;
	print_holes(report, out);
	if (report->capture->has_sequence_times || blind >= 1) {
		fputs("Not exact:     all of it\n", out);
		return;
	}
	for (i = 0; i < n; i++) {
		g_autofree char *from =
			kmt_report_moment(report, intervals[i].from, FALSE);
		g_autofree char *until =
			kmt_report_moment(report, intervals[i].until, FALSE);

		fprintf(out, "Not exact:     from %s s to %s s\n", from, until);
	}
	g_ascii_formatd(share, sizeof(share), "%.1f", 100 * blind);
	fprintf(out, "Blind:         %s %% of the time\n", share);
}

static void print_machine(const KmtInputCapture *capture, FILE *out)
{
	g_autofree char *release = kmt_report_meta(capture, "kernel_release");
	g_autofree char *machine = kmt_report_meta(capture, "machine");

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

/* The one place where text has the kernel's clock. */
static void print_events(const KmtReport *report, FILE *out)
{
	const KmtAggregate *a = report->aggregate;
	gboolean is_short = kmt_report_is_long(report);
	g_autofree char *seconds = kmt_format_length(
		(guint64)a->last_timestamp - (guint64)a->first_timestamp,
		is_short);
	g_autofree char *first =
		kmt_format_seconds(kmt_report_origin(report), is_short);

	fputs("Events:        ", out);
	print_number(report, out,
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

static void print_capture(const KmtReport *report, FILE *out)
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
		fprintf(out, "Saved:         %s\n",
			capture->complete   ? "to its end"
			: capture->imported ? "in PART: the imported file is "
					      "damaged"
					    : "NOT to its end");
	print_loss(report, out);
	print_incomplete(capture, out);
	print_not_seen(capture, out);
	print_choice(capture, out);
	print_intervals(report, out);
	if (aggregate->overflowed)
		fputs("Sums:          WRONG: some are above 2^64 - 1; records "
		      "are damaged (see kmemtrace-check), or sample= in "
		      "kmemtrace.meta is.\n",
		      out);
}

/* The summary: a line for each figure, a column for each kind. */

typedef void (*FillCell)(const KmtReport *report, KmtColumns *columns,
			 const KmtTotals *totals);

#define FILL_NUMBER(member)                                                    \
	static void fill_##member(G_GNUC_UNUSED const KmtReport *report,       \
				  KmtColumns *columns,                         \
				  const KmtTotals *totals)                     \
	{                                                                      \
		kmt_columns_number(columns, FALSE, totals->member);            \
	}

FILL_NUMBER(allocs)
FILL_NUMBER(frees)
FILL_NUMBER(bytes_req)
FILL_NUMBER(bytes_alloc)
FILL_NUMBER(live_objects)
FILL_NUMBER(live_bytes_alloc)
FILL_NUMBER(peak_bytes_alloc)
FILL_NUMBER(cross_cpu_frees)
FILL_NUMBER(remote_node_allocs)

static void fill_wasted(G_GNUC_UNUSED const KmtReport *report,
			KmtColumns *columns, const KmtTotals *totals)
{
	KmtWaste waste = kmt_totals_wasted(totals);

	kmt_columns_number(columns, waste.negative, waste.bytes);
}

static void fill_fragmentation(G_GNUC_UNUSED const KmtReport *report,
			       KmtColumns *columns, const KmtTotals *totals)
{
	kmt_columns_percent(columns, kmt_totals_fragmentation(totals));
}

static void fill_peak_time(const KmtReport *report, KmtColumns *columns,
			   const KmtTotals *totals)
{
	g_autofree char *text =
		kmt_report_moment(report, totals->peak_timestamp, FALSE);

	kmt_columns_text(columns, totals->peak_bytes_alloc ? text : "-");
}

static const struct {
	const char *label;
	FillCell fill;
} summary_lines[] = {
	{"allocations", fill_allocs},
	{"frees", fill_frees},
	{"requested, bytes", fill_bytes_req},
	{"allocated, bytes", fill_bytes_alloc},
	{"wasted, bytes", fill_wasted},
	{"fragmentation, %", fill_fragmentation},
	{"live objects", fill_live_objects},
	{"live, bytes", fill_live_bytes_alloc},
	{"peak, bytes", fill_peak_bytes_alloc},
	{"peak at, s", fill_peak_time},
	{"cross-CPU frees", fill_cross_cpu_frees},
	{"remote-node allocs", fill_remote_node_allocs},
};

/* Frees of all records are no sample. */
static gboolean is_scaled_line(const KmtReport *report, FillCell fill)
{
	return fill != fill_fragmentation && fill != fill_peak_time &&
	       (fill != fill_frees || kmt_report_has_filter(report));
}

static void fill_summary(const KmtReport *report, KmtColumns *columns,
			 const KmtKind *kinds, guint n)
{
	guint line, i;

	kmt_columns_text(columns, "SUMMARY");
	for (i = 0; i < n; i++)
		kmt_columns_text(columns, kmt_kind_name(kinds[i]));
	for (line = 0; line < G_N_ELEMENTS(summary_lines); line++) {
		FillCell fill = summary_lines[line].fill;
		gboolean known = report->aggregate->has_peaks ||
				 (fill != fill_peak_bytes_alloc &&
				  fill != fill_peak_time);

		if (report->capture->has_sequence_times &&
		    fill == fill_peak_time)
			continue;
		if (is_scaled_line(report, fill))
			kmt_text_head(report, columns,
				      summary_lines[line].label);
		else
			kmt_columns_text(columns, summary_lines[line].label);
		for (i = 0; i < n; i++) {
			if (known)
				fill(report, columns,
				     &report->aggregate->kinds[kinds[i]]);
			else
				kmt_columns_text(columns, "-");
		}
	}
}

static void print_summary(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtColumns) columns = NULL;
	g_autofree char *align = NULL;
	KmtKind kinds[KMT_N_KINDS];
	guint i, n = 0;
	gboolean more;

	for (i = 0; i < G_N_ELEMENTS(summary_kinds); i++)
		if (is_summed(report, summary_kinds[i]))
			kinds[n++] = summary_kinds[i];
	more = kinds[n - 1] != KMT_KIND_PAGES;
	align = g_strnfill(n + 1, 'r');
	align[0] = 'l';
	columns = kmt_columns_new(align, report->separators);
	fputc('\n', out);
	while (kmt_columns_pass(columns, out))
		fill_summary(report, columns, kinds, n);
	fputs("slab = kmalloc + cache. Slab memory lies in pages: never add "
	      "the two.\n",
	      out);
	if (more)
		fputs("So does what vmalloc gives, and per-CPU memory: never "
		      "add those either.\n",
		      out);
}

/* Findings. */

static void finding(KmtColumns *columns, guint64 count, const char *label,
		    const char *meaning)
{
	kmt_columns_number(columns, FALSE, count);
	kmt_columns_text(columns, label);
	kmt_columns_text(columns, meaning);
}

static void fill_counts(const KmtAggregate *aggregate, KmtColumns *columns)
{
	const KmtMatchFindings *findings = &aggregate->findings;

	finding(columns, findings->unmatched[KMT_MATCH_UNMATCHED_BEFORE_TRACE],
		"frees unmatched, before the trace",
		"first sight of the address");
	finding(columns, findings->unmatched[KMT_MATCH_UNMATCHED_AFTER_LOSS],
		"frees unmatched, after loss", "the allocation may be lost");
	finding(columns, findings->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED],
		"frees unmatched, unexplained", "freed twice, or not traced");
	finding(columns, findings->doubles[KMT_MATCH_DOUBLE_AFTER_LOSS],
		"double allocations, after loss", "the free may be lost");
	finding(columns, findings->doubles[KMT_MATCH_DOUBLE_RACE],
		"double allocations, race",
		"the free came late, from another CPU");
	finding(columns, findings->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED],
		"double allocations, unexplained",
		"the address was live: a free was not traced");
	finding(columns, findings->mismatches, "type mismatches",
		"kmalloc freed as cache, or the other way round");
	finding(columns, findings->mismatches_after_loss,
		"type mismatches, after loss",
		"the records between may be lost");
	finding(columns, aggregate->short_allocs, "short allocations",
		"fewer bytes allocated than requested");
	finding(columns, aggregate->unordered, "timestamps going back",
		"within a CPU's file");
	finding(columns, aggregate->skipped, "records skipped",
		"unknown or damaged");
	finding(columns, aggregate->truncated_bytes, "bytes truncated",
		"after the last whole record of a file");
}

static void print_counts(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rll", report->separators);

	while (kmt_columns_pass(columns, out))
		fill_counts(report->aggregate, columns);
}

static void tally_site(const KmtReport *report, KmtColumns *columns,
		       const KmtFindingSite *site)
{
	kmt_columns_text(columns, kmt_kind_name(site->kind));
	kmt_text_site(report, columns, site->address);
}

typedef struct {
	KmtFindingClass class;
	const char *title;
	const char *count;
	const char *first;
	const char *second; /* NULL: the class names one site only */
} TallyText;

static void fill_tally_rest(const KmtReport *report, KmtColumns *columns,
			    const GPtrArray *list, guint from, gboolean pairs)
{
	guint64 count = 0;
	guint i;

	if (from >= list->len)
		return;
	for (i = from; i < list->len; i++)
		count += ((KmtFindingCount *)g_ptr_array_index(list, i))->count;
	kmt_columns_number(columns, FALSE, count);
	kmt_columns_text(columns, "");
	kmt_text_rest(report, columns, pairs ? "pair" : "call site",
		      pairs ? "pairs" : "call sites", list->len - from);
	if (pairs) {
		kmt_columns_text(columns, "");
		kmt_columns_text(columns, "");
	}
}

static void fill_tally(const KmtReport *report, KmtColumns *columns,
		       const TallyText *text, const GPtrArray *list)
{
	guint n_shown = list->len, i;

	if (report->max_lines && report->max_lines < n_shown)
		n_shown = (guint)report->max_lines;
	kmt_columns_text(columns, text->count);
	kmt_columns_text(columns, "kind");
	kmt_columns_text(columns, text->first);
	if (text->second) {
		kmt_columns_text(columns, "kind");
		kmt_columns_text(columns, text->second);
	}
	for (i = 0; i < n_shown; i++) {
		const KmtFindingCount *entry = g_ptr_array_index(list, i);

		kmt_columns_number(columns, FALSE, entry->count);
		tally_site(report, columns, &entry->first);
		if (text->second)
			tally_site(report, columns, &entry->second);
	}
	fill_tally_rest(report, columns, list, n_shown, text->second != NULL);
}

/* Print one kind of finding with its call sites, unless there is none. */
static void print_tally(const KmtReport *report, FILE *out,
			const TallyText *text)
{
	g_autoptr(GPtrArray) list = kmt_finding_counts_list(
		report->aggregate->finding_counts, text->class);
	g_autoptr(KmtColumns) columns = kmt_columns_new(
		text->second ? "rllll" : "rll", report->separators);

	if (!list->len)
		return;
	fprintf(out, "\n%s\n", text->title);
	while (kmt_columns_pass(columns, out))
		fill_tally(report, columns, text, list);
}

static const TallyText finding_tallies[] = {
	{KMT_FINDING_MISMATCH, "TYPE MISMATCHES", "times", "allocated by",
	 "freed by"},
	{KMT_FINDING_UNMATCHED_UNEXPLAINED, "UNEXPLAINED FREES", "frees",
	 "freed by", NULL},
	{KMT_FINDING_DOUBLE_UNEXPLAINED, "UNEXPLAINED DOUBLE ALLOCATIONS",
	 "times", "older allocated by", "newer allocated by"},
};

static const TallyText before_trace_tally = {
	KMT_FINDING_UNMATCHED_BEFORE_TRACE,
	"FREES OF WHAT WAS ALLOCATED BEFORE THE TRACE", "frees", "freed by",
	NULL};

/* Where findings were not asked for. */
static void print_unexplained(const KmtReport *report, FILE *out)
{
	const KmtMatchFindings *f = &report->aggregate->findings;
	guint64 n = f->unmatched[KMT_MATCH_UNMATCHED_UNEXPLAINED] +
		    f->doubles[KMT_MATCH_DOUBLE_UNEXPLAINED] + f->mismatches;

	if (!n)
		return;
	fputs("\nFindings: ", out);
	print_number(report, out, n);
	fputs(" unexplained, see the default report\n", out);
}

void kmt_report_text(const KmtReport *report, FILE *out)
{
	guint i;

	print_capture(report, out);
	print_summary(report, out);
	if (report->shows_groups)
		kmt_text_groups(report, out);
	kmt_text_detailed(report, out);
	if (report->is_answer) {
		print_unexplained(report, out);
	} else {
		fputs("\nFINDINGS\n", out);
		print_counts(report, out);
		for (i = 0; i < G_N_ELEMENTS(finding_tallies); i++)
			print_tally(report, out, &finding_tallies[i]);
	}
	if (report->before_trace)
		print_tally(report, out, &before_trace_tally);
}
