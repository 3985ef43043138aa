/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The columns of the table on the screen. */
#ifndef KMEMTRACE_TOP_SCREEN_COLUMNS_H
#define KMEMTRACE_TOP_SCREEN_COLUMNS_H

#include "top/figure-text.h"
#include "top/top-view.h"

typedef enum {
	KMT_TOP_COLUMN_BYTES_RATE,
	KMT_TOP_COLUMN_ALLOCS_RATE,
	KMT_TOP_COLUMN_FREES_RATE,
	KMT_TOP_COLUMN_OBJECTS,
	KMT_TOP_COLUMN_LIVE,
	KMT_TOP_COLUMN_WASTED,
	KMT_TOP_COLUMN_GROWTH,
	KMT_TOP_COLUMN_ALLOCS,
	KMT_TOP_COLUMN_FREES,
	KMT_TOP_COLUMN_KIND,
	KMT_TOP_N_COLUMNS /* the name is always the last column */
} KmtTopColumn;

/* Return the title of a column, a constant. */
const char *kmt_top_column_title(KmtTopColumn column);
/* Return the order that sorts by a column; FALSE: there is none. */
gboolean kmt_top_column_order(KmtTopColumn column, KmtTopOrder *order);
/* Return the smallest width of a column. */
guint kmt_top_column_min_width(KmtTopColumn column);
/* Return whether the text of a column is aligned to the left. */
gboolean kmt_top_column_is_text(KmtTopColumn column);

/* Print the cell of a row to text, which has KMT_TOP_FIGURE_SIZE bytes. */
void kmt_top_column_text(char *text, KmtTopColumn column, KmtTopKind kind,
			 const KmtTopFigures *figures,
			 KmtTopPrecision precision);

/*
 * Select the columns that fit into n_columns columns of the terminal beside the
 * name, each followed by a blank. The column of the order comes first, then the
 * others by importance. widths has the width of each column; shown[] is set.
 * Return the width that remains for the name.
 */
guint kmt_top_columns_fit(const guint widths[KMT_TOP_N_COLUMNS],
			  guint n_columns, KmtTopOrder order,
			  gboolean shown[KMT_TOP_N_COLUMNS]);

#endif
