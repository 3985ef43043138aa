// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/finding-counts.h"
#include "lib/base/hash.h"

struct KmtFindingCounts {
	GHashTable *entries; /* set of KmtFindingCount */
	guint64 seed;	     /* seed of the hash */
};

static guint entry_hash(gconstpointer data)
{
	return ((const KmtFindingCount *)data)->hash;
}

static guint hash_key(const KmtFindingCounts *finding_counts,
		      const KmtFindingCount *key)
{
	guint64 h = kmt_hash(finding_counts->seed, key->first.site.address);

	h = kmt_hash(h, key->second.site.address);
	return (guint)kmt_hash(h, key->class * 64 + key->first.kind * 8 +
					  key->second.kind);
}

static gboolean entry_equal(gconstpointer a, gconstpointer b)
{
	const KmtFindingCount *x = a, *y = b;

	return x->class == y->class &&
	       kmt_finding_site_equal(&x->first, &y->first) &&
	       kmt_finding_site_equal(&x->second, &y->second);
}

KmtFindingCounts *kmt_finding_counts_new(void)
{
	KmtFindingCounts *finding_counts = g_new0(KmtFindingCounts, 1);

	finding_counts->seed = kmt_hash_seed();
	finding_counts->entries =
		g_hash_table_new_full(entry_hash, entry_equal, g_free, NULL);
	return finding_counts;
}

void kmt_finding_counts_free(KmtFindingCounts *finding_counts)
{
	if (!finding_counts)
		return;
	g_hash_table_unref(finding_counts->entries);
	g_free(finding_counts);
}

guint64 *kmt_finding_counts_count(KmtFindingCounts *finding_counts,
				  KmtFindingClass class,
				  const KmtFindingSite *first,
				  const KmtFindingSite *second)
{
	KmtFindingCount key = {.class = class, .first = *first}, *entry;

	if (second)
		key.second = *second;
	key.hash = hash_key(finding_counts, &key);
	entry = g_hash_table_lookup(finding_counts->entries, &key);
	if (!entry) {
		entry = g_new(KmtFindingCount, 1);
		*entry = key;
		g_hash_table_add(finding_counts->entries, entry);
	}
	return &entry->count;
}

int kmt_finding_site_compare(const KmtFindingSite *a, const KmtFindingSite *b)
{
	if (a->site.address != b->site.address)
		return a->site.address < b->site.address ? -1 : 1;
	if (a->site.tag != b->site.tag)
		return a->site.tag < b->site.tag ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static int compare_entries(gconstpointer a, gconstpointer b)
{
	const KmtFindingCount *x = *(const KmtFindingCount *const *)a;
	const KmtFindingCount *y = *(const KmtFindingCount *const *)b;
	int order;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	order = kmt_finding_site_compare(&x->first, &y->first);
	return order ? order : kmt_finding_site_compare(&x->second, &y->second);
}

GPtrArray *kmt_finding_counts_list(const KmtFindingCounts *finding_counts,
				   KmtFindingClass class)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, finding_counts->entries);
	while (g_hash_table_iter_next(&iter, &data, NULL)) {
		KmtFindingCount *entry = data;

		if (entry->class == class)
			g_ptr_array_add(list, entry);
	}
	g_ptr_array_sort(list, compare_entries);
	return list;
}
