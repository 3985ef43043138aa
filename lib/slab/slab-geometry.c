// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/slab/geometry-private.h"

static gsize align_up(gsize n, gsize align)
{
	return (n + align - 1) & ~(align - 1);
}

gsize kmt_slab_kmalloc_size(const KmtSlabKernel *kernel, gsize size)
{
	gsize class = kernel->kmalloc_min;

	if (size == 0)
		return 0;
	if (size > kernel->kmalloc_max) {
		class = kernel->page_size;
		while (class && class < size)
			class <<= 1;
		return class;
	}
	/* The sizes 96 and 192 exist if objects may have their alignment. */
	if (size > 64 && size <= 96 && kernel->kmalloc_min <= 32)
		return 96;
	if (size > 128 && size <= 192 && kernel->kmalloc_min <= 64)
		return 192;
	while (class < size)
		class <<= 1;
	return class;
}

gsize kmt_slab_kmalloc_smaller(const KmtSlabKernel *kernel, gsize size)
{
	gsize half = size / 2;

	if (size <= kernel->kmalloc_min || size > kernel->kmalloc_max ||
	    kmt_slab_kmalloc_size(kernel, size) != size)
		return 0;
	if (size == 96 || size == 192)
		return size / 3 * 2;
	/* Between a power of two and its half, there may be 96 or 192. */
	return kmt_slab_kmalloc_size(kernel, half + 1) != size
		       ? kmt_slab_kmalloc_size(kernel, half + 1)
		       : half;
}

/* Return the alignment of an object; see calculate_alignment(). */
static gsize object_align(const KmtSlabKernel *kernel,
			  const KmtSlabRequest *request)
{
	gsize align = request->align;
	gsize line = kernel->cache_line;

	if (request->is_line_aligned) {
		while (request->object_size <= line / 2)
			line /= 2;
		align = MAX(align, line);
	}
	return align_up(MAX(align, sizeof(guint64)), kernel->pointer_size);
}

/* Return the size of an object of SLUB; see calculate_sizes(). */
static gsize slub_size(const KmtSlabKernel *kernel,
		       const KmtSlabRequest *request)
{
	gsize size = align_up(request->object_size, kernel->pointer_size);

	/* The pointer to the next free object follows the object if the object
	 * must keep its content while it is free. */
	if ((request->has_constructor || request->is_rcu_typesafe) &&
	    !request->has_inner_pointer)
		size += kernel->pointer_size;
	return align_up(size, object_align(kernel, request));
}

gboolean kmt_slab_geometry_compute(const KmtSlabKernel *kernel,
				   const KmtSlabRequest *request,
				   KmtSlabGeometry *geometry)
{
	memset(geometry, 0, sizeof(*geometry));
	if (request->object_size == 0 ||
	    request->object_size > (gsize)kernel->page_size
					   << KMT_SLAB_LARGEST_ORDER)
		return FALSE;
	geometry->object_size = request->object_size;
	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SLAB) {
		geometry->size = align_up(request->object_size,
					  object_align(kernel, request));
		return kmt_slab_array_layout(kernel, request, geometry);
	}
	geometry->size = slub_size(kernel, request);
	if (!kmt_slab_slub_layout(kernel, geometry))
		return FALSE;
	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SHEAVES)
		geometry->sheaf_capacity =
			MAX(geometry->sheaf_capacity, request->sheaf_capacity);
	return TRUE;
}

gboolean kmt_slab_geometry_compute_kmalloc(const KmtSlabKernel *kernel,
					   gsize size,
					   KmtSlabGeometry *geometry)
{
	KmtSlabRequest request = {
		.object_size = size,
		.align = kernel->kmalloc_min > 8 ? kernel->kmalloc_min : 8};

	/* SLAB aligns the objects to cache lines: those of 96 bytes occupy 128
	 * bytes. */
	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SLAB) {
		request.align = sizeof(guint64);
		request.is_line_aligned = TRUE;
	}
	if ((size & (size - 1)) == 0 && size > request.align &&
	    size <= G_MAXUINT)
		request.align = (guint)size;
	return kmt_slab_geometry_compute(kernel, &request, geometry);
}

gboolean kmt_slab_geometry_set_layout(const KmtSlabKernel *kernel,
				      gsize object_size, gsize size,
				      guint objects, guint pages,
				      KmtSlabGeometry *geometry)
{
	memset(geometry, 0, sizeof(*geometry));
	if (object_size == 0 || size == 0 || objects == 0 || pages == 0 ||
	    (pages & (pages - 1)) || objects > KMT_SLAB_LARGEST_OBJECTS ||
	    pages > 1u << KMT_SLAB_LARGEST_ORDER ||
	    size > (gsize)pages * kernel->page_size / objects)
		return FALSE;
	geometry->object_size = object_size;
	geometry->size = size;
	geometry->objects = objects;
	while (1u << geometry->order < pages)
		geometry->order++;
	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SLAB)
		kmt_slab_array_limits(kernel, geometry);
	else
		kmt_slab_slub_limits(kernel, geometry);
	return TRUE;
}

void kmt_slab_overhead(const KmtSlabKernel *kernel,
		       const KmtSlabGeometry *geometry,
		       KmtSlabOverhead *overhead)
{
	memset(overhead, 0, sizeof(*overhead));
	overhead->descriptors =
		(gsize)kernel->descriptor_size + kernel->node_size;
	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SLAB)
		kmt_slab_array_overhead(kernel, geometry, overhead);
	else
		kmt_slab_slub_overhead(kernel, geometry, overhead);
}
