// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/figure-arithmetic.h"

#include <stdlib.h>

/* Return whether the value is in KmtFigure.real. */
static gboolean is_real(const KmtFigure *figure)
{
	return figure->type == KMT_FIGURE_RATIO ||
	       figure->type == KMT_FIGURE_RATE;
}

static gboolean is_none(const KmtFigure *figure)
{
	return figure->type == KMT_FIGURE_NONE;
}

double kmt_figure_real(const KmtFigure *figure)
{
	if (is_none(figure))
		return 0;
	if (is_real(figure))
		return figure->real;
	if (figure->type == KMT_FIGURE_TIME)
		return (double)(gint64)figure->integer;
	return figure->negative ? -(double)figure->integer
				: (double)figure->integer;
}

gboolean kmt_figure_is_nonzero(const KmtFigure *figure)
{
	if (is_none(figure))
		return FALSE;
	return is_real(figure) ? figure->real < 0 || figure->real > 0
			       : figure->integer != 0;
}

/* Return the sign and magnitude of a figure that has an integer. */
static KmtFigure to_integer(const KmtFigure *figure)
{
	KmtFigure result = {.type = KMT_FIGURE_INTEGER,
			    .negative = figure->negative,
			    .integer = figure->integer};

	if (figure->type == KMT_FIGURE_TIME && (gint64)figure->integer < 0) {
		result.negative = TRUE;
		result.integer = -figure->integer;
	}
	return result;
}

static KmtFigure add_integers(KmtFigure a, KmtFigure b)
{
	KmtFigure sum = {.type = KMT_FIGURE_INTEGER, .negative = a.negative};

	if (a.negative == b.negative) {
		if (__builtin_add_overflow(a.integer, b.integer, &sum.integer))
			sum.integer = G_MAXUINT64;
		return sum;
	}
	if (a.integer >= b.integer) {
		sum.integer = a.integer - b.integer;
	} else {
		sum.negative = b.negative;
		sum.integer = b.integer - a.integer;
	}
	sum.negative = sum.negative && sum.integer;
	return sum;
}

/* Return a + b or, if @subtract is set, a - b. Neither is NONE. */
static KmtFigure combine(const KmtFigure *a, const KmtFigure *b,
			 gboolean subtract)
{
	KmtFigure y;

	if (is_real(a) || is_real(b)) {
		double x = kmt_figure_real(a), z = kmt_figure_real(b);

		return (KmtFigure){.type = is_real(a) ? a->type : b->type,
				   .real = subtract ? x - z : x + z};
	}
	y = to_integer(b);
	if (subtract)
		y.negative = !y.negative && y.integer;
	return add_integers(to_integer(a), y);
}

KmtFigure kmt_figure_difference(const KmtFigure *a, const KmtFigure *b)
{
	if (is_none(a) || is_none(b))
		return (KmtFigure){.type = KMT_FIGURE_NONE};
	return combine(a, b, TRUE);
}

KmtFigure kmt_figure_add(const KmtFigure *a, const KmtFigure *b)
{
	if (is_none(a))
		return *b;
	if (is_none(b))
		return *a;
	return combine(a, b, FALSE);
}

KmtFigure kmt_figure_times(const KmtFigure *figure, double factor)
{
	if (is_none(figure))
		return *figure;
	return (KmtFigure){.type = KMT_FIGURE_RATE,
			   .real = kmt_figure_real(figure) * factor};
}

static int compare_figures(const void *a, const void *b)
{
	return kmt_figure_compare(a, b);
}

/* Return the mean of two figures of one field with a <= b. */
static KmtFigure mean_of(const KmtFigure *a, const KmtFigure *b)
{
	KmtFigure half = kmt_figure_difference(b, a), sum;

	if (is_real(&half)) {
		half.real /= 2;
		return combine(a, &half, FALSE);
	}
	/* Half a nanosecond is below the resolution of the clock. */
	if (half.integer % 2 && a->type == KMT_FIGURE_INTEGER)
		return (KmtFigure){.type = KMT_FIGURE_RATE,
				   .real = kmt_figure_real(a) +
					   (double)half.integer / 2};
	half.integer /= 2;
	sum = combine(a, &half, FALSE);
	if (a->type != KMT_FIGURE_INTEGER) {
		sum.integer = sum.negative ? -sum.integer : sum.integer;
		sum.negative = FALSE;
		sum.type = a->type;
	}
	return sum;
}

KmtFigure kmt_figure_median(const KmtFigure *figures, guint n)
{
	g_autofree KmtFigure *sorted = NULL;
	guint i, known = 0;

	if (n == 1)
		return figures[0];
	sorted = g_new(KmtFigure, MAX(n, 1));
	for (i = 0; i < n; i++)
		if (!is_none(&figures[i]))
			sorted[known++] = figures[i];
	if (!known)
		return (KmtFigure){.type = KMT_FIGURE_NONE};
	qsort(sorted, known, sizeof(*sorted), compare_figures);
	if (known % 2)
		return sorted[known / 2];
	return mean_of(&sorted[known / 2 - 1], &sorted[known / 2]);
}
