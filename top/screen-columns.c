// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/screen-columns.h"

/* Columns that the name has at least, unless the terminal is narrower. */
#define MIN_NAME 20

/* Order of a column by which no key sorts. */
#define NO_ORDER KMT_TOP_N_ORDERS

/* The smallest widths keep the columns in place while figures change. */
static const struct {
	const char *title;
	guint min_width;
	KmtTopOrder order;
} columns[KMT_TOP_N_COLUMNS] = {
	[KMT_TOP_COLUMN_BYTES_RATE] = {"BYTES/s", 7, KMT_TOP_ORDER_RATE},
	[KMT_TOP_COLUMN_ALLOCS_RATE] = {"ALLOC/s", 7, KMT_TOP_ORDER_ALLOCS},
	[KMT_TOP_COLUMN_FREES_RATE] = {"FREE/s", 6, NO_ORDER},
	[KMT_TOP_COLUMN_OBJECTS] = {"OBJECTS", 7, NO_ORDER},
	[KMT_TOP_COLUMN_LIVE] = {"LIVE", 6, KMT_TOP_ORDER_LIVE},
	[KMT_TOP_COLUMN_WASTED] = {"WASTED", 6, KMT_TOP_ORDER_WASTED},
	[KMT_TOP_COLUMN_GROWTH] = {"GROWTH", 6, KMT_TOP_ORDER_GROWTH},
	[KMT_TOP_COLUMN_ALLOCS] = {"ALLOCS", 6, NO_ORDER},
	[KMT_TOP_COLUMN_FREES] = {"FREES", 6, NO_ORDER},
	[KMT_TOP_COLUMN_KIND] = {"KIND", 7, NO_ORDER},
};

/* The most important column first. */
static const KmtTopColumn importance[KMT_TOP_N_COLUMNS] = {
	KMT_TOP_COLUMN_LIVE,	   KMT_TOP_COLUMN_BYTES_RATE,
	KMT_TOP_COLUMN_GROWTH,	   KMT_TOP_COLUMN_WASTED,
	KMT_TOP_COLUMN_KIND,	   KMT_TOP_COLUMN_ALLOCS_RATE,
	KMT_TOP_COLUMN_FREES_RATE, KMT_TOP_COLUMN_OBJECTS,
	KMT_TOP_COLUMN_ALLOCS,	   KMT_TOP_COLUMN_FREES,
};

const char *kmt_top_column_title(KmtTopColumn column)
{
	return columns[column].title;
}

gboolean kmt_top_column_order(KmtTopColumn column, KmtTopOrder *order)
{
	*order = columns[column].order;
	return *order != NO_ORDER;
}

guint kmt_top_column_min_width(KmtTopColumn column)
{
	return columns[column].min_width;
}

gboolean kmt_top_column_is_text(KmtTopColumn column)
{
	return column == KMT_TOP_COLUMN_KIND;
}

void kmt_top_column_text(char *text, KmtTopColumn column, KmtTopKind kind,
			 const KmtTopFigures *f, KmtTopPrecision precision)
{
	switch (column) {
	case KMT_TOP_COLUMN_BYTES_RATE:
		kmt_top_byte_rate_text(text, f->bytes_per_s, precision);
		break;
	case KMT_TOP_COLUMN_ALLOCS_RATE:
		kmt_top_rate_text(text, f->allocs_per_s, precision);
		break;
	case KMT_TOP_COLUMN_FREES_RATE:
		kmt_top_rate_text(text, f->frees_per_s, precision);
		break;
	case KMT_TOP_COLUMN_OBJECTS:
		kmt_top_count_text(text, f->live_objects, precision);
		break;
	case KMT_TOP_COLUMN_LIVE:
		kmt_top_bytes_text(text, f->live_bytes, precision);
		break;
	case KMT_TOP_COLUMN_WASTED:
		kmt_top_signed_bytes_text(text, f->wasted_bytes, precision);
		break;
	case KMT_TOP_COLUMN_GROWTH:
		kmt_top_growth_text(text, f->growth_bytes, precision);
		break;
	case KMT_TOP_COLUMN_ALLOCS:
		kmt_top_count_text(text, f->allocs, precision);
		break;
	case KMT_TOP_COLUMN_FREES:
		kmt_top_count_text(text, f->frees, precision);
		break;
	case KMT_TOP_COLUMN_KIND:
		g_strlcpy(text, kmt_top_kind_name(kind), KMT_TOP_FIGURE_SIZE);
		break;
	case KMT_TOP_N_COLUMNS:
		g_assert_not_reached();
	}
}

/* Show a column if it fits beside min_name columns of the name. */
static void add_column(KmtTopColumn column, const guint *widths, guint min_name,
		       guint *remaining, gboolean *shown)
{
	guint width = widths[column] + 1;

	if (shown[column] || *remaining < width + min_name)
		return;
	shown[column] = TRUE;
	*remaining -= width;
}

guint kmt_top_columns_fit(const guint widths[KMT_TOP_N_COLUMNS],
			  guint n_columns, KmtTopOrder order,
			  gboolean shown[KMT_TOP_N_COLUMNS])
{
	guint min_name = MIN(MIN_NAME, n_columns / 2);
	guint remaining = n_columns;

	for (guint i = 0; i < KMT_TOP_N_COLUMNS; i++)
		shown[i] = FALSE;
	for (guint i = 0; i < KMT_TOP_N_COLUMNS; i++)
		if (columns[i].order == order)
			add_column(i, widths, min_name, &remaining, shown);
	for (guint i = 0; i < KMT_TOP_N_COLUMNS; i++)
		add_column(importance[i], widths, min_name, &remaining, shown);
	return remaining;
}
