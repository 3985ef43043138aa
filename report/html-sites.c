// SPDX-License-Identifier: GPL-2.0-or-later
/* The call sites of the HTML report, with all details of each. */
#include "config.h"

#include "report/html-private.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the call sites, without their series. */
#define ALLOWANCE 1700000
/* Number of caches, tasks and freeing call sites of one call site. */
#define MAX_PARTS 10

/* ---- caches and tasks of a call site ---- */

/* The part of a call site's allocations with one cache or task. */
typedef struct {
	const char *name; /* owned by the groups */
	guint64 allocs, bytes, live;
} SitePart;

static gint compare_parts(gconstpointer a, gconstpointer b)
{
	const SitePart *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->live != y->live)
		return x->live > y->live ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Return the parts (SitePart) of a group by @dimension, the largest first. The
 * caller owns the array. */
static GArray *parts_of(const KmtHtmlReport *html, guint32 group,
			KmtDimension dimension)
{
	const KmtAggregate *aggregate = html->report->aggregate;
	g_autoptr(GHashTable) index = g_hash_table_new(NULL, NULL);
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(SitePart));
	guint32 i;

	for (i = html->class_start[group]; i < html->class_start[group + 1];
	     i++) {
		guint32 id = html->classes[i];
		const KmtHistoryClass *class = &aggregate->history->classes[id];
		guint64 bytes =
			kmt_match_keys_size_of_class(aggregate->keys, id).alloc;
		SitePart part = {kmt_html_class_text(html, id, dimension),
				 class->allocs, class->allocs * bytes,
				 class->live * bytes};
		guint at =
			GPOINTER_TO_UINT(g_hash_table_lookup(index, part.name));
		SitePart *sum;

		if (!at) {
			g_array_append_val(parts, part);
			g_hash_table_insert(index, (gpointer)part.name,
					    GUINT_TO_POINTER(parts->len));
			continue;
		}
		sum = &g_array_index(parts, SitePart, at - 1);
		sum->allocs += part.allocs;
		sum->bytes += part.bytes;
		sum->live += part.live;
	}
	g_array_sort(parts, compare_parts);
	return parts;
}

static void add_parts(KmtHtmlReport *html, const char *key, guint32 group,
		      KmtDimension dimension)
{
	g_autoptr(GArray) parts = parts_of(html, group, dimension);
	guint i;

	kmt_html_begin(html->data, key, '[');
	for (i = 0; i < MIN(parts->len, MAX_PARTS); i++) {
		const SitePart *part = &g_array_index(parts, SitePart, i);

		kmt_html_begin(html->data, NULL, '[');
		kmt_html_name(html->data, NULL, part->name);
		kmt_html_u64(html->data, NULL,
			     kmt_html_scaled(html, part->allocs));
		kmt_html_u64(html->data, NULL,
			     kmt_html_scaled(html, part->bytes));
		kmt_html_u64(html->data, NULL,
			     kmt_html_scaled(html, part->live));
		kmt_html_end(html->data, ']');
	}
	kmt_html_end(html->data, ']');
}

/* ---- freeing call sites ---- */

static gint compare_pairs(gconstpointer a, gconstpointer b)
{
	const KmtHistoryPair *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->frees != y->frees)
		return x->frees > y->frees ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

/* Return the pairs (KmtHistoryPair) by group, the most frequent first. The
 * caller owns the array. */
static GArray *sorted_pairs(const KmtHistory *history)
{
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(KmtHistoryPair));
	guint32 i;

	for (i = 0; i < history->n_slots; i++)
		if (history->pairs[i].frees)
			g_array_append_val(pairs, history->pairs[i]);
	g_array_sort(pairs, compare_pairs);
	return pairs;
}

/* Return the index of the first pair of a group or of a later group. */
static guint first_pair(const GArray *pairs, guint32 group)
{
	guint low = 0, high = pairs->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(pairs, KmtHistoryPair, middle).group < group)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_freed_by(KmtHtmlReport *html, guint32 group,
			 const GArray *pairs)
{
	guint first = first_pair(pairs, group), i;

	kmt_html_begin(html->data, "freed_by", '[');
	for (i = first; i < pairs->len && i < first + MAX_PARTS; i++) {
		const KmtHistoryPair *pair =
			&g_array_index(pairs, KmtHistoryPair, i);
		const KmtSymSite site = {.address = pair->site};
		g_autofree char *name = kmt_html_site_name(html, &site);

		if (pair->group != group)
			break;
		kmt_html_begin(html->data, NULL, '[');
		kmt_html_name(html->data, NULL, name);
		kmt_html_u64(html->data, NULL,
			     kmt_html_scaled(html, pair->frees));
		kmt_html_end(html->data, ']');
	}
	kmt_html_end(html->data, ']');
}

