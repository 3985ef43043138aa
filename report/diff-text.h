/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cells that the sections of a comparison share. Private to report/. */
#ifndef KMEMTRACE_REPORT_DIFF_TEXT_H
#define KMEMTRACE_REPORT_DIFF_TEXT_H

#include "report/columns.h"
#include "report/diff.h"

/* Return whether both sides have several captures, so that spreads are known.
 */
static inline gboolean kmt_diff_has_spread(const KmtDiff *diff)
{
	return diff->n_base > 1 || diff->n_new > 1;
}

/* Return the 'r' and 'l' of the columns of kmt_diff_text_add_cell(). */
const char *kmt_diff_text_align(const KmtDiff *diff);

/* Fill the headings of these columns. */
void kmt_diff_text_add_heads(const KmtDiff *diff, KmtColumns *columns);

/*
 * Fill the cells of a field: base, new, difference, ratio and, if a side has
 * several captures, spreads and noise. ~ follows a figure that missing events
 * could have changed.
 */
void kmt_diff_text_add_cell(const KmtDiff *diff, KmtColumns *columns,
			    const KmtDiffCell *cell);

/* Print the list of a field. */
void kmt_diff_text_list(const KmtDiff *diff, guint field, FILE *out);

/* Print the leak candidates of both sides. */
void kmt_diff_text_leaks(const KmtDiff *diff, FILE *out);

#endif
