/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules of each allocator for the layout and the limits of a cache. */
#ifndef KMEMTRACE_SLAB_GEOMETRY_PRIVATE_H
#define KMEMTRACE_SLAB_GEOMETRY_PRIVATE_H

#include "lib/slab/slab-geometry.h"

/* Largest order of a block of pages that the kernel allocates. */
#define KMT_SLAB_LARGEST_ORDER 10
/* Largest number of objects in a slab; MAX_OBJS_PER_PAGE of mm/slub.c. */
#define KMT_SLAB_LARGEST_OBJECTS 32767
/* Largest number of full sheaves in the barn of a node; MAX_FULL_SHEAVES of
 * mm/slub.c. */
#define KMT_SLAB_MAX_FULL_SHEAVES 10

/*
 * Compute order, objects and the limits of a SLUB cache from geometry->size.
 * Return FALSE if an object is larger than the largest block of pages.
 */
gboolean kmt_slab_slub_layout(const KmtSlabKernel *kernel,
			      KmtSlabGeometry *geometry);
/* Compute the limits of a SLUB cache from its size and objects. */
void kmt_slab_slub_limits(const KmtSlabKernel *kernel,
			  KmtSlabGeometry *geometry);
/* Compute the overhead of a SLUB cache except the descriptors. */
void kmt_slab_slub_overhead(const KmtSlabKernel *kernel,
			    const KmtSlabGeometry *geometry,
			    KmtSlabOverhead *overhead);

/*
 * Compute order, objects and the limits of a SLAB cache from geometry->size,
 * which grows if it is below the smallest size of an object. Return FALSE if no
 * order is possible.
 */
gboolean kmt_slab_array_layout(const KmtSlabKernel *kernel,
			       const KmtSlabRequest *request,
			       KmtSlabGeometry *geometry);
/* Compute the limits of a SLAB cache from its size and objects. */
void kmt_slab_array_limits(const KmtSlabKernel *kernel,
			   KmtSlabGeometry *geometry);
/* Compute the overhead of a SLAB cache except the descriptors. */
void kmt_slab_array_overhead(const KmtSlabKernel *kernel,
			     const KmtSlabGeometry *geometry,
			     KmtSlabOverhead *overhead);

#endif
