/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arithmetic of figures. A comparison subtracts, divides and sums the figures
 * of several captures. Integers stay exact: the result of integers is an
 * INTEGER if its value is whole.
 */
#ifndef KMEMTRACE_REPORT_FIGURE_ARITHMETIC_H
#define KMEMTRACE_REPORT_FIGURE_ARITHMETIC_H

#include "report/field.h"

/* Return the value as a double; 0 for NONE. */
double kmt_figure_real(const KmtFigure *figure);

/*
 * Return whether the figure is neither NONE nor 0.
 */
gboolean kmt_figure_is_nonzero(const KmtFigure *figure);

/*
 * Return a - b. The result is NONE if a or b is NONE. The difference of two
 * moments (TIME) or two durations (NS) is an INTEGER number of ns, which may be
 * negative. A magnitude above G_MAXUINT64 becomes G_MAXUINT64.
 */
KmtFigure kmt_figure_difference(const KmtFigure *a, const KmtFigure *b);

/* Return a + b, where a NONE counts as 0. The sum saturates as
 * kmt_figure_difference() does. */
KmtFigure kmt_figure_add(const KmtFigure *a, const KmtFigure *b);

/* Return figure * factor as a RATE; NONE stays NONE. */
KmtFigure kmt_figure_times(const KmtFigure *figure, double factor);

/*
 * Return the median of @n figures of one field, ignoring those that are NONE.
 * The median of an even number is the mean of the two in the middle, which is
 * a RATE if it is no whole number. The result is NONE if all are NONE.
 */
KmtFigure kmt_figure_median(const KmtFigure *figures, guint n);

#endif
