// SPDX-License-Identifier: GPL-2.0-or-later
/* Slabs that a simulated cache takes, returns, and keeps on its lists. */
#include "config.h"

#include "lib/slab/simulator-private.h"

guint32 kmt_simulated_cache_grow(KmtSimulatedCache *cache)
{
	KmtSlabFigures *figures = &cache->figures, *totals = cache->totals;
	guint64 pages = 1ull << cache->geometry.order;

	figures->slabs++;
	figures->new_slabs++;
	figures->empty_slabs++;
	figures->pages += pages;
	figures->peak_pages = MAX(figures->peak_pages, figures->pages);
	totals->slabs++;
	totals->new_slabs++;
	totals->pages += pages;
	totals->peak_pages = MAX(totals->peak_pages, totals->pages);
	return kmt_slab_pool_take(cache->pool,
				  (guint16)cache->geometry.objects);
}

void kmt_simulated_cache_shrink(KmtSimulatedCache *cache, guint32 slab)
{
	guint64 pages = 1ull << cache->geometry.order;

	cache->figures.slabs--;
	cache->figures.empty_slabs--;
	cache->figures.pages -= pages;
	cache->totals->slabs--;
	cache->totals->pages -= pages;
	kmt_slab_pool_put(cache->pool, slab);
}

void kmt_simulated_cache_list(KmtSimulatedCache *cache, guint32 slab,
			      gboolean at_end)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];

	s->on = KMT_SIMULATED_ON_PARTIAL;
	cache->figures.listed_free += s->free;
	if (at_end)
		kmt_slab_list_append(cache->pool, &cache->partial, slab);
	else
		kmt_slab_list_prepend(cache->pool, &cache->partial, slab);
}

void kmt_simulated_cache_unlist(KmtSimulatedCache *cache, guint32 slab)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];

	s->on = KMT_SIMULATED_ON_NONE;
	cache->figures.listed_free -= s->free;
	kmt_slab_list_remove(cache->pool, &cache->partial, slab);
}

void kmt_simulated_cache_free_listed(KmtSimulatedCache *cache, guint32 slab)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];
	gboolean is_listed = s->on == KMT_SIMULATED_ON_PARTIAL;
	gboolean is_empty = s->free + 1u == cache->geometry.objects;

	/* The slab itself counts if it is on the list, as in __slab_free(). */
	if (is_empty && cache->partial.n >= cache->geometry.min_partial) {
		if (is_listed)
			kmt_simulated_cache_unlist(cache, slab);
		kmt_simulated_cache_shrink(cache, slab);
		return;
	}
	s->free++;
	if (is_listed)
		cache->figures.listed_free++;
	else
		kmt_simulated_cache_list(cache, slab, TRUE);
}
