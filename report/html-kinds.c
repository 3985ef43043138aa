// SPDX-License-Identifier: GPL-2.0-or-later
/* The members of the HTML report that sum over call sites: kinds, lifetimes,
 * CPUs, and caches. */
#include "config.h"

#include "report/html-private.h"

#include <stdlib.h>
#include <string.h>

#define HEAT_ALLOWANCE	 350000
#define CACHES_ALLOWANCE 150000
#define POWERS		 KMT_HISTOGRAM_POWERS

void kmt_html_add_totals(KmtHtmlReport *html, const KmtTotals *t)
{
	KmtHtmlData *data = html->data;

	kmt_html_u64(data, "allocs", t->allocs);
	kmt_html_u64(data, "frees", t->frees);
	kmt_html_u64(data, "requested", t->bytes_req);
	kmt_html_u64(data, "allocated", t->bytes_alloc);
	kmt_html_i64(data, "wasted", (gint64)(t->bytes_alloc - t->bytes_req));
	kmt_html_u64(data, "cross_frees", t->cross_cpu_frees);
	kmt_html_u64(data, "live_objects", t->live_objects);
	kmt_html_u64(data, "live", t->live_bytes_alloc);
	kmt_html_u64(data, "live_requested", t->live_bytes_req);
}

static void add_kind(KmtHtmlReport *html, KmtKind kind)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	const KmtTotals *t = &aggregate->kinds[kind];
	KmtHtmlData *data = html->data;

	kmt_html_begin(data, NULL, '{');
	kmt_html_text(data, "kind", kmt_kind_name(kind));
	kmt_html_add_totals(html, t);
	kmt_html_u64(data, "peak", t->peak_bytes_alloc);
	if (aggregate->has_sequence_times || !t->peak_bytes_alloc)
		kmt_html_null(data, "peak_at_ns");
	else
		kmt_html_i64(
			data, "peak_at_ns",
			(gint64)((guint64)t->peak_timestamp -
				 (guint64)kmt_report_origin(html->report)));
	kmt_html_end(data, '}');
}

void kmt_html_add_kinds(KmtHtmlReport *html)
{
	guint i;

	kmt_html_begin(html->data, "kinds", '[');
	for (i = 0; i < html->n_kinds; i++)
		add_kind(html, html->kinds[i]);
	kmt_html_end(html->data, ']');
}

/* ---- lifetimes ---- */

static void add_powers(KmtHtmlReport *html, const char *key,
		       const guint64 counts[POWERS])
{
	guint i;

	kmt_html_begin(html->data, key, '[');
	for (i = 0; i < POWERS; i++) {
		if (!counts[i])
			continue;
		kmt_html_begin(html->data, NULL, '[');
		kmt_html_u64(html->data, NULL,
			     i ? G_GUINT64_CONSTANT(1) << i : 0);
		kmt_html_u64(html->data, NULL,
			     kmt_html_scaled(html, counts[i]));
		kmt_html_end(html->data, ']');
	}
	kmt_html_end(html->data, ']');
}

void kmt_html_add_histogram(KmtHtmlReport *html, const char *key,
			    const KmtHistogram *histogram)
{
	guint64 counts[POWERS] = {0};

	kmt_histogram_add_powers(histogram, counts);
	add_powers(html, key, counts);
}

void kmt_html_add_lifetimes(KmtHtmlReport *html)
{
	const KmtGroups *groups = html->report->aggregate->groups;
	guint64 counts[KMT_N_KINDS][POWERS] = {{0}};
	guint32 i;

	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);

		kmt_histogram_add_powers(&group->detail->lifetimes,
					 counts[group->kind]);
	}
	kmt_html_begin(html->data, "lifetimes", '[');
	for (i = 0; i < html->n_kinds; i++) {
		static const guint64 none[POWERS];

		if (!memcmp(counts[html->kinds[i]], none, sizeof(none)))
			continue;
		kmt_html_begin(html->data, NULL, '{');
		kmt_html_u64(html->data, "kind", i);
		add_powers(html, "histogram", counts[html->kinds[i]]);
		kmt_html_end(html->data, '}');
	}
	kmt_html_end(html->data, ']');
}

/* ---- CPUs ---- */

