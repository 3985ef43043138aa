// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/finding-counts.h"
#include "lib/base/hash.h"

struct KmtTally {
	GHashTable *entries; /* of KmtTallyEntry, key and value in one */
	guint64 seed;	     /* of the hash */
};

static guint entry_hash(gconstpointer data)
{
	return ((const KmtTallyEntry *)data)->hash;
}

static guint hash_key(const KmtTally *tally, const KmtTallyEntry *key)
{
	guint64 h = kmt_hash(tally->seed, key->first.address);

	h = kmt_hash(h, key->second.address);
	return (guint)kmt_hash(h, key->class * 64 + key->first.kind * 8 +
					  key->second.kind);
}

static gboolean entry_equal(gconstpointer a, gconstpointer b)
{
	const KmtTallyEntry *x = a, *y = b;

	return x->class == y->class && x->first.address == y->first.address &&
	       x->first.kind == y->first.kind &&
	       x->second.address == y->second.address &&
	       x->second.kind == y->second.kind;
}

KmtTally *kmt_tally_new(void)
{
	KmtTally *tally = g_new0(KmtTally, 1);

	tally->seed = kmt_hash_seed();
	tally->entries =
		g_hash_table_new_full(entry_hash, entry_equal, g_free, NULL);
	return tally;
}

void kmt_tally_free(KmtTally *tally)
{
	if (!tally)
		return;
	g_hash_table_unref(tally->entries);
	g_free(tally);
}

guint64 *kmt_tally_count(KmtTally *tally, KmtTallyClass class,
			 const KmtTallySite *first, const KmtTallySite *second)
{
	KmtTallyEntry key = {.class = class, .first = *first}, *entry;

	if (second)
		key.second = *second;
	key.hash = hash_key(tally, &key);
	entry = g_hash_table_lookup(tally->entries, &key);
	if (!entry) {
		entry = g_new(KmtTallyEntry, 1);
		*entry = key;
		g_hash_table_add(tally->entries, entry);
	}
	return &entry->count;
}

static int compare_sites(const KmtTallySite *a, const KmtTallySite *b)
{
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static int compare_entries(gconstpointer a, gconstpointer b)
{
	const KmtTallyEntry *x = *(const KmtTallyEntry *const *)a;
	const KmtTallyEntry *y = *(const KmtTallyEntry *const *)b;
	int order;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	order = compare_sites(&x->first, &y->first);
	return order ? order : compare_sites(&x->second, &y->second);
}

GPtrArray *kmt_tally_list(const KmtTally *tally, KmtTallyClass class)
{
	GPtrArray *list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer data;

	g_hash_table_iter_init(&iter, tally->entries);
	while (g_hash_table_iter_next(&iter, &data, NULL)) {
		KmtTallyEntry *entry = data;

		if (entry->class == class)
			g_ptr_array_add(list, entry);
	}
	g_ptr_array_sort(list, compare_entries);
	return list;
}
