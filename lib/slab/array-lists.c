// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SLAB: each CPU has an array of free objects, all CPUs share another one, and
 * the node has lists of partial and of empty slabs. See cache_alloc_refill(),
 * cache_flusharray() and cache_reap() of mm/slab.c.
 */
#include "config.h"

#include <string.h>

#include "lib/slab/simulator-private.h"

/* Most objects that a CPU takes if its array was not used for some time. */
#define SMALL_BATCH 16

/* Slabs of free objects; the last one is used first. */
typedef struct {
	guint32 n;
	gboolean is_touched; /* used since the timer expired last */
	guint32 *slabs;
} FreeArray;

/* State of the node beside its lists. */
typedef struct {
	FreeArray shared;
	/* Free objects, as the kernel counts them in free_objects. */
	gint64 free_objects;
	gboolean is_touched; /* an empty slab was used since the timer expired
			      * last */
} ArrayNode;

/* Return the slab that is first on a list, or 0. */
static guint32 first_slab(KmtSimulatedCache *cache)
{
	ArrayNode *node = cache->node;

	if (cache->partial.first)
		return cache->partial.first;
	node->is_touched = TRUE;
	return cache->empty.first;
}

/* Remove a slab from the list that it is on. */
static void unlink_slab(KmtSimulatedCache *cache, guint32 slab)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];

	if (s->on == KMT_SIMULATED_ON_PARTIAL)
		kmt_slab_list_remove(cache->pool, &cache->partial, slab);
	else if (s->on == KMT_SIMULATED_ON_EMPTY)
		kmt_slab_list_remove(cache->pool, &cache->empty, slab);
	s->on = KMT_SIMULATED_ON_NONE;
}

/*
 * Move up to @batch objects of a slab that is on no list to an array, and put
 * the slab on a list if objects remain. Return the objects that were moved.
 */
static guint take_block(KmtSimulatedCache *cache, FreeArray *array,
			guint32 slab, guint batch)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];
	guint n = MIN(s->free, batch);

	for (guint i = 0; i < n; i++)
		array->slabs[array->n++] = slab;
	s->free = (guint16)(s->free - n);
	if (s->free) {
		s->on = KMT_SIMULATED_ON_PARTIAL;
		kmt_slab_list_prepend(cache->pool, &cache->partial, slab);
	}
	return n;
}

/* Move objects from the shared array to that of a CPU. */
static guint take_shared(FreeArray *array, FreeArray *shared, guint batch,
			 guint limit)
{
	guint n = MIN(MIN(shared->n, batch), limit - array->n);

	memcpy(array->slabs + array->n, shared->slabs + shared->n - n,
	       n * sizeof(guint32));
	shared->n -= n;
	array->n += n;
	return n;
}

/* Fill the empty array of a CPU. */
static void refill(KmtSimulatedCache *cache, FreeArray *array)
{
	const KmtSlabGeometry *geometry = &cache->geometry;
	ArrayNode *node = cache->node;
	guint batch = array->is_touched ? geometry->batch
					: MIN(geometry->batch, SMALL_BATCH);
	guint32 slab;

	if (take_shared(array, &node->shared, batch, geometry->limit)) {
		node->shared.is_touched = TRUE;
		return;
	}
	if (node->free_objects) {
		while (batch && (slab = first_slab(cache))) {
			unlink_slab(cache, slab);
			batch -= take_block(cache, array, slab, batch);
		}
		node->free_objects -= array->n;
	}
	if (array->n)
		return;
	slab = kmt_simulated_cache_grow(cache);
	take_block(cache, array, slab, batch);
	node->free_objects += geometry->objects - array->n;
}

/* Free an empty slab: the one that has been empty for the longest time. */
static void free_empty_slab(KmtSimulatedCache *cache)
{
	ArrayNode *node = cache->node;
	guint32 slab = cache->empty.last;

	node->free_objects -= cache->geometry.objects;
	unlink_slab(cache, slab);
	kmt_simulated_cache_shrink(cache, slab);
}