void kmt_html_add_heat(KmtHtmlReport *html)
{
	const KmtHistory *history = html->report->aggregate->history;
	GPtrArray *files = html->report->capture->files;
	KmtHtmlData *data = html->data;
	guint n = history->n_rows, i;
	gboolean fits = TRUE;

	kmt_html_begin(data, "heat", '{');
	kmt_html_begin(data, "cpus", '[');
	for (i = 0; i < n; i++) {
		const KmtInputCpuFile *file = files->pdata[i * history->block];

		kmt_html_u64(data, NULL, file->cpu);
	}
	kmt_html_end(data, ']');
	kmt_html_u64(data, "block", history->block);
	kmt_html_begin(data, "frees", '[');
	kmt_html_allow(data, HEAT_ALLOWANCE);
	for (i = 0; fits && i < n * n; i++) {
		if (!history->matrix[i])
			continue;
		kmt_html_begin_element(data);
		kmt_html_begin(data, NULL, '[');
		kmt_html_u64(data, NULL, i / n);
		kmt_html_u64(data, NULL, i % n);
		kmt_html_u64(data, NULL,
			     kmt_html_scaled(html, history->matrix[i]));
		kmt_html_end(data, ']');
		fits = kmt_html_fits(data);
	}
	kmt_html_end(data, ']');
	kmt_html_end(data, '}');
	if (history->block > 1)
		kmt_html_cut(data,
			     "A row of the CPUs stands for %u neighbours, "
			     "because there are %u CPUs.",
			     history->block, files->len);
	if (!fits)
		kmt_html_cut(data, "Some pairs of CPUs are left out.");
}

/* ---- caches ---- */

/* The figures of a cache. */
typedef struct {
	const char *name; /* owned by the groups */
	guint64 allocs, bytes_req, bytes_alloc;
	guint64 live_objects, live, live_req;
	KmtKind kind;
} CacheSum;

static guint cache_hash(gconstpointer key)
{
	const CacheSum *cache = key;

	return g_direct_hash(cache->name) * 31 + cache->kind;
}

static gboolean cache_equal(gconstpointer a, gconstpointer b)
{
	const CacheSum *x = a, *y = b;

	return x->name == y->name && x->kind == y->kind;
}

static gint compare_caches(gconstpointer a, gconstpointer b)
{
	const CacheSum *x = *(const CacheSum *const *)a;
	const CacheSum *y = *(const CacheSum *const *)b;

	if (x->bytes_alloc != y->bytes_alloc)
		return x->bytes_alloc > y->bytes_alloc ? -1 : 1;
	return x->kind != y->kind ? (gint)x->kind - (gint)y->kind
				  : strcmp(x->name, y->name);
}

/* Add the figures of a class to those of its cache. */
static void sum_cache(KmtHtmlReport *html, GHashTable *caches, guint32 class_id)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	const KmtHistoryClass *class = &aggregate->history->classes[class_id];
	KmtMatchSize size =
		kmt_match_keys_size_of_class(aggregate->keys, class_id);
	CacheSum key = {
		.name = kmt_html_class_text(html, class_id, KMT_BY_CACHE),
		.kind = (KmtKind) class->kind};
	CacheSum *cache = g_hash_table_lookup(caches, &key);

	if (!cache) {
		cache = g_memdup2(&key, sizeof(key));
		g_hash_table_add(caches, cache);
	}
	cache->allocs += class->allocs;
	cache->bytes_req += class->allocs * size.req;
	cache->bytes_alloc += class->allocs * size.alloc;
	cache->live_objects += class->live;
	cache->live += class->live * size.alloc;
	cache->live_req += class->live * size.req;
}

static void add_cache(KmtHtmlReport *html, const CacheSum *cache)
{
	KmtHtmlData *data = html->data;

	kmt_html_begin_element(data);
	kmt_html_begin(data, NULL, '{');
	kmt_html_name(data, "cache", cache->name);
	kmt_html_i64(data, "kind", html->kind_index[cache->kind]);
	kmt_html_u64(data, "allocs", kmt_html_scaled(html, cache->allocs));
	kmt_html_u64(data, "requested",
		     kmt_html_scaled(html, cache->bytes_req));
	kmt_html_u64(data, "allocated",
		     kmt_html_scaled(html, cache->bytes_alloc));
	kmt_html_u64(data, "live_objects",
		     kmt_html_scaled(html, cache->live_objects));
	kmt_html_u64(data, "live", kmt_html_scaled(html, cache->live));
	kmt_html_u64(data, "live_requested",
		     kmt_html_scaled(html, cache->live_req));
	kmt_html_end(data, '}');
}

void kmt_html_add_caches(KmtHtmlReport *html)
{
	const KmtHistory *history = html->report->aggregate->history;
	g_autoptr(GHashTable) caches =
		g_hash_table_new_full(cache_hash, cache_equal, g_free, NULL);
	g_autoptr(GPtrArray) list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer cache;
	guint32 i;

	for (i = 0; i < history->n_classes; i++)
		if (kmt_html_group_of_class(html, i) != KMT_NO_GROUP)
			sum_cache(html, caches, i);
	g_hash_table_iter_init(&iter, caches);
	while (g_hash_table_iter_next(&iter, &cache, NULL))
		g_ptr_array_add(list, cache);
	g_ptr_array_sort(list, compare_caches);
	kmt_html_begin(html->data, "caches", '[');
	kmt_html_allow(html->data, CACHES_ALLOWANCE);
	for (i = 0; i < list->len; i++) {
		add_cache(html, list->pdata[i]);
		if (!kmt_html_fits(html->data))
			break;
	}
	kmt_html_end(html->data, ']');
	if (i < list->len)
		kmt_html_cut(html->data,
			     "The largest %u of %u caches are shown.", i,
			     list->len);
}
