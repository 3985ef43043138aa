// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the memory whose free waits for a grace period. */
#include "config.h"

#include "report/report-text.h"

static const KmtKind kinds_in_order[] = {KMT_KIND_KMALLOC, KMT_KIND_CACHE,
					 KMT_KIND_SLAB, KMT_KIND_VMALLOC};

static const struct {
	const char *label;
	const char *field;
} lines[] = {
	{"frees", "deferred-frees"},
	{"time deferred, median", "deferred-median"},
	{"time deferred, 99 %", "deferred-p99"},
	{"time deferred, longest", "deferred-max"},
	{"still deferred, objects", "deferred-objects"},
	{"still deferred, bytes", "deferred"},
	{"deferred at the peak, bytes", "deferred-at-peak"},
	{"most deferred, bytes", "deferred-peak"},
	{"still deferred for, median", "deferred-age-median"},
	{"still deferred for, longest", "deferred-age-max"},
};

static void fill(const KmtReport *report, KmtColumns *columns,
		 const KmtKind *kinds, guint n)
{
	guint line, i;

	for (line = 0; line < G_N_ELEMENTS(lines); line++) {
		const KmtReportField *field =
			kmt_report_field_find(lines[line].field);

		if (kmt_report_field_is_scaled(field))
			kmt_text_add_head(report, columns, lines[line].label);
		else
			kmt_columns_add_text(columns, lines[line].label);
		for (i = 0; i < n; i++) {
			KmtFigure figure = kmt_report_field_deferred(
				field, report->aggregate,
				&report->aggregate->deferred[kinds[i]]);

			kmt_columns_add_figure(columns, &figure);
		}
	}
}

/* Return whether a kind had deferred objects in the time of the figures. */
static gboolean is_shown(const KmtReport *report, KmtKind kind)
{
	const KmtDeferred *deferred = &report->aggregate->deferred[kind];

	return deferred->frees || deferred->objects || deferred->peak;
}

void kmt_text_deferred(const KmtReport *report, FILE *out)
{
	KmtKind kinds[G_N_ELEMENTS(kinds_in_order)];
	guint i, n = 0;

	for (i = 0; i < G_N_ELEMENTS(kinds_in_order); i++)
		if (is_shown(report, kinds_in_order[i]))
			kinds[n++] = kinds_in_order[i];
	if (!n)
		return;
	kmt_text_print_kinds(report, "DEFERRED FREES", kinds, n, fill, out);
	fputs("Deferred memory waits for a grace period: it is live, but no "
	      "longer in use.\n",
	      out);
}
