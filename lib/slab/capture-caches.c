// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/slab/capture-caches.h"

#define CAPTURE "capture"
/* The flag has this value in all kernels since 6.1. */
#define GFP_RECLAIMABLE 0x10
/* The caches of this name have the memory of this flag. */
#define RECLAIMABLE_PREFIX "kmalloc-rcl-"
/* No kernel supports more CPUs. */
#define MAX_CPUS 65535

/* Read a number of kmemtrace.meta. Return 0 if it is missing or invalid. */
static guint read_number(const KmtInputCapture *capture, const char *key)
{
	g_autofree char *text =
		g_key_file_get_string(capture->meta, CAPTURE, key, NULL);
	guint64 n;

	return text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &n,
						  NULL)
		       ? (guint)n
		       : 0;
}

/* Return a page size or a pointer size; 0 if it is no power of two in range. */
static guint read_power(const KmtInputCapture *capture, const char *key,
			guint least, guint most)
{
	guint n = read_number(capture, key);

	return n >= least && n <= most && (n & (n - 1)) == 0 ? n : 0;
}

/* Return whether a row has tunables, which only SLAB has. */
static gboolean has_tunables(const KmtInputSlabTable *slabs)
{
	guint n;
	const KmtInputSlabRow *rows = kmt_input_slab_table_get(slabs, &n);

	return n > 0 && rows[0].limit > 0;
}

/* Return the size of a cache named "kmalloc-64", and 0 for other names. */
static guint kmalloc_size_of(const char *name)
{
	const char prefix[] = "kmalloc-";
	guint64 size;

	return g_str_has_prefix(name, prefix) &&
			       g_ascii_string_to_unsigned(name + strlen(prefix),
							  10, 8, 512, &size,
							  NULL)
		       ? (guint)size
		       : 0;
}

/*
 * Set the smallest size of kmalloc() to that of the smallest cache. It depends
 * on the machine's alignment for DMA, which the kernel may know only after
 * boot: arm64 needs no alignment if it has bounce buffers.
 */
static void read_smallest_size(const KmtInputSlabTable *slabs,
			       KmtSlabKernel *kernel)
{
	guint smallest = 0, n;
	const KmtInputSlabRow *rows = kmt_input_slab_table_get(slabs, &n);

	for (guint i = 0; i < n; i++) {
		guint size = kmalloc_size_of(rows[i].name);

		if (size && (!smallest || size < smallest))
			smallest = size;
	}
	if (smallest && (smallest & (smallest - 1)) == 0)
		kernel->kmalloc_min = smallest;
}

/* Set the sizes of the structures of a cache, which have caches themselves. */
static void read_structures(const KmtInputSlabTable *slabs,
			    KmtSlabKernel *kernel)
{
	const KmtInputSlabRow *cache =
		kmt_input_slab_table_find(slabs, "kmem_cache");
	const KmtInputSlabRow *node =
		kmt_input_slab_table_find(slabs, "kmem_cache_node");

	if (cache && cache->size <= kernel->page_size)
		kernel->descriptor_size = (guint)cache->size;
	if (node && node->size <= kernel->page_size)
		kernel->node_size = (guint)node->size;
}

KmtSlabKernelOrigin kmt_slab_kernel_of_capture(const KmtInputCapture *capture,
					       const KmtInputSlabTable *slabs,
					       KmtSlabKernel *kernel)
{
	g_autofree char *release = NULL;
	g_autofree char *machine = NULL;
	g_autofree char *allocator = NULL;
	guint possible;

	if (!capture->meta)
		return KMT_SLAB_KERNEL_UNKNOWN;
	release = g_key_file_get_string(capture->meta, CAPTURE,
					"kernel_release", NULL);
	machine =
		g_key_file_get_string(capture->meta, CAPTURE, "machine", NULL);
	allocator = g_key_file_get_string(capture->meta, CAPTURE, "allocator",
					  NULL);
	possible = read_number(capture, "possible_cpus");
	if (!allocator && has_tunables(slabs))
		allocator = g_strdup("slab");
	/* The recorder that saved the number of CPUs could read sysfs. It found
	 * the files of neither SLUB nor SLAB: SLOB, or CONFIG_SLUB_TINY. */
	if (!allocator && possible)
		return KMT_SLAB_KERNEL_UNKNOWN;
	if (allocator && !g_str_equal(allocator, "slub") &&
	    !g_str_equal(allocator, "slab"))
		return KMT_SLAB_KERNEL_UNKNOWN;
	if (!kmt_slab_kernel_init(
		    kernel, release, machine,
		    allocator && g_str_equal(allocator, "slab"),
		    CLAMP(read_number(capture, "cpus"), 1, MAX_CPUS),
		    read_power(capture, "page_size", 4096, 65536),
		    read_power(capture, "word_size", 4, 8)))
		return KMT_SLAB_KERNEL_UNKNOWN;
	kernel->possible_cpus = CLAMP(possible, kernel->cpus, MAX_CPUS);
	read_structures(slabs, kernel);
	read_smallest_size(slabs, kernel);
	return allocator || kernel->release >= KMT_SLAB_RELEASE(6, 8)
		       ? KMT_SLAB_KERNEL_RECORDED
		       : KMT_SLAB_KERNEL_ASSUMED;
}

