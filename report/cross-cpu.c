// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/cross-cpu.h"
#include "lib/base/hash.h"

static const KmtCrossCpuCell *cell_at(const KmtCrossCpu *cross, guint32 number)
{
	return &g_array_index(cross->cells, KmtCrossCpuCell, number);
}

static guint64 hash_cell(const KmtCrossCpu *cross, const KmtCrossCpuCell *c)
{
	return kmt_hash(cross->seed, (guint64)c->layer << 32 |
					     (guint64)c->from << 16 | c->to);
}

static guint64 cell_hash(gconstpointer user, guint32 number)
{
	return hash_cell(user, cell_at(user, number));
}

static gboolean cell_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtCrossCpuCell *x = cell_at(user, number), *y = key;

	return x->layer == y->layer && x->from == y->from && x->to == y->to;
}

static const KmtCrossCpuPair *pair_at(const KmtCrossCpu *cross, guint32 number)
{
	return &g_array_index(cross->pairs, KmtCrossCpuPair, number);
}

static guint64 hash_pair(const KmtCrossCpu *cross, const KmtCrossCpuPair *p)
{
	return kmt_hash(kmt_hash(cross->seed, p->alloc.site.address),
			p->free_site + p->alloc.kind);
}

static guint64 pair_hash(gconstpointer user, guint32 number)
{
	return hash_pair(user, pair_at(user, number));
}

static gboolean pair_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtCrossCpuPair *x = pair_at(user, number), *y = key;

	return kmt_finding_site_equal(&x->alloc, &y->alloc) &&
	       x->free_site == y->free_site;
}

KmtCrossCpu *kmt_cross_cpu_new(guint n_cpus)
{
	KmtCrossCpu *cross = g_new0(KmtCrossCpu, 1);

	cross->seed = kmt_hash_seed();
	cross->n_cpus = n_cpus;
	cross->cells = g_array_new(FALSE, FALSE, sizeof(KmtCrossCpuCell));
	cross->pairs = g_array_new(FALSE, FALSE, sizeof(KmtCrossCpuPair));
	kmt_index_init(&cross->cell_index, cell_hash, cell_equal);
	kmt_index_init(&cross->pair_index, pair_hash, pair_equal);
	return cross;
}

void kmt_cross_cpu_free(KmtCrossCpu *cross)
{
	if (!cross)
		return;
	g_array_unref(cross->cells);
	g_array_unref(cross->pairs);
	kmt_index_clear(&cross->cell_index);
	kmt_index_clear(&cross->pair_index);
	g_free(cross);
}

/*
 * Add @bytes to sum->bytes. If the sum exceeds G_MAXUINT64, set it to
 * G_MAXUINT64 and return TRUE.
 */
static gboolean add_bytes(KmtCrossCpuSum *sum, guint64 bytes)
{
	if (!__builtin_add_overflow(sum->bytes, bytes, &sum->bytes))
		return FALSE;
	sum->bytes = G_MAXUINT64;
	return TRUE;
}

/*
 * Return the number of the entry with @key in @entries. If there is none,
 * append @key, whose sum must be 0, as a new entry.
 */
static guint32 find(const KmtCrossCpu *cross, KmtIndex *index, GArray *entries,
		    guint64 hash, gconstpointer key)
{
	guint32 n = kmt_index_find(index, cross, hash, key);

	if (n == KMT_INDEX_NONE) {
		n = entries->len;
		g_array_append_vals(entries, key, 1);
		kmt_index_add(index, cross, hash);
	}
	return n;
}

guint32 kmt_cross_cpu_find_cell(KmtCrossCpu *cross, const KmtCrossCpuCell *key)
{
	return find(cross, &cross->cell_index, cross->cells,
		    hash_cell(cross, key), key);
}

static gboolean add_to_pair(KmtCrossCpu *cross, guint32 number, guint64 bytes)
{
	return kmt_cross_cpu_sum_free(
		&g_array_index(cross->pairs, KmtCrossCpuPair, number).sum,
		bytes);
}

static KmtCrossCpuRecent *recent_pair(KmtCrossCpu *cross, guint32 class_id,
				      guint64 free_site)
{
	guint64 hash =
		(free_site + class_id) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	return &cross->recent_pairs[(hash >> 32) %
				    G_N_ELEMENTS(cross->recent_pairs)];
}

gboolean kmt_cross_cpu_add_recent(KmtCrossCpu *cross, guint32 class_id,
				  guint64 free_site, guint64 bytes,
				  gboolean *overflow)
{
	const KmtCrossCpuRecent *recent =
		recent_pair(cross, class_id, free_site);

	if (!recent->pair_plus_1 || recent->class_id != class_id ||
	    recent->free_site != free_site)
		return FALSE;
	*overflow = add_to_pair(cross, recent->pair_plus_1 - 1, bytes);
	return TRUE;
}

gboolean kmt_cross_cpu_add_pair(KmtCrossCpu *cross, guint32 class_id,
				const KmtFindingSite *alloc, guint64 free_site,
				guint64 bytes)
{
	const KmtCrossCpuPair key = {.alloc = *alloc, .free_site = free_site};
	guint32 n = find(cross, &cross->pair_index, cross->pairs,
			 hash_pair(cross, &key), &key);

	*recent_pair(cross, class_id, free_site) =
		(KmtCrossCpuRecent){free_site, class_id, n + 1};
	return add_to_pair(cross, n, bytes);
}

static int compare(guint64 a, guint64 b)
{
	return a < b ? -1 : a > b;
}

static int compare_cells(gconstpointer a, gconstpointer b)
{
	const KmtCrossCpuCell *x = a, *y = b;

	if (x->layer != y->layer)
		return compare(x->layer, y->layer);
	return x->from != y->from ? compare(x->from, y->from)
				  : compare(x->to, y->to);
}

void kmt_cross_cpu_sum_add(KmtCrossCpuSum *sum, const KmtCrossCpuSum *other)
{
	if (__builtin_add_overflow(sum->frees, other->frees, &sum->frees))
		sum->frees = G_MAXUINT64;
	add_bytes(sum, other->bytes);
}

static int compare_pairs(gconstpointer a, gconstpointer b)
{
	const KmtCrossCpuPair *x = a, *y = b;

	if (x->sum.bytes != y->sum.bytes)
		return compare(y->sum.bytes, x->sum.bytes);
	if (x->sum.frees != y->sum.frees)
		return compare(y->sum.frees, x->sum.frees);
	if (x->alloc.site.address != y->alloc.site.address)
		return compare(x->alloc.site.address, y->alloc.site.address);
	if (x->free_site != y->free_site)
		return compare(x->free_site, y->free_site);
	return kmt_finding_site_compare(&x->alloc, &y->alloc);
}

void kmt_cross_cpu_sort(KmtCrossCpu *cross)
{
	/* Sorting invalidates the array indexes in the hash tables. */
	kmt_index_clear(&cross->cell_index);
	kmt_index_clear(&cross->pair_index);
	g_array_sort(cross->cells, compare_cells);
	g_array_sort(cross->pairs, compare_pairs);
}
