// SPDX-License-Identifier: GPL-2.0-or-later
/* The details of one row: its sizes, lifetimes, tasks, caches, call sites. */
#include "config.h"

#include "top/top-snapshot.h"

typedef struct {
	KmtTopDetails details; /* must be first */
	KmtTopSnapshot *snapshot;
	GArray *sizes;	   /* array of KmtTopSize */
	GArray *parts[3];  /* arrays of KmtTopPart: commands, caches, sites */
	GArray *lifetimes; /* array of KmtTopLifetime */
	guint64 buckets[KMT_TOP_LIFETIME_BUCKETS];
} OwnedDetails;

static const KmtTopGrouping part_groupings[3] = {
	KMT_TOP_BY_COMMAND, KMT_TOP_BY_CACHE, KMT_TOP_BY_CALL_SITE};

/* Return the index of a key in an array, which the caller extends if the index
 * equals the length of the array. */
static guint index_of(GHashTable *index, guint64 key, guint n)
{
	gpointer found;

	if (g_hash_table_lookup_extended(index, &key, NULL, &found))
		return GPOINTER_TO_UINT(found);
	g_hash_table_insert(index, g_memdup2(&key, sizeof(key)),
			    GUINT_TO_POINTER(n));
	return n;
}

static GHashTable *index_new(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

static void add_size(OwnedDetails *owned, KmtMatchIntern *index,
		     guint32 class_id)
{
	const KmtMatchSize size =
		kmt_match_keys_size_of_class(owned->snapshot->keys, class_id);
	guint32 i = kmt_match_intern_get(index, &size);
	const KmtTopSize new = {.bytes_req = size.req, .bytes = size.alloc};

	if (i == owned->sizes->len)
		g_array_append_val(owned->sizes, new);
	kmt_top_snapshot_add(
		owned->snapshot, class_id,
		&g_array_index(owned->sizes, KmtTopSize, i).figures);
}

static void add_part(OwnedDetails *owned, guint which, GHashTable *index,
		     guint32 class_id, const KmtMatchKey *key)
{
	KmtTopSnapshot *s = owned->snapshot;
	guint32 group = kmt_top_names_group(
		s->names, part_groupings[which], key,
		kmt_match_keys_size_of_class(s->keys, class_id).alloc);
	GArray *parts = owned->parts[which];
	guint i = index_of(index, group, parts->len);
	const KmtTopPart new = {.name = kmt_top_names_text(s->names, group)};

	if (i == parts->len)
		g_array_append_val(parts, new);
	kmt_top_snapshot_add(s, class_id,
			     &g_array_index(parts, KmtTopPart, i).figures);
}

/* Each call site and kind has the lifetimes of all of its classes. A row of
 * commands or caches has only some of these, so its lifetimes are unknown. */
static void add_lifetimes(OwnedDetails *owned, GHashTable *index,
			  guint32 class_id)
{
	const KmtTopCounts *now = owned->snapshot->now;
	guint32 site = now->classes[class_id].site;
	guint i, n = g_hash_table_size(index);

	if (index_of(index, site, n) != n)
		return;
	for (i = 0; i < KMT_TOP_LIFETIME_BUCKETS; i++)
		owned->buckets[i] += now->lifetimes[site][i];
}

static gboolean has_lifetimes(KmtTopGrouping grouping)
{
	return grouping != KMT_TOP_BY_CACHE && grouping != KMT_TOP_BY_COMMAND;
}

static void fill_lifetimes(OwnedDetails *owned)
{
	guint first = 0, last = KMT_TOP_LIFETIME_BUCKETS, i;

	while (first < last && !owned->buckets[first])
		first++;
	while (last > first && !owned->buckets[last - 1])
		last--;
	for (i = first; i < last; i++) {
		const KmtTopLifetime lifetime = {
			.from_ns = i ? G_GUINT64_CONSTANT(1) << (i - 1) : 0,
			.until_ns = G_GUINT64_CONSTANT(1) << i,
			.frees = owned->buckets[i]};

		g_array_append_val(owned->lifetimes, lifetime);
	}
}

/* Add the classes of the row; return the number of them, and the call site of
 * the last. */
static guint add_classes(OwnedDetails *owned, const KmtTopQuery *query,
			 guint64 id, guint64 *call_site)
{
	KmtTopSnapshot *s = owned->snapshot;
	g_autoptr(KmtMatchIntern) sizes =
		kmt_match_intern_new(sizeof(KmtMatchSize) / sizeof(guint64));
	g_autoptr(GHashTable) lifetimes = index_new();
	g_autoptr(GHashTable) commands = index_new(), caches = index_new();
	g_autoptr(GHashTable) sites = index_new();
	GHashTable *const indexes[] = {commands, caches, sites};
	guint32 i;
	guint n = 0, j;

	for (i = 0; i < s->now->n; i++) {
		KmtMatchKey key = kmt_match_keys_of_class(s->keys, i);
		KmtTopKind kind = kmt_top_query_kind(query, key.type);

		if (kind != kmt_top_row_kind(id) ||
		    kmt_top_query_row(s, query, i, &key, kind) != id)
			continue;
		n++;
		*call_site = key.call_site;
		kmt_top_snapshot_add(s, i, &owned->details.row.figures);
		add_size(owned, sizes, i);
		for (j = 0; j < G_N_ELEMENTS(indexes); j++)
			add_part(owned, j, indexes[j], i, &key);
		if (has_lifetimes(query->grouping))
			add_lifetimes(owned, lifetimes, i);
	}
	return n;
}

static int compare_figures(const KmtTopFigures *a, const KmtTopFigures *b)
{
	if (a->live_bytes != b->live_bytes)
		return a->live_bytes < b->live_bytes ? 1 : -1;
	return a->allocs < b->allocs ? 1 : -(a->allocs > b->allocs);
}

static gint compare_sizes(gconstpointer a, gconstpointer b)
{
	const KmtTopSize *x = a, *y = b;
	int order = compare_figures(&x->figures, &y->figures);

	return order ? order : x->bytes_req < y->bytes_req ? -1 : 1;
}

static gint compare_parts(gconstpointer a, gconstpointer b)
{
	const KmtTopPart *x = a, *y = b;
	int order = compare_figures(&x->figures, &y->figures);

	return order ? order : g_strcmp0(x->name, y->name);
}

static void finish_details(OwnedDetails *owned)
{
	KmtTopDetails *d = &owned->details;
	guint i, j;

	kmt_top_snapshot_set_rates(owned->snapshot, &d->row.figures);
	for (i = 0; i < owned->sizes->len; i++)
		kmt_top_snapshot_set_rates(
			owned->snapshot,
			&g_array_index(owned->sizes, KmtTopSize, i).figures);
	g_array_sort(owned->sizes, compare_sizes);
	for (j = 0; j < G_N_ELEMENTS(owned->parts); j++) {
		for (i = 0; i < owned->parts[j]->len; i++)
			kmt_top_snapshot_set_rates(
				owned->snapshot,
				&g_array_index(owned->parts[j], KmtTopPart, i)
					 .figures);
		g_array_sort(owned->parts[j], compare_parts);
	}
	fill_lifetimes(owned);
	d->sizes = (gpointer)owned->sizes->data;
	d->n_sizes = owned->sizes->len;
	d->commands = (gpointer)owned->parts[0]->data;
	d->n_commands = owned->parts[0]->len;
	d->caches = (gpointer)owned->parts[1]->data;
	d->n_caches = owned->parts[1]->len;
	d->call_sites = (gpointer)owned->parts[2]->data;
	d->n_call_sites = owned->parts[2]->len;
	d->lifetimes = (gpointer)owned->lifetimes->data;
	d->n_lifetimes = owned->lifetimes->len;
}

KmtTopDetails *kmt_top_details_new(KmtTopSnapshot *snapshot,
				   const KmtTopQuery *query, guint64 id)
{
	OwnedDetails *owned = g_new0(OwnedDetails, 1);
	KmtTopDetails *d = &owned->details;
	guint64 call_site = 0;
	guint i;

	owned->snapshot = kmt_top_snapshot_ref(snapshot);
	owned->sizes = g_array_new(FALSE, FALSE, sizeof(KmtTopSize));
	owned->lifetimes = g_array_new(FALSE, FALSE, sizeof(KmtTopLifetime));
	for (i = 0; i < G_N_ELEMENTS(owned->parts); i++)
		owned->parts[i] = g_array_new(FALSE, FALSE, sizeof(KmtTopPart));
	if (!add_classes(owned, query, id, &call_site)) {
		kmt_top_details_free(d);
		return NULL;
	}
	d->row.id = id;
	d->row.kind = kmt_top_row_kind(id);
	d->row.name =
		kmt_top_names_text(snapshot->names, kmt_top_row_group(id));
	if (query->grouping == KMT_TOP_BY_CALL_SITE) {
		KmtTopSite site =
			kmt_top_names_site(snapshot->names, call_site);

		d->source = site.source;
		d->directory = site.directory;
		d->module = site.module;
	}
	finish_details(owned);
	return d;
}

void kmt_top_details_free(KmtTopDetails *details)
{
	OwnedDetails *owned = (OwnedDetails *)details;
	guint i;

	if (!details)
		return;
	g_array_unref(owned->sizes);
	g_array_unref(owned->lifetimes);
	for (i = 0; i < G_N_ELEMENTS(owned->parts); i++)
		g_array_unref(owned->parts[i]);
	kmt_top_snapshot_unref(owned->snapshot);
	g_free(owned);
}
