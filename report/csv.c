// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/csv-fields.h"
#include "report/report.h"

static void print_line(const KmtReport *report, FILE *out,
		       const KmtGroup *group)
{
	guint i;

	fputs(kmt_kind_name(group->kind), out);
	for (i = 0; i < report->by->n; i++) {
		g_autofree char *text = NULL;

		if (report->by->dimensions[i] == KMT_BY_KIND)
			continue;
		text = kmt_groups_value(report->aggregate->groups, group, i);
		fputc(',', out);
		kmt_csv_text(out, text);
	}
	for (i = 0; i < report->fields->len; i++) {
		KmtFigure figure = kmt_report_field_get(
			report->fields->pdata[i], report->aggregate, group);

		fputc(',', out);
		kmt_csv_figure(out, &figure);
	}
	fputs("\r\n", out);
}

void kmt_report_csv(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtTable) table = kmt_report_table_new(report);
	guint i;

	fputs("kind", out);
	for (i = 0; i < report->by->n; i++)
		if (report->by->dimensions[i] != KMT_BY_KIND)
			fprintf(out, ",%s",
				kmt_dimension_name(report->by->dimensions[i]));
	for (i = 0; i < report->fields->len; i++)
		fprintf(out, ",%s",
			kmt_report_field_name(report->fields->pdata[i]));
	fputs("\r\n", out);
	for (i = 0; i < table->n_shown; i++)
		print_line(report, out, table->rows[i]);
}
