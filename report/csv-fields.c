// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/csv-fields.h"

#include <math.h>
#include <string.h>

void kmt_csv_text(FILE *out, const char *text)
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

void kmt_csv_real(FILE *out, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (isfinite(value))
		fputs(g_ascii_dtostr(text, sizeof(text), value), out);
}

void kmt_csv_figure(FILE *out, const KmtFigure *figure)
{
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
		kmt_csv_real(out, figure->real);
		break;
	case KMT_FIGURE_NONE:
		break;
	}
}
