// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/report.h"

/* A semicolon or a blank would end a frame. */
static void print_frame(FILE *out, char *text)
{
	fputc(';', out);
	fputs(g_strdelimit(text, "; \n", '_'), out);
}

void kmt_report_folded(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtTable) table = kmt_report_table(report);
	guint i, j;

	for (i = 0; i < table->n_shown; i++) {
		const KmtGroup *group = table->rows[i];
		KmtFigure figure = kmt_field_get(report->fields->pdata[0],
						 report->aggregate, group);

		if (figure.type != KMT_FIGURE_INTEGER || figure.negative ||
		    !figure.integer)
			continue;
		fputs(kmt_kind_name(group->kind), out);
		for (j = 0; j < report->by->n; j++) {
			g_autofree char *text = NULL;

			if (report->by->dimensions[j] == KMT_BY_KIND)
				continue;
			text = kmt_groups_value(report->aggregate->groups,
						group, j);
			print_frame(out, text);
		}
		fprintf(out, " %" G_GUINT64_FORMAT "\n", figure.integer);
	}
}
