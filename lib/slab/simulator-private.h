/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A simulated cache, and the functions that each allocator implements. */
#ifndef KMEMTRACE_SLAB_SIMULATOR_PRIVATE_H
#define KMEMTRACE_SLAB_SIMULATOR_PRIVATE_H

#include "lib/slab/simulator.h"
#include "lib/slab/slab-pool.h"

typedef struct KmtSimulatedCache KmtSimulatedCache;

/* The functions of an allocator. */
typedef struct {
	gsize cpu_size; /* bytes of the state of a cache for one CPU */
	/* Return the slab of a new object. The caller counts the object. */
	guint32 (*alloc)(KmtSimulatedCache *cache, gpointer cpu);
	/* Free an object of a slab. The caller has counted the free. */
	void (*release)(KmtSimulatedCache *cache, guint32 slab, gpointer cpu);
	/* Run the periodic work of a CPU, and, if has_node, that of the node.
	 * cpu is NULL if the CPU has not used the cache. The member is NULL if
	 * the allocator has no periodic work. */
	void (*reap)(KmtSimulatedCache *cache, gpointer cpu, gboolean has_node);
	/* Return the free objects that /proc/slabinfo does not count as active;
	 * NULL: cache->figures has their number. */
	guint64 (*listed_free)(const KmtSimulatedCache *cache);
	/* Initialise cache->node; NULL if there is none. */
	void (*init_node)(KmtSimulatedCache *cache);
	void (*clear_node)(KmtSimulatedCache *cache);
	void (*init_cpu)(KmtSimulatedCache *cache, gpointer cpu);
	void (*clear_cpu)(KmtSimulatedCache *cache, gpointer cpu);
} KmtSlabRules;

struct KmtSimulatedCache {
	KmtSlabGeometry geometry;
	KmtSlabPool *pool;	    /* slabs of all caches */
	KmtSlabFigures *totals;	    /* sums of all caches */
	KmtSlabFigures figures;	    /* without partial_slabs; listed_free counts
				     * the free objects on the node's lists */
	guint64 full_slabs;	    /* slabs whose objects are all live */
	KmtSlabList partial, empty; /* lists of the node */
	gpointer node;		    /* further state of the node */
	gpointer *cpus;		    /* state of each CPU; NULL: not used yet */
	guint n_cpus;
};

extern const KmtSlabRules kmt_slab_rules_slub, kmt_slab_rules_sheaves,
	kmt_slab_rules_arrays;

/* Take a slab from the page allocator. All of its objects are free. */
guint32 kmt_simulated_cache_grow(KmtSimulatedCache *cache);
/* Return a slab that is on no list to the page allocator. */
void kmt_simulated_cache_shrink(KmtSimulatedCache *cache, guint32 slab);

/*
 * Move a slab that is on no list of the node to the partial list, and count its
 * free objects as listed. kmt_simulated_cache_unlist() reverses this.
 */
void kmt_simulated_cache_list(KmtSimulatedCache *cache, guint32 slab,
			      gboolean at_end);
void kmt_simulated_cache_unlist(KmtSimulatedCache *cache, guint32 slab);

/*
 * Free an object of a slab that no CPU has, as SLUB does: the slab moves to the
 * partial list or back to the page allocator.
 */
void kmt_simulated_cache_free_listed(KmtSimulatedCache *cache, guint32 slab);

#endif
