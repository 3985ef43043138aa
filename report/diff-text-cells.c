// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-text.h"
#include "report/figure-arithmetic.h"

#include <math.h>

const char *kmt_diff_text_align(const KmtDiff *diff)
{
	return kmt_diff_has_spread(diff) ? "rrrrrrr" : "rrrr";
}

void kmt_diff_text_add_heads(const KmtDiff *diff, KmtColumns *columns)
{
	kmt_columns_add_text(columns, "base");
	kmt_columns_add_text(columns, "new");
	kmt_columns_add_text(columns, "difference");
	kmt_columns_add_text(columns, "ratio");
	if (!kmt_diff_has_spread(diff))
		return;
	kmt_columns_add_text(columns, "base +-");
	kmt_columns_add_text(columns, "new +-");
	kmt_columns_add_text(columns, "noise");
}

/* Format a magnitude in the unit of @type. The caller frees the string. */
static char *format_magnitude(KmtFigureType type, double real, guint64 integer,
			      gboolean separators)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	switch (type) {
	case KMT_FIGURE_RATIO:
		g_ascii_formatd(text, sizeof(text), "%.1f", real * 100);
		return g_strdup(text);
	case KMT_FIGURE_RATE:
		g_ascii_formatd(text, sizeof(text), "%.1f", real);
		return g_strdup(text);
	case KMT_FIGURE_NS:
		return kmt_format_duration(integer);
	case KMT_FIGURE_TIME:
		return kmt_format_elapsed(integer, FALSE);
	case KMT_FIGURE_NONE:
		return g_strdup("-");
	case KMT_FIGURE_INTEGER:
	default:
		return kmt_format_number(integer, separators);
	}
}

static void add_figure(const KmtDiff *diff, KmtColumns *columns,
		       const KmtFigure *figure, gboolean doubtful)
{
	g_autofree char *magnitude =
		format_magnitude(figure->type, figure->real, figure->integer,
				 diff->plan->report.separators);
	g_autofree char *text =
		g_strconcat(figure->negative ? "-" : "", magnitude,
			    doubtful && figure->type ? "~" : "", NULL);

	kmt_columns_add_text(columns, text);
}

/* Fill a cell with a difference and its sign, in the unit of the figures. */
static void add_difference(const KmtDiff *diff, KmtColumns *columns,
			   const KmtDiffCell *cell)
{
	const KmtFigure *d = &cell->difference;
	gboolean is_negative = d->negative || d->real < 0;
	KmtFigureType type =
		d->type == KMT_FIGURE_INTEGER ? cell->new.type : d->type;
	gboolean doubtful =
		d->type && (cell->doubtful_base || cell->doubtful_new);
	g_autofree char *magnitude = NULL, *text = NULL;

	/* Durations whose medians are whole have an integer difference. */
	if (d->type == KMT_FIGURE_INTEGER && type == KMT_FIGURE_RATE)
		type = KMT_FIGURE_INTEGER;
	magnitude = format_magnitude(type, fabs(d->real), d->integer,
				     diff->plan->report.separators);
	text = g_strconcat(!kmt_figure_is_nonzero(d) ? ""
			   : is_negative	     ? "-"
						     : "+",
			   magnitude, doubtful ? "~" : "", NULL);
	if (cell->noise == KMT_NOISE_EXCEEDS)
		kmt_columns_add_colored(columns, KMT_COLOR_WARNING, text);
	else
		kmt_columns_add_text(columns, text);
}

/* Fill a cell with a spread, in the unit of @figure. */
static void add_spread(const KmtDiff *diff, KmtColumns *columns,
		       const KmtFigure *figure, double spread)
{
	KmtFigureType type =
		figure->type == KMT_FIGURE_TIME ? KMT_FIGURE_NS : figure->type;
	g_autofree char *text =
		format_magnitude(type, spread, (guint64)(spread + 0.5),
				 diff->plan->report.separators);

	kmt_columns_add_text(columns, text);
}

static void add_noise(KmtColumns *columns, const KmtDiffCell *cell)
{
	char text[64];

	if (cell->noise == KMT_NOISE_UNKNOWN) {
		kmt_columns_add_text(columns,
				     cell->difference.type == KMT_FIGURE_NONE
					     ? "-"
					     : "unknown");
		return;
	}
	g_ascii_formatd(text, sizeof(text), "%.3f", cell->p);
	if (cell->noise == KMT_NOISE_EXCEEDS) {
		g_autofree char *exceeds =
			g_strdup_printf("exceeds p=%s", text);

		kmt_columns_add_colored(columns, KMT_COLOR_WARNING, exceeds);
	} else {
		g_autofree char *within = g_strdup_printf("within p=%s", text);

		kmt_columns_add_text(columns, within);
	}
}

void kmt_diff_text_add_cell(const KmtDiff *diff, KmtColumns *columns,
			    const KmtDiffCell *cell)
{
	char ratio[G_ASCII_DTOSTR_BUF_SIZE] = "-";

	add_figure(diff, columns, &cell->base, cell->doubtful_base);
	add_figure(diff, columns, &cell->new, cell->doubtful_new);
	add_difference(diff, columns, cell);
	if (isfinite(cell->ratio))
		g_ascii_formatd(ratio, sizeof(ratio), "%.3f", cell->ratio);
	kmt_columns_add_text(columns, ratio);
	if (!kmt_diff_has_spread(diff))
		return;
	add_spread(diff, columns, &cell->base, cell->base_spread);
	add_spread(diff, columns, &cell->new, cell->new_spread);
	add_noise(columns, cell);
}
