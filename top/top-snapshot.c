// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/top-snapshot.h"

#include <string.h>

KmtTopSnapshot *kmt_top_snapshot_new(KmtTopNames *names,
				     const KmtMatchKeys *keys,
				     KmtTopCounts *now, KmtTopCounts *before)
{
	KmtTopSnapshot *snapshot = g_new0(KmtTopSnapshot, 1);

	snapshot->refs = 1;
	snapshot->names = names;
	snapshot->keys = keys;
	snapshot->now = kmt_top_counts_ref(now);
	snapshot->before = before ? kmt_top_counts_ref(before) : NULL;
	return snapshot;
}

void kmt_top_snapshot_set_header(KmtTopSnapshot *s, const KmtTopHeader *header)
{
	KmtTopHeader *copy = &s->header;

	*copy = *header;
	copy->source = s->source = g_strdup(header->source);
	copy->kernel = s->kernel = g_strdup(header->kernel);
	copy->input = s->input = g_strdup(header->input);
	copy->end_reason = s->end_reason = g_strdup(header->end_reason);
	copy->capture_path = s->capture_path = g_strdup(header->capture_path);
	copy->capture_error = s->capture_error =
		g_strdup(header->capture_error);
	s->not_seen = g_strdupv((char **)header->not_seen);
	copy->not_seen = (const char *const *)s->not_seen;
}

const KmtTopHeader *kmt_top_snapshot_header(const KmtTopSnapshot *snapshot)
{
	return &snapshot->header;
}

KmtTopSnapshot *kmt_top_snapshot_ref(KmtTopSnapshot *snapshot)
{
	g_atomic_int_inc(&snapshot->refs);
	return snapshot;
}

void kmt_top_snapshot_unref(KmtTopSnapshot *s)
{
	if (!s || !g_atomic_int_dec_and_test(&s->refs))
		return;
	kmt_top_counts_unref(s->now);
	kmt_top_counts_unref(s->before);
	g_free(s->source);
	g_free(s->kernel);
	g_free(s->input);
	g_free(s->end_reason);
	g_free(s->capture_path);
	g_free(s->capture_error);
	g_strfreev(s->not_seen);
	g_free(s);
}

/* ---- figures ---- */

void kmt_top_snapshot_add(const KmtTopSnapshot *snapshot, guint32 class_id,
			  KmtTopFigures *figures)
{
	const KmtTopCount *now = &snapshot->now->classes[class_id];
	const KmtTopCount before = kmt_top_snapshot_before(snapshot, class_id);
	const KmtMatchSize size =
		kmt_match_keys_size_of_class(snapshot->keys, class_id);
	guint64 live = kmt_top_count_live(now);
	guint64 allocs = now->allocs - before.allocs;

	figures->allocs += now->allocs;
	figures->frees += now->frees;
	figures->alloc_bytes += now->allocs * size.alloc;
	figures->live_objects += live;
	figures->live_bytes += live * size.alloc;
	figures->wasted_bytes += (gint64)(live * (size.alloc - size.req));
	figures->interval_allocs += allocs;
	figures->interval_frees += now->frees - before.frees;
	figures->interval_bytes += allocs * size.alloc;
	figures->growth_bytes +=
		(gint64)((live - kmt_top_count_live(&before)) * size.alloc);
}

void kmt_top_snapshot_set_rates(const KmtTopSnapshot *snapshot,
				KmtTopFigures *figures)
{
	double seconds = snapshot->header.interval_s;

	if (!(seconds > 0))
		return;
	figures->allocs_per_s = (double)figures->interval_allocs / seconds;
	figures->frees_per_s = (double)figures->interval_frees / seconds;
	figures->bytes_per_s = (double)figures->interval_bytes / seconds;
}

/* ---- queries ---- */

static KmtTopKind kind_of_type(guint type)
{
	switch (type) {
	case KMEMTRACE_TYPE_KMALLOC:
		return KMT_TOP_KMALLOC;
	case KMEMTRACE_TYPE_CACHE:
		return KMT_TOP_CACHE;
	case KMEMTRACE_TYPE_PAGES:
		return KMT_TOP_PAGES;
	case KMEMTRACE_TYPE_PERCPU:
		return KMT_TOP_PERCPU;
	default:
		return KMT_TOP_VMALLOC;
	}
}

