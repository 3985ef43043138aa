// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/slab/slab-pool.h"

#define LARGEST_POOL (1u << 31)

void kmt_slab_pool_init(KmtSlabPool *pool)
{
	pool->n_allocated = 1024;
	pool->slabs = g_new0(KmtSimulatedSlab, pool->n_allocated);
	pool->n = 1;
	pool->unused = 0;
}

void kmt_slab_pool_clear(KmtSlabPool *pool)
{
	g_clear_pointer(&pool->slabs, g_free);
}

guint32 kmt_slab_pool_take(KmtSlabPool *pool, guint16 n)
{
	guint32 slab = pool->unused;

	if (slab) {
		pool->unused = pool->slabs[slab].next;
	} else {
		if (pool->n == pool->n_allocated) {
			if (pool->n_allocated >= LARGEST_POOL)
				g_error("more than 2^31 slabs are live");
			pool->n_allocated *= 2;
			pool->slabs = g_renew(KmtSimulatedSlab, pool->slabs,
					      pool->n_allocated);
		}
		slab = pool->n++;
	}
	pool->slabs[slab] = (KmtSimulatedSlab){.free = n};
	return slab;
}

void kmt_slab_pool_put(KmtSlabPool *pool, guint32 slab)
{
	pool->slabs[slab] = (KmtSimulatedSlab){.next = pool->unused};
	pool->unused = slab;
}

void kmt_slab_list_prepend(KmtSlabPool *pool, KmtSlabList *list, guint32 slab)
{
	pool->slabs[slab].previous = 0;
	pool->slabs[slab].next = list->first;
	if (list->first)
		pool->slabs[list->first].previous = slab;
	else
		list->last = slab;
	list->first = slab;
	list->n++;
}

void kmt_slab_list_append(KmtSlabPool *pool, KmtSlabList *list, guint32 slab)
{
	pool->slabs[slab].next = 0;
	pool->slabs[slab].previous = list->last;
	if (list->last)
		pool->slabs[list->last].next = slab;
	else
		list->first = slab;
	list->last = slab;
	list->n++;
}

void kmt_slab_list_remove(KmtSlabPool *pool, KmtSlabList *list, guint32 slab)
{
	const KmtSimulatedSlab *s = &pool->slabs[slab];

	if (s->previous)
		pool->slabs[s->previous].next = s->next;
	else
		list->first = s->next;
	if (s->next)
		pool->slabs[s->next].previous = s->previous;
	else
		list->last = s->previous;
	list->n--;
}
