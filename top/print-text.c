// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a view: exact numbers, for pipes and files. */
#include "config.h"

#include <stdio.h>
#include <time.h>

#include "top/top-view.h"

#define U64 G_GUINT64_FORMAT
#define I64 G_GINT64_FORMAT

static void print_time(const KmtTopHeader *header, FILE *out)
{
	time_t seconds = (time_t)header->time;
	struct tm tm;
	char text[32] = "";

	if (localtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(out, "kmemtrace-top %s  elapsed %.1f s, interval %.1f s", text,
		header->elapsed_s, header->interval_s);
	if (header->source)
		fprintf(out, ", source %s", header->source);
	if (header->kernel)
		fprintf(out, ", Linux %s", header->kernel);
	fprintf(out, ", %u CPUs\n", header->n_cpus);
}

static void print_cost(const char *name, double percent, FILE *out)
{
	if (percent < 0)
		fprintf(out, "%s unknown", name);
	else
		fprintf(out, "%s %.1f %%", name, percent);
}

static void print_capture(const KmtTopHeader *header, FILE *out)
{
	static const char *const states[] = {
		[KMT_TOP_CAPTURE_NONE] = "none",
		[KMT_TOP_CAPTURE_RUNNING] = "running",
		[KMT_TOP_CAPTURE_COMPLETE] = "complete",
		[KMT_TOP_CAPTURE_FAILED] = "failed"};

	if (header->capture == KMT_TOP_CAPTURE_NONE)
		return;
	fprintf(out, "Capture: %s %s, %" U64 " bytes%s%s\n",
		header->capture_path, states[header->capture],
		header->capture_bytes, header->capture_error ? ": " : "",
		header->capture_error ? header->capture_error : "");
}

static void print_header(const KmtTopHeader *header, FILE *out)
{
	print_time(header, out);
	fprintf(out,
		"Events: %" U64 ", %.1f/s; lost %" U64 "%s; frees from before "
		"%" U64 ", unmatched %" U64 "\n",
		header->events, header->events_per_s, header->lost,
		header->losses_unknown ? " and an unknown number" : "",
		header->frees_before, header->unmatched_frees);
	fprintf(out, "Objects: %" U64 " live, table %" U64 " bytes",
		header->live_objects, header->memory_bytes);
	if (header->limit_reached)
		fprintf(out,
			"; LIMIT of %" U64 " objects reached, %" U64
			" allocations not tracked",
			header->max_objects, header->untracked_allocs);
	fputs("; CPU: ", out);
	print_cost("kmemtrace-top", header->own_cpu_percent, out);
	print_cost(", kmemtraced", header->daemon_cpu_percent, out);
	fputc('\n', out);
	if (header->not_seen)
		fprintf(out,
			"Not seen: %u gaps of the source; live "
			"figures may be wrong (--json lists them)\n",
			g_strv_length((char **)header->not_seen));
	print_capture(header, out);
	if (header->end_reason)
		fprintf(out, "End: %s\n", header->end_reason);
}

static void print_kinds(const KmtTopView *view, FILE *out)
{
	const KmtTopKind kinds[] = {KMT_TOP_SLAB, KMT_TOP_PAGES, KMT_TOP_PERCPU,
				    KMT_TOP_VMALLOC};
	guint i;

	fputs("Live bytes:", out);
	for (i = 0; i < G_N_ELEMENTS(kinds); i++)
		fprintf(out, "%s %s %" U64, i ? "," : "",
			kmt_top_kind_name(kinds[i]),
			view->kinds[kinds[i]].live_bytes);
	fputc('\n', out);
}

static void print_row(const KmtTopRow *row, FILE *out)
{
	const KmtTopFigures *f = &row->figures;

	fprintf(out,
		"%12.0f %10.1f %10.1f %12" U64 " %9" U64 " %10" I64 " %11" I64
		" %-7s %s\n",
		f->bytes_per_s, f->allocs_per_s, f->frees_per_s, f->live_bytes,
		f->live_objects, f->wasted_bytes, f->growth_bytes,
		kmt_top_kind_name(row->kind), row->name);
}

void kmt_top_print_text(const KmtTopView *view, const KmtTopQuery *query,
			guint max_rows, gpointer file)
{
	FILE *out = file;
	guint i, n = view->n_rows;

	if (max_rows)
		n = MIN(n, max_rows);
	print_header(view->header, out);
	print_kinds(view, out);
	fprintf(out,
		"Order: %s%s, kind: %s, rows: %u of %u\n\n"
		"%12s %10s %10s %12s %9s %10s %11s %-7s %s\n",
		kmt_top_order_name(query->order),
		query->reverse ? " (reverse)" : "",
		kmt_top_kind_name(query->kind), n, view->n_groups, "BYTES/S",
		"ALLOCS/S", "FREES/S", "LIVE", "OBJECTS", "WASTED", "GROWTH",
		"KIND", kmt_top_grouping_name(query->grouping));
	for (i = 0; i < n; i++)
		print_row(&view->rows[i], out);
	fputc('\n', out);
}
