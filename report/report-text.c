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

/*
 * Return whether the summary has a column for @kind. Per-CPU and vmalloc
 * memory, which version 1 does not record, are omitted if they have no events.
 */
static gboolean is_summed(const KmtReport *report, KmtKind kind)
{
	const KmtTotals *t = &report->aggregate->kinds[kind];

	return (kind != KMT_KIND_PERCPU && kind != KMT_KIND_VMALLOC) ||
	       t->allocs || t->frees || t->live_objects || t->peak_bytes_alloc;
}

/* ---- summary: a line for each figure, a column for each kind ---- */

typedef void (*FillCell)(const KmtReport *report, KmtColumns *columns,
			 const KmtTotals *totals);

#define FILL_NUMBER(member)                                                    \
	static void fill_##member(G_GNUC_UNUSED const KmtReport *report,       \
				  KmtColumns *columns,                         \
				  const KmtTotals *totals)                     \
	{                                                                      \
		kmt_columns_add_number(columns, FALSE, totals->member);        \
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

	kmt_columns_add_number(columns, waste.negative, waste.bytes);
}

static void fill_fragmentation(G_GNUC_UNUSED const KmtReport *report,
			       KmtColumns *columns, const KmtTotals *totals)
{
	kmt_columns_add_percent(columns, kmt_totals_fragmentation(totals));
}

static void fill_peak_time(const KmtReport *report, KmtColumns *columns,
			   const KmtTotals *totals)
{
	g_autofree char *text =
		kmt_report_format_moment(report, totals->peak_timestamp, FALSE);

	kmt_columns_add_text(columns, totals->peak_bytes_alloc ? text : "-");
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

/*
 * Return whether a line is scaled in a sample. Without a filter, frees count
 * all records and are exact.
 */
static gboolean is_scaled_line(const KmtReport *report, FillCell fill)
{
	return fill != fill_fragmentation && fill != fill_peak_time &&
	       (fill != fill_frees || kmt_report_has_filter(report));
}

static void fill_summary(const KmtReport *report, KmtColumns *columns,
			 const KmtKind *kinds, guint n)
{
	guint line, i;

	for (line = 0; line < G_N_ELEMENTS(summary_lines); line++) {
		FillCell fill = summary_lines[line].fill;
		gboolean known = report->aggregate->has_peaks ||
				 (fill != fill_peak_bytes_alloc &&
				  fill != fill_peak_time);

		if (report->capture->has_sequence_times &&
		    fill == fill_peak_time)
			continue;
		if (is_scaled_line(report, fill))
			kmt_text_add_head(report, columns,
					  summary_lines[line].label);
		else
			kmt_columns_add_text(columns,
					     summary_lines[line].label);
		for (i = 0; i < n; i++) {
			if (known)
				fill(report, columns,
				     &report->aggregate->kinds[kinds[i]]);
			else
				kmt_columns_add_text(columns, "-");
		}
	}
}

static void print_summary(const KmtReport *report, FILE *out)
{
	KmtKind kinds[KMT_N_KINDS];
	guint i, n = 0;
	gboolean more;

	for (i = 0; i < G_N_ELEMENTS(summary_kinds); i++)
		if (is_summed(report, summary_kinds[i]))
			kinds[n++] = summary_kinds[i];
	more = kinds[n - 1] != KMT_KIND_PAGES;
	kmt_text_print_kinds(report, "SUMMARY", kinds, n, fill_summary, out);
	fputs("slab = kmalloc + cache. Slab memory lies in pages: never add "
	      "the two.\n",
	      out);
	if (more)
		fputs("So do vmalloc and per-CPU memory: never add those "
		      "either.\n",
		      out);
}

void kmt_report_text(const KmtReport *report, FILE *out)
{
	kmt_text_capture(report, out);
	print_summary(report, out);
	if (report->aggregate->defer_records)
		kmt_text_deferred(report, out);
	if (report->shows_groups)
		kmt_text_groups(report, out);
	kmt_text_detailed(report, out);
	kmt_text_findings(report, out);
}