/* Return whether the kernel has no sheaves for a cache that exists before the
 * memory for sheaves can be allocated. */
static gboolean is_bootstrap_cache(const char *name)
{
	return g_str_equal(name, "kmem_cache") ||
	       g_str_equal(name, "kmem_cache_node");
}

/* Set the layout of a cache from its row. */
static gboolean set_from_row(const KmtSlabKernel *kernel,
			     const KmtInputSlabRow *row,
			     const KmtInputCache *cache,
			     KmtSlabGeometry *geometry)
{
	if (row->slab_objects > G_MAXUINT || row->slab_pages > G_MAXUINT ||
	    !kmt_slab_geometry_set_layout(
		    kernel, MIN(cache->object_size, row->size), row->size,
		    (guint)row->slab_objects, (guint)row->slab_pages, geometry))
		return FALSE;
	if (kernel->allocator != KMT_SLAB_ALLOCATOR_SLAB || !row->limit ||
	    row->limit > G_MAXINT16 || row->batch > row->limit)
		return TRUE;
	geometry->limit = (guint)row->limit;
	geometry->batch = (guint)MAX(row->batch, 1);
	geometry->shared = (guint)MIN(row->shared, 256) * geometry->batch;
	geometry->free_limit =
		(1 + kernel->cpus) * geometry->batch + geometry->objects;
	return TRUE;
}

gboolean kmt_slab_geometry_of_cache(const KmtSlabKernel *kernel,
				    const KmtInputSlabTable *slabs,
				    const KmtInputCache *cache,
				    KmtSlabGeometry *geometry,
				    gboolean *is_recorded)
{
	const KmtInputSlabRow *row =
		kmt_input_slab_table_find(slabs, cache->name);
	/* The size in the table includes padding and alignment. */
	KmtSlabRequest request = {.object_size = cache->size};
	gboolean found = row && set_from_row(kernel, row, cache, geometry);

	if (is_recorded)
		*is_recorded = found;
	if (!found && !kmt_slab_geometry_compute(kernel, &request, geometry))
		return FALSE;
	geometry->object_size = cache->object_size;
	if (is_bootstrap_cache(cache->name))
		geometry->sheaf_capacity = 0;
	return TRUE;
}

char *kmt_slab_kmalloc_name(gsize size, guint64 gfp)
{
	const char *type = gfp & GFP_RECLAIMABLE ? "rcl-" : "";
	gboolean in_kib = size >= 1024 && size % 1024 == 0;

	return g_strdup_printf("kmalloc-%s%" G_GSIZE_FORMAT "%s", type,
			       in_kib ? size / 1024 : size, in_kib ? "k" : "");
}

gboolean kmt_slab_geometry_of_kmalloc(const KmtSlabKernel *kernel,
				      const KmtInputSlabTable *slabs,
				      gsize size, guint64 gfp,
				      KmtSlabGeometry *geometry,
				      gboolean *is_recorded)
{
	g_autofree char *name = kmt_slab_kmalloc_name(size, gfp);
	const KmtInputCache cache = {
		.name = name, .object_size = size, .size = size};
	const KmtInputSlabRow *row = kmt_input_slab_table_find(slabs, name);
	gboolean found = row && row->size >= size &&
			 set_from_row(kernel, row, &cache, geometry);

	if (is_recorded)
		*is_recorded = found;
	return found ||
	       kmt_slab_geometry_compute_kmalloc(kernel, size, geometry);
}

/*
 * Return whether the name of a cache is that of a kmalloc() cache with other
 * memory: "kmalloc-cg-64" or "dma-kmalloc-64" for "kmalloc-64". Reclaimable
 * memory has a name of its own.
 */
static gboolean is_kmalloc_variant(const char *name, const char *kmalloc)
{
	const char *size = strrchr(kmalloc, '-');

	return size && g_str_has_suffix(name, size) &&
	       !g_str_has_prefix(kmalloc, RECLAIMABLE_PREFIX) &&
	       !g_str_has_prefix(name, RECLAIMABLE_PREFIX) &&
	       (g_str_has_prefix(name, "kmalloc-") ||
		g_str_has_prefix(name, "dma-kmalloc-"));
}

gboolean kmt_slab_recorded_objects(const KmtInputSlabTable *slabs,
				   const char *name, gboolean is_kmalloc,
				   guint64 *active, guint64 *n_slabs)
{
	const KmtInputSlabRow *cache = kmt_input_slab_table_find(slabs, name);
	const KmtInputSlabRow *rows;
	guint n;

	*active = 0;
	*n_slabs = 0;
	if (!cache)
		return FALSE;
	rows = kmt_input_slab_table_get(slabs, &n);
	for (guint i = 0; i < n; i++)
		if (&rows[i] == cache ||
		    (is_kmalloc && is_kmalloc_variant(rows[i].name, name))) {
			*active += rows[i].active;
			*n_slabs += rows[i].slabs;
		}
	return TRUE;
}