/* ---- call sites ---- */

static void add_location(KmtHtmlReport *html, guint32 group)
{
	const KmtSymbolizer *symbolizer = html->report->symbolizer;
	KmtSymSite site = kmt_html_group_site(html, group);
	g_autofree char *name = kmt_html_site_name(html, &site);
	g_autofree char *address =
		g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", site.address);
	g_autofree char *line = NULL;
	KmtSymbol symbol = {0};
	KmtSymSourceLine source = {0};

	kmt_symbolizer_symbol(symbolizer, &site, &symbol);
	if (kmt_symbolizer_source(symbolizer, &site, &source) && source.file)
		line = g_strdup_printf("%s:%u", source.file, source.line);
	kmt_html_name(html->data, "site", name);
	kmt_html_text(html->data, "address", address);
	kmt_html_name(html->data, "module", symbol.module);
	kmt_html_name(html->data, "dir", html->directories[group]);
	kmt_html_name(html->data, "source", line);
}

/* Return the index of a group in the leaks, or -1. */
static gint leak_of(const KmtHtmlReport *html, const KmtGroup *group)
{
	guint i;

	for (i = 0; i < html->leaks->len; i++)
		if (g_array_index(html->leaks, KmtLeak, i).group == group)
			return (gint)i;
	return -1;
}

static void add_site(KmtHtmlReport *html, guint32 number, const GArray *pairs)
{
	const KmtGroup *group =
		kmt_groups_at(html->report->aggregate->groups, number);
	KmtHtmlData *data = html->data;

	kmt_html_begin(data, NULL, '{');
	kmt_html_i64(data, "kind", html->kind_index[group->kind]);
	add_location(html, number);
	kmt_html_add_totals(html, &group->totals);
	kmt_html_u64(data, "peak", group->totals.peak_bytes_alloc);
	kmt_html_u64(data, "short_lived", group->detail->short_lived);
	kmt_html_u64(data, "deferred",
		     group->deferred ? group->deferred->bytes : 0);
	kmt_html_add_histogram(html, "lifetimes", &group->detail->lifetimes);
	kmt_html_add_histogram(html, "sizes", &group->detail->sizes);
	kmt_html_add_histogram(html, "ages", &group->detail->ages);
	add_parts(html, "caches", number, KMT_BY_CACHE);
	add_parts(html, "tasks", number, KMT_BY_COMM);
	add_freed_by(html, number, pairs);
	kmt_html_i64(data, "leak", leak_of(html, group));
	kmt_html_end(data, '}');
}

/* Add the sums of the call sites from index @from on. */
static void add_rest(KmtHtmlReport *html, guint32 from)
{
	KmtTotals rest[KMT_N_KINDS] = {{0}};
	guint32 n[KMT_N_KINDS] = {0}, i;

	for (i = from; i < html->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(
			html->report->aggregate->groups, html->groups[i]);

		kmt_totals_add(&rest[group->kind], &group->totals);
		n[group->kind]++;
	}
	kmt_html_begin(html->data, "sites_rest", '[');
	for (i = 0; i < html->n_kinds; i++) {
		if (!n[html->kinds[i]])
			continue;
		kmt_html_begin(html->data, NULL, '{');
		kmt_html_u64(html->data, "kind", i);
		kmt_html_u64(html->data, "n", n[html->kinds[i]]);
		kmt_html_add_totals(html, &rest[html->kinds[i]]);
		kmt_html_end(html->data, '}');
	}
	kmt_html_end(html->data, ']');
}

void kmt_html_add_sites(KmtHtmlReport *html)
{
	const KmtHistory *history = html->report->aggregate->history;
	g_autoptr(GArray) pairs = sorted_pairs(history);
	guint32 i;

	kmt_html_begin(html->data, "sites", '[');
	kmt_html_allow(html->data, ALLOWANCE);
	for (i = 0; i < html->n_groups; i++) {
		kmt_html_begin_element(html->data);
		add_site(html, html->groups[i], pairs);
		if (!kmt_html_fits(html->data))
			break;
		html->site_of[html->groups[i]] = (gint32)i;
	}
	html->n_sites = i;
	kmt_html_end(html->data, ']');
	add_rest(html, i);
	if (i < html->n_groups)
		kmt_html_cut(html->data,
			     "The table has %u of %u call sites: those with "
			     "most memory and allocations. The sums of the "
			     "others are shown by kind.",
			     i, html->n_groups);
	if (history->unpaired)
		kmt_html_cut(html->data,
			     "For %" G_GUINT64_FORMAT
			     " frees, the pair of call sites is not shown, "
			     "because there are too many pairs.",
			     history->unpaired);
}