/* Return the n oldest objects of an array to their slabs; see free_block(). */
static void free_block(KmtSimulatedCache *cache, FreeArray *array, guint n)
{
	ArrayNode *node = cache->node;

	node->free_objects += n;
	for (guint i = 0; i < n; i++) {
		guint32 slab = array->slabs[i];
		KmtSimulatedSlab *s = &cache->pool->slabs[slab];

		unlink_slab(cache, slab);
		if (++s->free == cache->geometry.objects) {
			s->on = KMT_SIMULATED_ON_EMPTY;
			kmt_slab_list_prepend(cache->pool, &cache->empty, slab);
		} else {
			s->on = KMT_SIMULATED_ON_PARTIAL;
			kmt_slab_list_append(cache->pool, &cache->partial,
					     slab);
		}
	}
	while (node->free_objects > cache->geometry.free_limit &&
	       cache->empty.last)
		free_empty_slab(cache);
}

/* Remove the n oldest objects from an array. */
static void remove_oldest(FreeArray *array, guint n)
{
	array->n -= n;
	memmove(array->slabs, array->slabs + n, array->n * sizeof(guint32));
}

/* Make room in the full array of a CPU; see cache_flusharray(). */
static void flush(KmtSimulatedCache *cache, FreeArray *array)
{
	ArrayNode *node = cache->node;
	guint n = cache->geometry.batch;
	guint room = cache->geometry.shared - node->shared.n;

	if (room) {
		n = MIN(n, room);
		memcpy(node->shared.slabs + node->shared.n, array->slabs,
		       n * sizeof(guint32));
		node->shared.n += n;
	} else {
		free_block(cache, array, n);
	}
	remove_oldest(array, n);
}

static guint32 array_alloc(KmtSimulatedCache *cache, gpointer data)
{
	FreeArray *array = data;

	if (!array->n)
		refill(cache, array);
	array->is_touched = TRUE;
	return array->slabs[--array->n];
}

static void array_release(KmtSimulatedCache *cache, guint32 slab, gpointer data)
{
	FreeArray *array = data;

	if (array->n == cache->geometry.limit)
		flush(cache, array);
	array->slabs[array->n++] = slab;
}

/* Free a part of an array that was not used; see drain_array(). */
static void drain(KmtSimulatedCache *cache, FreeArray *array, guint limit)
{
	guint n = (limit + 4) / 5;

	if (!array->n)
		return;
	if (array->is_touched) {
		array->is_touched = FALSE;
		return;
	}
	if (n > array->n)
		n = (array->n + 1) / 2;
	free_block(cache, array, n);
	remove_oldest(array, n);
}

/* Free a part of the empty slabs if none was used; see cache_reap(). */
static void reap_node(KmtSimulatedCache *cache)
{
	const KmtSlabGeometry *geometry = &cache->geometry;
	ArrayNode *node = cache->node;
	guint n = (geometry->free_limit + 5 * geometry->objects - 1) /
		  (5 * geometry->objects);

	drain(cache, &node->shared, geometry->shared);
	if (node->is_touched) {
		node->is_touched = FALSE;
		return;
	}
	while (n-- && cache->empty.last)
		free_empty_slab(cache);
}

static void array_reap(KmtSimulatedCache *cache, gpointer data,
		       gboolean has_node)
{
	if (data)
		drain(cache, data, cache->geometry.limit);
	if (has_node)
		reap_node(cache);
}

static void array_init_node(KmtSimulatedCache *cache)
{
	ArrayNode *node = g_new0(ArrayNode, 1);

	node->shared.slabs = g_new0(guint32, cache->geometry.shared);
	cache->node = node;
}

static void array_clear_node(KmtSimulatedCache *cache)
{
	ArrayNode *node = cache->node;

	g_free(node->shared.slabs);
	g_free(node);
}

static void array_init_cpu(KmtSimulatedCache *cache, gpointer data)
{
	FreeArray *array = data;

	array->slabs = g_new0(guint32, cache->geometry.limit);
}

static void array_clear_cpu(G_GNUC_UNUSED KmtSimulatedCache *cache,
			    gpointer data)
{
	FreeArray *array = data;

	g_free(array->slabs);
}

static guint64 array_listed_free(const KmtSimulatedCache *cache)
{
	const ArrayNode *node = cache->node;

	return node->free_objects > 0 ? (guint64)node->free_objects : 0;
}

const KmtSlabRules kmt_slab_rules_arrays = {
	.cpu_size = sizeof(FreeArray),
	.alloc = array_alloc,
	.release = array_release,
	.reap = array_reap,
	.listed_free = array_listed_free,
	.init_node = array_init_node,
	.clear_node = array_clear_node,
	.init_cpu = array_init_cpu,
	.clear_cpu = array_clear_cpu,
};
