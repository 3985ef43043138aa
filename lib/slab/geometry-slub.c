// SPDX-License-Identifier: GPL-2.0-or-later
/* Layout and limits of caches with SLUB; see calculate_order() of mm/slub.c. */
#include "config.h"

#include "lib/slab/geometry-private.h"

/* Largest order of a slab with several objects: PAGE_ALLOC_COSTLY_ORDER. */
#define SLUB_MAX_ORDER 3
/* Bounds of the number of partial slabs that a node keeps. */
#define MIN_PARTIAL 5
#define MAX_PARTIAL 10
/* Nodes of a cache in /sys/kernel/slab: a directory, 27 files, and a link with
 * the name of the cache. Each node is a struct kernfs_node of 128 bytes. */
#define SYSFS_NODES 29
#define SYSFS_BYTES 128

/* Return the smallest order with at least this number of bytes. */
static guint order_of(const KmtSlabKernel *kernel, gsize bytes)
{
	guint order = 0;

	while ((gsize)kernel->page_size << order < bytes)
		order++;
	return order;
}

/*
 * Return the smallest order from @first on with at most 1 / @fraction of the
 * slab unused, or SLUB_MAX_ORDER + 1 if there is none.
 */
static guint find_order(const KmtSlabKernel *kernel, gsize size, guint first,
			guint fraction)
{
	guint order = first;

	for (; order <= SLUB_MAX_ORDER; order++) {
		gsize bytes = (gsize)kernel->page_size << order;

		if (bytes % size <= bytes / fraction)
			break;
	}
	return order;
}

/* Until Linux 6.6, fewer objects are tried before more waste than 1/4. */
static guint order_before_6_7(const KmtSlabKernel *kernel, gsize size,
			      gsize objects)
{
	for (; objects > 1; objects--) {
		guint first = order_of(kernel, objects * size);

		for (guint fraction = 16; fraction >= 4; fraction /= 2) {
			guint order = find_order(kernel, size, first, fraction);

			if (order <= SLUB_MAX_ORDER)
				return order;
		}
	}
	return order_of(kernel, size);
}

static guint order_since_6_7(const KmtSlabKernel *kernel, gsize size,
			     gsize objects)
{
	guint first = order_of(kernel, objects * size);

	for (guint fraction = 16; fraction > 1; fraction /= 2) {
		guint order = find_order(kernel, size, first, fraction);

		if (order <= SLUB_MAX_ORDER)
			return order;
	}
	return order_of(kernel, size);
}

/* Return the number of bits of n, as fls() of the kernel. */
static guint bits(guint n)
{
	return n ? g_bit_storage(n) : 0;
}

gboolean kmt_slab_slub_layout(const KmtSlabKernel *kernel,
			      KmtSlabGeometry *geometry)
{
	gsize size = geometry->size;
	/* With one CPU, the kernel counts the CPUs that may be added later. */
	guint cpus = kernel->cpus > 1 ? kernel->cpus : kernel->possible_cpus;
	gsize wanted = 4 * (gsize)(bits(cpus) + 1);
	gsize most = ((gsize)kernel->page_size << SLUB_MAX_ORDER) / size;
	gsize objects;

	wanted = MIN(wanted, MAX(most, 1));
	if (kernel->page_size / size > KMT_SLAB_LARGEST_OBJECTS)
		geometry->order = 0;
	else
		geometry->order =
			kernel->release < KMT_SLAB_RELEASE(6, 7)
				? order_before_6_7(kernel, size, wanted)
				: order_since_6_7(kernel, size, wanted);
	objects = ((gsize)kernel->page_size << geometry->order) / size;
	geometry->objects = (guint)MIN(objects, KMT_SLAB_LARGEST_OBJECTS);
	kmt_slab_slub_limits(kernel, geometry);
	return geometry->order <= KMT_SLAB_LARGEST_ORDER;
}

/* Return the objects that a CPU may have in its partial slabs. */
static guint cpu_partial_objects(const KmtSlabKernel *kernel, gsize size)
{
	if (size >= kernel->page_size)
		return 6;
	if (size >= 1024)
		return 24;
	return size >= 256 ? 52 : 120;
}

/* Return the bytes of a sheaf without its objects: struct slab_sheaf. */
static gsize sheaf_head(const KmtSlabKernel *kernel)
{
	return 3 * (gsize)kernel->pointer_size + 8;
}

/* Return the objects of a sheaf, which fills an object of kmalloc(). */
static guint sheaf_capacity(const KmtSlabKernel *kernel, gsize size)
{
	gsize bytes;
	guint objects = 60;

	if (size >= kernel->page_size)
		objects = 4;
	else if (size >= 1024)
		objects = 12;
	else if (size >= 256)
		objects = 26;
	bytes = kmt_slab_kmalloc_size(
		kernel,
		sheaf_head(kernel) + (gsize)objects * kernel->pointer_size);
	return (guint)((bytes - sheaf_head(kernel)) / kernel->pointer_size);
}

void kmt_slab_slub_limits(const KmtSlabKernel *kernel,
			  KmtSlabGeometry *geometry)
{
	gsize size = geometry->size;
	guint partial = (bits((guint)size) - 1) / 2;

	geometry->min_partial = CLAMP(partial, MIN_PARTIAL, MAX_PARTIAL);
	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SHEAVES) {
		geometry->sheaf_capacity = sheaf_capacity(kernel, size);
		return;
	}
	/* The kernel assumes that partial slabs are half full. */
	geometry->cpu_partial_slabs = (cpu_partial_objects(kernel, size) * 2 +
				       geometry->objects - 1) /
				      geometry->objects;
}

void kmt_slab_slub_overhead(const KmtSlabKernel *kernel,
			    const KmtSlabGeometry *geometry,
			    KmtSlabOverhead *overhead)
{
	gsize bytes = 4 * (gsize)kernel->pointer_size;
	guint64 slabs = geometry->min_partial;

	if (geometry->sheaf_capacity) {
		guint64 sheaves =
			2 * (guint64)kernel->cpus + KMT_SLAB_MAX_FULL_SHEAVES;

		bytes += kmt_slab_kmalloc_size(
			kernel,
			sheaf_head(kernel) + (gsize)geometry->sheaf_capacity *
						     kernel->pointer_size);
		slabs += kmt_slab_slabs(geometry,
					sheaves * geometry->sheaf_capacity);
	} else {
		slabs += kernel->cpus;
	}
	overhead->per_cpu = bytes * kernel->possible_cpus;
	overhead->sysfs = SYSFS_NODES * SYSFS_BYTES;
	overhead->slabs_idle = (gsize)slabs * kmt_slab_bytes(kernel, geometry);
}