KmtTopKind kmt_top_query_kind(const KmtTopQuery *query, guint type)
{
	KmtTopKind kind = kind_of_type(type);
	gboolean is_slab = kind == KMT_TOP_KMALLOC || kind == KMT_TOP_CACHE;

	if (query->kind == kind)
		return kind;
	if (query->kind != KMT_TOP_ALL_KINDS &&
	    !(query->kind == KMT_TOP_SLAB && is_slab))
		return KMT_TOP_ALL_KINDS;
	if (is_slab && query->grouping != KMT_TOP_BY_CALL_SITE &&
	    query->grouping != KMT_TOP_BY_CACHE)
		return KMT_TOP_SLAB;
	return kind;
}

guint64 kmt_top_query_row(const KmtTopSnapshot *snapshot,
			  const KmtTopQuery *query, guint32 class_id,
			  const KmtMatchKey *key, KmtTopKind kind)
{
	guint32 group = kmt_top_names_group(
		snapshot->names, query->grouping, key,
		kmt_match_keys_size_of_class(snapshot->keys, class_id).alloc);

	return (guint64)group * KMT_TOP_N_KINDS + kind;
}

/* ---- names of enumerators ---- */

static const char *const groupings[KMT_TOP_N_GROUPINGS] = {
	[KMT_TOP_BY_CALL_SITE] = "callsite",  [KMT_TOP_BY_CACHE] = "cache",
	[KMT_TOP_BY_COMMAND] = "comm",	      [KMT_TOP_BY_MODULE] = "module",
	[KMT_TOP_BY_DIRECTORY] = "directory",
};

static const char *const kinds[KMT_TOP_N_KINDS] = {
	[KMT_TOP_ALL_KINDS] = "all",   [KMT_TOP_SLAB] = "slab",
	[KMT_TOP_KMALLOC] = "kmalloc", [KMT_TOP_CACHE] = "cache",
	[KMT_TOP_PAGES] = "pages",     [KMT_TOP_PERCPU] = "percpu",
	[KMT_TOP_VMALLOC] = "vmalloc",
};

static const char *const orders[KMT_TOP_N_ORDERS] = {
	[KMT_TOP_ORDER_RATE] = "rate",	   [KMT_TOP_ORDER_LIVE] = "live",
	[KMT_TOP_ORDER_WASTED] = "wasted", [KMT_TOP_ORDER_GROWTH] = "growth",
	[KMT_TOP_ORDER_ALLOCS] = "allocs", [KMT_TOP_ORDER_NAME] = "name",
};

static gboolean parse(const char *const *names, guint n, const char *name,
		      guint *value)
{
	for (*value = 0; *value < n; ++*value)
		if (!strcmp(names[*value], name))
			return TRUE;
	return FALSE;
}

const char *kmt_top_grouping_name(KmtTopGrouping grouping)
{
	return groupings[grouping];
}

const char *kmt_top_kind_name(KmtTopKind kind)
{
	return kinds[kind];
}

const char *kmt_top_order_name(KmtTopOrder order)
{
	return orders[order];
}

gboolean kmt_top_grouping_parse(const char *name, KmtTopGrouping *grouping)
{
	guint value;

	if (!parse(groupings, G_N_ELEMENTS(groupings), name, &value))
		return FALSE;
	*grouping = (KmtTopGrouping)value;
	return TRUE;
}

gboolean kmt_top_kind_parse(const char *name, KmtTopKind *kind)
{
	guint value;

	if (!parse(kinds, G_N_ELEMENTS(kinds), name, &value))
		return FALSE;
	*kind = (KmtTopKind)value;
	return TRUE;
}

gboolean kmt_top_order_parse(const char *name, KmtTopOrder *order)
{
	guint value;

	if (!parse(orders, G_N_ELEMENTS(orders), name, &value))
		return FALSE;
	*order = (KmtTopOrder)value;
	return TRUE;
}
