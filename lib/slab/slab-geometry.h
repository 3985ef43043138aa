/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout that the slab allocators of Linux give a cache: the size of an
 * object with its padding, the pages of a slab, the objects of a slab, and the
 * limits of the lists that keep free objects and free slabs.
 *
 * The rules are those of mm/slub.c since Linux 6.1, and of mm/slab.c of Linux
 * 6.1. Debug options of the kernel, such as red zones, and kernel parameters,
 * such as slub_min_order, are unknown here. A cache that exists has its exact
 * layout in /proc/slabinfo; see kmt_slab_geometry_set_layout().
 */
#ifndef KMEMTRACE_SLAB_GEOMETRY_H
#define KMEMTRACE_SLAB_GEOMETRY_H

#include <glib.h>

typedef enum {
	KMT_SLAB_ALLOCATOR_SLUB,    /* SLUB with a slab for each CPU, to 6.19 */
	KMT_SLAB_ALLOCATOR_SHEAVES, /* SLUB with sheaves for each CPU, since 7.0
				     */
	KMT_SLAB_ALLOCATOR_SLAB,    /* SLAB, to 6.7 */
} KmtSlabAllocator;

/* Number for the kernel release major.minor; it grows with the release. */
#define KMT_SLAB_RELEASE(major, minor) ((guint)(major)*1000u + (guint)(minor))

/* The properties of a kernel that decide on the layout of its caches. */
typedef struct {
	KmtSlabAllocator allocator;
	guint release;	       /* KMT_SLAB_RELEASE() */
	guint page_size;       /* bytes; a power of two */
	guint pointer_size;    /* bytes of a pointer: 4 or 8 */
	guint cpus;	       /* number of CPUs; at least 1 */
	guint possible_cpus;   /* CPUs with per-CPU memory; at least cpus */
	guint cache_line;      /* bytes; a power of two */
	guint kmalloc_min;     /* smallest size of kmalloc(); a power of two */
	gsize kmalloc_max;     /* largest size of kmalloc() that has a cache */
	guint descriptor_size; /* bytes of struct kmem_cache in its slab */
	guint node_size;       /* bytes of struct kmem_cache_node in its slab */
	guint slab_max_order; /* SLAB only: largest order of a slab with several
			       * objects; 1 with more than 32 MiB of memory */
} KmtSlabKernel;

/* The arguments of kmem_cache_create(). */
typedef struct {
	gsize object_size;	  /* bytes; at least 1 */
	guint align;		  /* bytes; 0 or a power of two */
	gboolean is_line_aligned; /* SLAB_HWCACHE_ALIGN */
	gboolean has_constructor;
	gboolean is_rcu_typesafe;    /* SLAB_TYPESAFE_BY_RCU */
	gboolean is_reclaim_account; /* SLAB_RECLAIM_ACCOUNT */
	gboolean has_inner_pointer; /* use_freeptr_offset: a free object has the
				     * pointer to the next one inside */
	guint sheaf_capacity; /* least objects of a sheaf; 0: usual number */
} KmtSlabRequest;

/* The layout and the limits of one cache. */
typedef struct {
	gsize object_size; /* bytes that the user of an object may use */
	gsize size;	   /* bytes that an object occupies in its slab */
	guint order;	   /* a slab has 1 << order pages */
	guint objects;	   /* objects of a slab; at least 1 */
	/* SLUB, with and without sheaves */
	guint min_partial; /* empty slabs are kept while the node has fewer
			    * partial slabs */
	/* SLUB without sheaves */
	guint cpu_partial_slabs; /* limit of the partial slabs of a CPU */
	/* SLUB with sheaves */
	guint sheaf_capacity; /* objects of a sheaf; 0: no sheaves */
	/* SLAB */
	guint limit;  /* objects in the array of a CPU */
	guint batch;  /* objects moved to and from the array at once */
	guint shared; /* objects in the array that all CPUs share; 0: none */
	guint free_limit; /* free slabs are freed above this number of free
			   * objects */
	gsize off_slab;	  /* bytes that each slab occupies outside its pages */
} KmtSlabGeometry;

/* Memory that a cache occupies beside the slabs with its objects. */
typedef struct {
	gsize descriptors; /* struct kmem_cache and its per-node structures */
	gsize per_cpu; /* per-CPU structures, arrays and empty sheaves of all
			* CPUs */
	gsize sysfs;   /* files in /sys/kernel/slab; 0 with SLAB */
	/* Slabs that the cache may keep although no object needs them: the slab
	 * of each CPU and the empty slabs on the partial list. */
	gsize slabs_idle;
} KmtSlabOverhead;

/*
 * Initialise *kernel for a release such as "6.12.3-amd64" and a machine such as
 * "x86_64". page_size and pointer_size are in bytes; 0 selects the usual value
 * of the machine. Return FALSE if the release is invalid or older than 6.1.
 * is_slab selects SLAB instead of SLUB; since Linux 6.8, there is only SLUB.
 */
gboolean kmt_slab_kernel_init(KmtSlabKernel *kernel, const char *release,
			      const char *machine, gboolean is_slab, guint cpus,
			      guint page_size, guint pointer_size);

/*
 * Compute the layout of a cache that kmem_cache_create() would make. Return
 * FALSE if the object does not fit in a slab of the largest order.
 */
gboolean kmt_slab_geometry_compute(const KmtSlabKernel *kernel,
				   const KmtSlabRequest *request,
				   KmtSlabGeometry *geometry);

/*
 * Compute the layout of the kmalloc() cache of this size, which is a result of
 * kmt_slab_kmalloc_size() or a size of another set of kmalloc() sizes. Return
 * FALSE if an object does not fit in a slab of the largest order.
 */
gboolean kmt_slab_geometry_compute_kmalloc(const KmtSlabKernel *kernel,
					   gsize size,
					   KmtSlabGeometry *geometry);

/*
 * Set *geometry to the layout of an existing cache, as /proc/slabinfo and the
 * table of caches have it, and compute the limits from it. objects: objects of
 * a slab; pages: pages of a slab, a power of two. Return FALSE if a number is 0
 * or the objects do not fit in the pages.
 */
gboolean kmt_slab_geometry_set_layout(const KmtSlabKernel *kernel,
				      gsize object_size, gsize size,
				      guint objects, guint pages,
				      KmtSlabGeometry *geometry);

/*
 * Return the size of the kmalloc() cache for this request, or the bytes of a
 * power of two of pages above kernel->kmalloc_max; 0 for size 0.
 */
gsize kmt_slab_kmalloc_size(const KmtSlabKernel *kernel, gsize size);

/*
 * Return the size of the next smaller kmalloc() cache, or 0 if @size is that of
 * the smallest cache or not the size of a cache.
 */
gsize kmt_slab_kmalloc_smaller(const KmtSlabKernel *kernel, gsize size);

/* Compute the memory that a cache occupies beside its objects. */
void kmt_slab_overhead(const KmtSlabKernel *kernel,
		       const KmtSlabGeometry *geometry,
		       KmtSlabOverhead *overhead);

/* Return the number of slabs that n objects need at least. */
static inline guint64 kmt_slab_slabs(const KmtSlabGeometry *geometry, guint64 n)
{
	return n / geometry->objects + (n % geometry->objects != 0);
}

/* Return the bytes of a slab: its pages, and what is stored outside of them. */
static inline gsize kmt_slab_bytes(const KmtSlabKernel *kernel,
				   const KmtSlabGeometry *geometry)
{
	return ((gsize)kernel->page_size << geometry->order) +
	       geometry->off_slab;
}

#endif
