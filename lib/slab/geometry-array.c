// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layout and limits of caches with SLAB, whose CPUs have arrays of free
 * objects; see __kmem_cache_create() and enable_cpucache() of mm/slab.c.
 */
#include "config.h"

#include "lib/slab/geometry-private.h"

/* Smallest size of an object if the index of an object has one byte. */
#define SMALLEST_OBJECT 16
/* Bytes of struct array_cache without its objects. */
#define ARRAY_HEAD 16

/* Location of the index of a slab's free objects. */
typedef enum {
	INDEX_IN_OBJECT, /* in a free object */
	INDEX_OUTSIDE,	 /* in an object of kmalloc() */
	INDEX_IN_SLAB,	 /* behind the objects */
} IndexLocation;

/* Return the bytes of the index for one object: freelist_idx_t. */
static gsize index_size(const KmtSlabKernel *kernel)
{
	return kernel->page_size >> 8 <= SMALLEST_OBJECT ? 1 : 2;
}

/* Return the objects of a slab, and set the bytes that remain. */
static gsize count_objects(const KmtSlabKernel *kernel, gsize size, guint order,
			   IndexLocation location, gsize *left)
{
	gsize bytes = (gsize)kernel->page_size << order;

	if (location == INDEX_IN_SLAB)
		size += index_size(kernel);
	*left = bytes % size;
	return bytes / size;
}

/* Return whether an index outside the slab is small compared to the object. */
static gboolean is_outside_worthwhile(const KmtSlabKernel *kernel, gsize size,
				      gsize objects)
{
	return kmt_slab_kmalloc_size(kernel, objects * index_size(kernel)) <=
	       size / 2;
}

/*
 * Choose the order for an index at this location. Set geometry->objects to 0 if
 * no order is possible. Return the bytes of a slab that remain.
 */
static gsize choose_order(const KmtSlabKernel *kernel,
			  const KmtSlabRequest *request,
			  KmtSlabGeometry *geometry, IndexLocation location)
{
	gsize most = ((gsize)1 << 8 * index_size(kernel)) - 1;
	gsize left = 0;

	geometry->objects = 0;
	for (guint order = 0; order <= KMT_SLAB_LARGEST_ORDER; order++) {
		gsize rest;
		gsize n = count_objects(kernel, geometry->size, order, location,
					&rest);

		if (n == 0)
			continue;
		if (n > most)
			break;
		if (location == INDEX_OUTSIDE &&
		    !is_outside_worthwhile(kernel, geometry->size, n))
			continue;
		geometry->objects = (guint)n;
		geometry->order = order;
		left = rest;
		if (request->is_reclaim_account ||
		    order >= kernel->slab_max_order ||
		    left * 8 <= (gsize)kernel->page_size << order)
			break;
	}
	return left;
}

/* Try each location of the index in the kernel's order of preference. */
static gboolean choose_location(const KmtSlabKernel *kernel,
				const KmtSlabRequest *request,
				KmtSlabGeometry *geometry)
{
	gsize left, index;

	if (!request->has_constructor && !request->is_rcu_typesafe) {
		choose_order(kernel, request, geometry, INDEX_IN_OBJECT);
		if (geometry->objects &&
		    geometry->objects * index_size(kernel) <=
			    geometry->object_size)
			return TRUE;
	}
	left = choose_order(kernel, request, geometry, INDEX_OUTSIDE);
	index = geometry->objects * index_size(kernel);
	if (geometry->objects && left < index) {
		geometry->off_slab = kmt_slab_kmalloc_size(kernel, index);
		return TRUE;
	}
	choose_order(kernel, request, geometry, INDEX_IN_SLAB);
	return geometry->objects != 0;
}

gboolean kmt_slab_array_layout(const KmtSlabKernel *kernel,
			       const KmtSlabRequest *request,
			       KmtSlabGeometry *geometry)
{
	if (index_size(kernel) == 1)
		geometry->size = MAX(geometry->size, SMALLEST_OBJECT);
	if (!choose_location(kernel, request, geometry))
		return FALSE;
	kmt_slab_array_limits(kernel, geometry);
	return TRUE;
}

void kmt_slab_array_limits(const KmtSlabKernel *kernel,
			   KmtSlabGeometry *geometry)
{
	gsize size = geometry->size;

	if (size > 131072)
		geometry->limit = 1;
	else if (size > kernel->page_size)
		geometry->limit = 8;
	else if (size > 1024)
		geometry->limit = 24;
	else if (size > 256)
		geometry->limit = 54;
	else
		geometry->limit = 120;
	geometry->batch = (geometry->limit + 1) / 2;
	if (size <= kernel->page_size && kernel->possible_cpus > 1)
		geometry->shared = 8 * geometry->batch;
	geometry->free_limit =
		(1 + kernel->cpus) * geometry->batch + geometry->objects;
}

void kmt_slab_array_overhead(const KmtSlabKernel *kernel,
			     const KmtSlabGeometry *geometry,
			     KmtSlabOverhead *overhead)
{
	gsize pointer = kernel->pointer_size;

	overhead->per_cpu = kernel->possible_cpus *
			    (ARRAY_HEAD + geometry->limit * pointer);
	if (geometry->shared)
		overhead->per_cpu += kmt_slab_kmalloc_size(
			kernel, ARRAY_HEAD + geometry->shared * pointer);
	overhead->slabs_idle =
		(gsize)kmt_slab_slabs(
			geometry,
			(guint64)geometry->free_limit + geometry->shared +
				(guint64)kernel->cpus * geometry->limit) *
		kmt_slab_bytes(kernel, geometry);
}
