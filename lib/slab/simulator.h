/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A simulation of the slab allocator: in which slab the allocator would place
 * each object, and which slabs it would hold.
 *
 * The caller reports each allocation and each free with its CPU in the order in
 * which they happened. The simulator follows the kernel's lists: the slab and
 * the partial slabs of each CPU (SLUB), the sheaves and the barn (SLUB since
 * 7.0), or the arrays and the lists of full, partial and free slabs (SLAB). It
 * has one NUMA node. Memory is proportional to the slabs and to the lists of
 * the CPUs; a live object takes no memory beside its handle.
 *
 * docs/limits.md lists the differences from the kernel.
 */
#ifndef KMEMTRACE_SLAB_SIMULATOR_H
#define KMEMTRACE_SLAB_SIMULATOR_H

#include "lib/slab/slab-geometry.h"

typedef struct KmtSlabSimulator KmtSlabSimulator;

/* Identifies a live object for its free; any number but 0. */
typedef guint32 KmtSlabHandle;

/* The figures of one cache, or the sum of all caches. */
typedef struct {
	guint64 objects;       /* live objects */
	guint64 slabs;	       /* slabs, including empty slabs */
	guint64 partial_slabs; /* slabs with at least one live and one free
				* object */
	guint64 empty_slabs;   /* slabs without a live object */
	guint64 pages;	       /* pages of all slabs */
	guint64 listed_free;  /* free objects in slabs on the lists of the node;
			       * /proc/slabinfo counts all others as active */
	guint64 peak_objects; /* largest number of live objects */
	guint64 peak_pages;   /* largest number of pages at any moment */
	guint64 new_slabs; /* slabs that were taken from the page allocator */
} KmtSlabFigures;

/* Create a simulator without caches. *kernel is copied. */
KmtSlabSimulator *kmt_slab_simulator_new(const KmtSlabKernel *kernel);
void kmt_slab_simulator_free(KmtSlabSimulator *simulator);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSlabSimulator, kmt_slab_simulator_free)

/*
 * Add a cache with this layout, and return its index: 0 for the first one. The
 * cache has no slabs. *geometry is copied.
 */
guint kmt_slab_simulator_add(KmtSlabSimulator *simulator,
			     const KmtSlabGeometry *geometry);

/*
 * Allocate an object of a cache on a CPU. CPUs are numbered from 0; the number
 * may exceed kernel->cpus. g_error() reports more than 2^31 slabs.
 */
KmtSlabHandle kmt_slab_simulator_alloc(KmtSlabSimulator *simulator, guint cache,
				       guint cpu);

/*
 * Free an object of a cache on a CPU. handle is the result of the allocation
 * from the same cache; each handle is freed at most once for each time that it
 * was returned.
 */
void kmt_slab_simulator_release(KmtSlabSimulator *simulator, guint cache,
				KmtSlabHandle handle, guint cpu);

/*
 * Report the time of the next event in ns, which must not decrease. SLAB frees
 * unused arrays and slabs by a timer; without this call, the timer never
 * expires. The call has no effect on SLUB.
 */
void kmt_slab_simulator_advance(KmtSlabSimulator *simulator, gint64 time);

/* Compute the figures of one cache at this moment. */
void kmt_slab_simulator_figures(const KmtSlabSimulator *simulator, guint cache,
				KmtSlabFigures *figures);

/*
 * Compute the sums over all caches at this moment. The peaks are those of the
 * sums.
 */
void kmt_slab_simulator_totals(const KmtSlabSimulator *simulator,
			       KmtSlabFigures *figures);

/* Return the pages of all slabs at this moment, in constant time. */
guint64 kmt_slab_simulator_pages(const KmtSlabSimulator *simulator);

#endif
