/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel and the caches of a capture, for the geometry and the simulator.
 */
#ifndef KMEMTRACE_SLAB_CAPTURE_CACHES_H
#define KMEMTRACE_SLAB_CAPTURE_CACHES_H

#include "lib/input/name-tables.h"
#include "lib/input/slab-table.h"
#include "lib/slab/slab-geometry.h"

/* Origin of the properties of a kernel. */
typedef enum {
	KMT_SLAB_KERNEL_UNKNOWN, /* the release is missing or before 6.1, or the
				  * allocator is neither SLUB nor SLAB */
	KMT_SLAB_KERNEL_ASSUMED, /* the capture is from a recorder that does not
				  * save the allocator; SLUB is assumed */
	KMT_SLAB_KERNEL_RECORDED,
} KmtSlabKernelOrigin;

/*
 * Set *kernel to the properties of the kernel that a capture was recorded on.
 * slabs is the table of the capture. *kernel is not valid if the result is
 * KMT_SLAB_KERNEL_UNKNOWN.
 */
KmtSlabKernelOrigin kmt_slab_kernel_of_capture(const KmtInputCapture *capture,
					       const KmtInputSlabTable *slabs,
					       KmtSlabKernel *kernel);

/*
 * Set *geometry to the layout of a cache of the capture: that of its row in
 * slabs, or else the layout that the kernel would compute for its size. Return
 * FALSE if the size is invalid. *is_recorded, unless NULL, is set to whether
 * the layout is that of a row.
 */
gboolean kmt_slab_geometry_of_cache(const KmtSlabKernel *kernel,
				    const KmtInputSlabTable *slabs,
				    const KmtInputCache *cache,
				    KmtSlabGeometry *geometry,
				    gboolean *is_recorded);

/*
 * Set *geometry to the layout of the kmalloc() cache of this size, which
 * kmt_slab_kmalloc_size() has returned, for these gfp flags: that of its row in
 * slabs, or else the layout that the kernel would compute. Return FALSE if the
 * size is invalid. *is_recorded, unless NULL, is set to whether the layout is
 * that of a row.
 */
gboolean kmt_slab_geometry_of_kmalloc(const KmtSlabKernel *kernel,
				      const KmtInputSlabTable *slabs,
				      gsize size, guint64 gfp,
				      KmtSlabGeometry *geometry,
				      gboolean *is_recorded);

/*
 * Set *active and *n_slabs to the figures of a cache in slabs, as
 * KmtInputSlabRow has them. If is_kmalloc is set, add those of the other
 * kmalloc() caches of the size: for memory cgroups, for DMA, and random copies,
 * but not for reclaimable memory, which kmt_slab_kmalloc_name() distinguishes.
 * Return FALSE if the cache has no row.
 */
gboolean kmt_slab_recorded_objects(const KmtInputSlabTable *slabs,
				   const char *name, gboolean is_kmalloc,
				   guint64 *active, guint64 *n_slabs);

/*
 * Return the name of the kmalloc() cache for objects of this size that were
 * allocated with these gfp flags: "kmalloc-1k", or "kmalloc-rcl-1k" for
 * reclaimable memory. The caches of memory cgroups and for DMA are not
 * distinguished. The caller frees the string.
 */
char *kmt_slab_kmalloc_name(gsize size, guint64 gfp);

#endif
