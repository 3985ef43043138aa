// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/cross.h"
#include "trace/hash.h"
#include "trace/space.h"

/* GLib's hash functions take no seed of ours. */
static guint pair_hash(gconstpointer p)
{
	return ((const KmtCrossPair *)p)->hash;
}

static gboolean pair_equal(gconstpointer a, gconstpointer b)
{
	const KmtCrossPair *x = a, *y = b;

	return x->alloc.address == y->alloc.address &&
	       x->alloc.kind == y->alloc.kind && x->free_site == y->free_site;
}

KmtCross *kmt_cross_new(guint n_cpus)
{
	KmtCross *cross = g_new0(KmtCross, 1);
	guint i;

	cross->seed = kmt_hash_seed();
	cross->n_cpus = n_cpus;
	for (i = 0; i < KMT_N_LAYERS; i++)
		cross->matrix[i] = g_new0(KmtCrossSum *, n_cpus);
	cross->pairs =
		g_hash_table_new_full(pair_hash, pair_equal, g_free, NULL);
	return cross;
}

void kmt_cross_free(KmtCross *cross)
{
	guint layer, i;

	if (!cross)
		return;
	for (layer = 0; layer < KMT_N_LAYERS; layer++) {
		for (i = 0; i < cross->n_cpus; i++)
			g_free(cross->matrix[layer][i]);
		g_free(cross->matrix[layer]);
	}
	g_hash_table_unref(cross->pairs);
	g_free(cross);
}

static gboolean add(KmtCrossSum *sum, guint64 bytes)
{
	sum->frees++;
	return __builtin_add_overflow(sum->bytes, bytes, &sum->bytes);
}

gboolean kmt_cross_add(KmtCross *cross, const KmtTallySite *alloc,
		       guint alloc_cpu, guint64 free_site, guint free_cpu,
		       guint64 bytes)
{
	/* kmt_layers is in the order of spaces. */
	KmtCrossSum **row =
		&cross->matrix[kmt_space_of(alloc->kind)][alloc_cpu];
	gboolean overflow;
	KmtCrossPair key = {.alloc = *alloc, .free_site = free_site}, *pair;

	if (!*row)
		*row = g_new0(KmtCrossSum, cross->n_cpus);
	overflow = add(&(*row)[free_cpu], bytes);
	if (alloc_cpu == free_cpu)
		return overflow;
	key.hash = (guint)kmt_hash(kmt_hash(cross->seed, alloc->address),
				   free_site + alloc->kind);
	pair = g_hash_table_lookup(cross->pairs, &key);
	if (!pair) {
		pair = g_new(KmtCrossPair, 1);
		*pair = key;
		g_hash_table_add(cross->pairs, pair);
	}
	return add(&pair->sum, bytes) || overflow;
}

static int compare_pairs(gconstpointer a, gconstpointer b)
{
	const KmtCrossPair *x = *(const KmtCrossPair *const *)a;
	const KmtCrossPair *y = *(const KmtCrossPair *const *)b;

	if (x->sum.bytes != y->sum.bytes)
		return x->sum.bytes > y->sum.bytes ? -1 : 1;
	if (x->sum.frees != y->sum.frees)
		return x->sum.frees > y->sum.frees ? -1 : 1;
	if (x->alloc.address != y->alloc.address)
		return x->alloc.address < y->alloc.address ? -1 : 1;
	if (x->free_site != y->free_site)
		return x->free_site < y->free_site ? -1 : 1;
	return (int)x->alloc.kind - (int)y->alloc.kind;
}

GPtrArray *kmt_cross_pairs(const KmtCross *cross)
{
	GPtrArray *pairs = g_ptr_array_new();
	GHashTableIter iter;
	gpointer pair;

	g_hash_table_iter_init(&iter, cross->pairs);
	while (g_hash_table_iter_next(&iter, &pair, NULL))
		g_ptr_array_add(pairs, pair);
	g_ptr_array_sort(pairs, compare_pairs);
	return pairs;
}
