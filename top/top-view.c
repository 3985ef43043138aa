// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/top-view.h"

#include <string.h>

#include "top/name-filter.h"
#include "top/top-snapshot.h"

typedef struct {
	KmtTopView view; /* must be first */
	KmtTopSnapshot *snapshot;
	KmtTopFigures kinds[KMT_TOP_N_KINDS];
	GArray *rows; /* array of KmtTopRow */
} OwnedView;

/* ---- groups ---- */

/* Return the row with this id, which is added if it is new. */
static KmtTopRow *find_row(GArray *rows, GHashTable *index, guint64 id)
{
	gpointer found;
	KmtTopRow row = {.kind = kmt_top_row_kind(id), .id = id};

	if (g_hash_table_lookup_extended(index, &id, NULL, &found))
		return &g_array_index(rows, KmtTopRow, GPOINTER_TO_UINT(found));
	g_array_append_val(rows, row);
	g_hash_table_insert(index, g_memdup2(&id, sizeof(id)),
			    GUINT_TO_POINTER(rows->len - 1));
	return &g_array_index(rows, KmtTopRow, rows->len - 1);
}

/* Add a class to the figures of its kind, and of slab. */
static void add_kind(OwnedView *owned, guint32 class_id, guint type)
{
	static const KmtTopQuery all = {.grouping = KMT_TOP_BY_CALL_SITE};
	KmtTopKind kind = kmt_top_query_kind(&all, type);

	kmt_top_snapshot_add(owned->snapshot, class_id, &owned->kinds[kind]);
	if (kind == KMT_TOP_KMALLOC || kind == KMT_TOP_CACHE)
		kmt_top_snapshot_add(owned->snapshot, class_id,
				     &owned->kinds[KMT_TOP_SLAB]);
}

static void add_rows(OwnedView *owned, const KmtTopQuery *query)
{
	const KmtTopSnapshot *snapshot = owned->snapshot;
	g_autoptr(GHashTable) index = g_hash_table_new_full(
		g_int64_hash, g_int64_equal, g_free, NULL);
	guint32 i;

	for (i = 0; i < snapshot->now->n; i++) {
		KmtMatchKey key = kmt_match_keys_of_class(snapshot->keys, i);
		KmtTopKind kind = kmt_top_query_kind(query, key.type);
		KmtTopRow *row;

		add_kind(owned, i, key.type);
		if (kind == KMT_TOP_ALL_KINDS)
			continue;
		row = find_row(
			owned->rows, index,
			kmt_top_query_row(snapshot, query, i, &key, kind));
		kmt_top_snapshot_add(snapshot, i, &row->figures);
	}
}

static void finish_rows(OwnedView *owned)
{
	guint i;

	for (i = 0; i < KMT_TOP_N_KINDS; i++)
		kmt_top_snapshot_set_rates(owned->snapshot, &owned->kinds[i]);
	for (i = 0; i < owned->rows->len; i++) {
		KmtTopRow *row = &g_array_index(owned->rows, KmtTopRow, i);

		row->name = kmt_top_names_text(owned->snapshot->names,
					       kmt_top_row_group(row->id));
		kmt_top_snapshot_set_rates(owned->snapshot, &row->figures);
	}
}

static void filter_rows(OwnedView *owned, const char *text)
{
	g_autoptr(KmtTopNameFilter) filter = kmt_top_name_filter_new(text);
	guint i, kept = 0;

	owned->view.n_groups = owned->rows->len;
	for (i = 0; i < owned->rows->len; i++) {
		KmtTopRow *row = &g_array_index(owned->rows, KmtTopRow, i);

		if (kmt_top_name_filter_matches(filter, row->name))
			g_array_index(owned->rows, KmtTopRow, kept++) = *row;
	}
	g_array_set_size(owned->rows, kept);
}

/* ---- order ---- */

static int compare_doubles(double a, double b)
{
	return a < b ? 1 : -(a > b);
}

static int compare_sizes(guint64 a, guint64 b)
{
	return a < b ? 1 : -(a > b);
}

/* Return below 0 if the row a comes first by the column of the order. */
static int compare_column(const KmtTopRow *a, const KmtTopRow *b,
			  KmtTopOrder order)
{
	const KmtTopFigures *x = &a->figures, *y = &b->figures;

	switch (order) {
	case KMT_TOP_ORDER_RATE:
		return compare_doubles((double)x->interval_bytes,
				       (double)y->interval_bytes);
	case KMT_TOP_ORDER_LIVE:
		return compare_sizes(x->live_bytes, y->live_bytes);
	case KMT_TOP_ORDER_WASTED:
		return compare_doubles((double)x->wasted_bytes,
				       (double)y->wasted_bytes);
	case KMT_TOP_ORDER_GROWTH:
		return compare_doubles((double)x->growth_bytes,
				       (double)y->growth_bytes);
	case KMT_TOP_ORDER_ALLOCS:
		return compare_sizes(x->interval_allocs, y->interval_allocs);
	default:
		return strcmp(a->name, b->name);
	}
}

static gint compare_rows(gconstpointer a, gconstpointer b, gpointer user)
{
	const KmtTopQuery *query = user;
	const KmtTopRow *x = a, *y = b;
	int order = compare_column(x, y, query->order);

	if (order)
		return query->reverse ? -order : order;
	order = strcmp(x->name, y->name);
	if (!order)
		order = (int)x->kind - (int)y->kind;
	return order ? order : compare_sizes(y->id, x->id);
}

/* ---- views ---- */

KmtTopView *kmt_top_view_new(KmtTopSnapshot *snapshot, const KmtTopQuery *query)
{
	OwnedView *owned = g_new0(OwnedView, 1);

	owned->snapshot = kmt_top_snapshot_ref(snapshot);
	owned->rows = g_array_new(FALSE, FALSE, sizeof(KmtTopRow));
	add_rows(owned, query);
	finish_rows(owned);
	filter_rows(owned, query->filter);
	g_array_sort_with_data(owned->rows, compare_rows, (gpointer)query);
	owned->view.header = &snapshot->header;
	owned->view.kinds = owned->kinds;
	owned->view.rows = (const KmtTopRow *)(gpointer)owned->rows->data;
	owned->view.n_rows = owned->rows->len;
	return &owned->view;
}

void kmt_top_view_free(KmtTopView *view)
{
	OwnedView *owned = (OwnedView *)view;

	if (!view)
		return;
	g_array_unref(owned->rows);
	kmt_top_snapshot_unref(owned->snapshot);
	g_free(owned);
}
