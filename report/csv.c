// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/report.h"

#include <string.h>

/* Print a CSV field, quoted according to RFC 4180 if necessary. */
static void print_text(FILE *out, const char *text)
{
	const char *p;

	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (p = text; *p; p++) {
		if (*p == '"')
			fputc('"', out);
		fputc(*p, out);
	}
	fputc('"', out);
}

/* Print times as integers in ns and ratios from 0 to 1. An unknown figure is an
 * empty field. */
static void print_figure(FILE *out, const KmtFigure *figure)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	switch (figure->type) {
	case KMT_FIGURE_INTEGER:
		fprintf(out, "%s%" G_GUINT64_FORMAT,
			figure->negative ? "-" : "", figure->integer);
		break;
	case KMT_FIGURE_NS:
		fprintf(out, "%" G_GUINT64_FORMAT, figure->integer);
		break;
	case KMT_FIGURE_TIME:
		fprintf(out, "%" G_GINT64_FORMAT, (gint64)figure->integer);
		break;
	case KMT_FIGURE_RATIO:
	case KMT_FIGURE_RATE:
		fputs(g_ascii_dtostr(text, sizeof(text), figure->real), out);
		break;
	case KMT_FIGURE_NONE:
		break;
	}
}

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
		print_text(out, text);
	}
	for (i = 0; i < report->fields->len; i++) {
		KmtFigure figure = kmt_report_field_get(
			report->fields->pdata[i], report->aggregate, group);

		fputc(',', out);
		print_figure(out, &figure);
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
