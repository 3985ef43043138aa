// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Layouts that lib/slab computes, compared with those of real kernels in
 * tests/slab/layouts-*.txt, which vm/scenarios/slab-layouts.sh has printed.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/slab/slab-geometry.h"

/* Columns of a row. */
enum {
	COLUMN_NAME,
	COLUMN_OBJECT_SIZE,
	COLUMN_ALIGN,
	COLUMN_LINE_ALIGNED,
	COLUMN_CONSTRUCTOR,
	COLUMN_RCU_TYPESAFE,
	COLUMN_RECLAIM,
	COLUMN_SIZE,
	COLUMN_ORDER,
	COLUMN_OBJECTS,
	COLUMN_LIMIT_A,
	COLUMN_LIMIT_B,
	COLUMN_LIMIT_C,
	N_COLUMNS
};

/* Return the number in a column; 0 for "-". */
static guint column(char **row, guint i)
{
	return (guint)g_ascii_strtoull(row[i], NULL, 10);
}

static char *read_layouts(const char *name)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path =
		g_build_filename(top ? top : ".", "tests/slab", name, NULL);
	g_autoptr(GError) error = NULL;
	char *text;

	g_file_get_contents(path, &text, NULL, &error);
	g_assert_no_error(error);
	return text;
}

/* Initialise *kernel from "# kernel: RELEASE MACHINE ALLOCATOR CPUS". */
static void read_kernel(char **lines, KmtSlabKernel *kernel)
{
	g_auto(GStrv) words = NULL;

	while (!g_str_has_prefix(*lines, "# kernel: "))
		lines++;
	words = g_strsplit(*lines, " ", -1);
	g_assert_cmpuint(g_strv_length(words), ==, 6);
	g_assert_true(kmt_slab_kernel_init(kernel, words[2], words[3],
					   g_str_equal(words[4], "slab"),
					   (guint)atoi(words[5]), 0, 0));
}

static void compare_limits(const KmtSlabKernel *kernel, char **row,
			   const KmtSlabGeometry *geometry)
{
	guint partial = column(row, COLUMN_LIMIT_B);

	if (kernel->allocator == KMT_SLAB_ALLOCATOR_SLAB) {
		g_assert_cmpuint(geometry->limit, ==,
				 column(row, COLUMN_LIMIT_A));
		g_assert_cmpuint(geometry->batch, ==,
				 column(row, COLUMN_LIMIT_B));
		g_assert_cmpuint(geometry->shared, ==,
				 column(row, COLUMN_LIMIT_C) * geometry->batch);
		return;
	}
	g_assert_cmpuint(geometry->min_partial, ==,
			 column(row, COLUMN_LIMIT_A));
	/* The kernel assumes that partial slabs are half full. */
	g_assert_cmpuint(geometry->cpu_partial_slabs, ==,
			 (partial * 2 + geometry->objects - 1) /
				 geometry->objects);
	/* The first caches have no sheaves. */
	if (!g_str_has_prefix(row[COLUMN_NAME], "kmem_cache"))
		g_assert_cmpuint(geometry->sheaf_capacity, ==,
				 column(row, COLUMN_LIMIT_C));
}

/* Return whether the cache is one of kmalloc(). */
static gboolean is_kmalloc(const char *name)
{
	return g_str_has_prefix(name, "kmalloc-") ||
	       g_str_has_prefix(name, "dma-kmalloc-");
}

/* Return whether the kernel sets use_freeptr_offset for the cache. */
static gboolean has_inner_pointer(const char *name)
{
	return g_str_equal(name, "filp") || g_str_equal(name, "vm_area_struct");
}

static void compare_row(const KmtSlabKernel *kernel, char **row)
{
	KmtSlabGeometry geometry;
	KmtSlabRequest request = {
		.object_size = column(row, COLUMN_OBJECT_SIZE),
		.align = column(row, COLUMN_ALIGN),
		.is_line_aligned = column(row, COLUMN_LINE_ALIGNED) != 0,
		.has_constructor = column(row, COLUMN_CONSTRUCTOR) != 0,
		.is_rcu_typesafe = column(row, COLUMN_RCU_TYPESAFE) != 0,
		.is_reclaim_account = column(row, COLUMN_RECLAIM) != 0,
	};

	request.has_inner_pointer =
		kernel->release >= KMT_SLAB_RELEASE(6, 12) &&
		has_inner_pointer(row[COLUMN_NAME]);
	/* The only cache of these kernels that asks for larger sheaves. */
	if (g_str_equal(row[COLUMN_NAME], "maple_node"))
		request.sheaf_capacity = 32;
	if (is_kmalloc(row[COLUMN_NAME]) && !request.is_reclaim_account) {
		g_assert_true(kmt_slab_geometry_compute_kmalloc(
			kernel, request.object_size, &geometry));
		g_assert_cmpuint(
			kmt_slab_kmalloc_size(kernel, request.object_size), ==,
			request.object_size);
	} else {
		g_assert_true(
			kmt_slab_geometry_compute(kernel, &request, &geometry));
	}
	g_test_message("%s", row[COLUMN_NAME]);
	g_assert_cmpuint(geometry.size, ==, column(row, COLUMN_SIZE));
	g_assert_cmpuint(geometry.order, ==, column(row, COLUMN_ORDER));
	g_assert_cmpuint(geometry.objects, ==, column(row, COLUMN_OBJECTS));
	compare_limits(kernel, row, &geometry);
	/* The layout alone leads to the same limits. */
	if (request.sheaf_capacity)
		return;
	g_assert_true(kmt_slab_geometry_set_layout(
		kernel, request.object_size, geometry.size, geometry.objects,
		1u << geometry.order, &geometry));
	compare_limits(kernel, row, &geometry);
}

static void test_layouts(gconstpointer name)
{
	g_autofree char *text = read_layouts(name);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	KmtSlabKernel kernel;
	guint n = 0;

	read_kernel(lines, &kernel);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) row = g_strsplit(*line, " ", -1);

		if (!**line || **line == '#')
			continue;
		g_assert_cmpuint(g_strv_length(row), ==, N_COLUMNS);
		compare_row(&kernel, row);
		n++;
	}
	g_assert_cmpuint(n, >, 20);
}

static void test_kmalloc_sizes(void)
{
	static const gsize sizes[] = {8,   16,	32,   64,   96,	  128, 192,
				      256, 512, 1024, 2048, 4096, 8192};
	KmtSlabKernel kernel;

	g_assert_true(kmt_slab_kernel_init(&kernel, "6.1.0-1-amd64", "x86_64",
					   FALSE, 4, 0, 0));
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 0), ==, 0);
	for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
		gsize smaller = i ? sizes[i - 1] : 0;

		g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, sizes[i]), ==,
				 sizes[i]);
		g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, smaller + 1),
				 ==, sizes[i]);
		g_assert_cmpuint(kmt_slab_kmalloc_smaller(&kernel, sizes[i]),
				 ==, smaller);
	}
	g_assert_cmpuint(kmt_slab_kmalloc_smaller(&kernel, 100), ==, 0);
	g_assert_cmpuint(kmt_slab_kmalloc_smaller(&kernel, 16384), ==, 0);
	/* Larger requests get a power of two of pages. */
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 8193), ==, 16384);
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 16385), ==, 32768);
}

/* DMA to small objects needs an alignment on some machines. */
static void test_kmalloc_alignment(void)
{
	KmtSlabKernel kernel;

	g_assert_true(kmt_slab_kernel_init(&kernel, "6.1.0", "aarch64", FALSE,
					   4, 0, 0));
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 1), ==, 128);
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 129), ==, 256);
	g_assert_cmpuint(kmt_slab_kmalloc_smaller(&kernel, 128), ==, 0);
	g_assert_true(kmt_slab_kernel_init(&kernel, "6.12.0", "aarch64", FALSE,
					   4, 0, 0));
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 1), ==, 8);
	g_assert_true(kmt_slab_kernel_init(&kernel, "6.12.0", "armv7l", FALSE,
					   4, 0, 0));
	g_assert_cmpuint(kernel.pointer_size, ==, 4);
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 65), ==, 128);
	g_assert_cmpuint(kmt_slab_kmalloc_size(&kernel, 129), ==, 192);
}

static void test_releases(void)
{
	KmtSlabKernel kernel;

	g_assert_false(kmt_slab_kernel_init(&kernel, "5.19.0", "x86_64", FALSE,
					    1, 0, 0));
	g_assert_false(kmt_slab_kernel_init(&kernel, "next", "x86_64", FALSE, 1,
					    0, 0));
	g_assert_false(
		kmt_slab_kernel_init(&kernel, NULL, NULL, FALSE, 1, 0, 0));
	g_assert_true(kmt_slab_kernel_init(&kernel, "6.19", "x86_64", FALSE, 1,
					   0, 0));
	g_assert_cmpint(kernel.allocator, ==, KMT_SLAB_ALLOCATOR_SLUB);
	g_assert_true(
		kmt_slab_kernel_init(&kernel, "7.0", "x86_64", FALSE, 1, 0, 0));
	g_assert_cmpint(kernel.allocator, ==, KMT_SLAB_ALLOCATOR_SHEAVES);
	g_assert_true(
		kmt_slab_kernel_init(&kernel, "6.7", "x86_64", TRUE, 1, 0, 0));
	g_assert_cmpint(kernel.allocator, ==, KMT_SLAB_ALLOCATOR_SLAB);
	g_assert_true(
		kmt_slab_kernel_init(&kernel, "6.8", "x86_64", TRUE, 1, 0, 0));
	g_assert_cmpint(kernel.allocator, ==, KMT_SLAB_ALLOCATOR_SLUB);
}

/* A machine with one CPU has the layouts of the CPUs that may be added. */
static void test_possible_cpus(void)
{
	KmtSlabKernel one, eight;
	KmtSlabGeometry geometry, expected;
	KmtSlabRequest request = {.object_size = 640};

	g_assert_true(
		kmt_slab_kernel_init(&one, "6.1", "x86_64", FALSE, 1, 0, 0));
	g_assert_true(
		kmt_slab_kernel_init(&eight, "6.1", "x86_64", FALSE, 8, 0, 0));
	one.possible_cpus = 8;
	g_assert_true(kmt_slab_geometry_compute(&one, &request, &geometry));
	g_assert_true(kmt_slab_geometry_compute(&eight, &request, &expected));
	g_assert_cmpuint(geometry.order, ==, expected.order);
	one.possible_cpus = 1;
	g_assert_true(kmt_slab_geometry_compute(&one, &request, &geometry));
	g_assert_cmpuint(geometry.order, <, expected.order);
}

/* Layouts that no kernel has are refused, and none of them divides by 0. */
static void test_invalid_layouts(void)
{
	KmtSlabKernel kernel;
	KmtSlabGeometry geometry;
	KmtSlabRequest request = {.object_size = 0};

	g_assert_true(
		kmt_slab_kernel_init(&kernel, "6.1", "x86_64", FALSE, 2, 0, 0));
	g_assert_false(kmt_slab_geometry_compute(&kernel, &request, &geometry));
	request.object_size = 4096 << 11;
	g_assert_false(kmt_slab_geometry_compute(&kernel, &request, &geometry));
	g_assert_false(
		kmt_slab_geometry_set_layout(&kernel, 8, 8, 0, 1, &geometry));
	g_assert_false(
		kmt_slab_geometry_set_layout(&kernel, 8, 8, 513, 1, &geometry));
	g_assert_false(
		kmt_slab_geometry_set_layout(&kernel, 8, 8, 1, 3, &geometry));
	g_assert_false(kmt_slab_geometry_set_layout(&kernel, 8, G_MAXSIZE, 1, 1,
						    &geometry));
	g_assert_true(
		kmt_slab_geometry_set_layout(&kernel, 8, 8, 512, 1, &geometry));
}

static void test_overhead(void)
{
	KmtSlabKernel kernel;
	KmtSlabGeometry geometry;
	KmtSlabOverhead overhead;

	g_assert_true(
		kmt_slab_kernel_init(&kernel, "6.1", "x86_64", FALSE, 4, 0, 0));
	g_assert_true(
		kmt_slab_geometry_compute_kmalloc(&kernel, 192, &geometry));
	kmt_slab_overhead(&kernel, &geometry, &overhead);
	g_assert_cmpuint(overhead.descriptors, ==, 256 + 64);
	g_assert_cmpuint(overhead.per_cpu, ==, 4 * 32);
	g_assert_cmpuint(overhead.slabs_idle, ==,
			 (4 + 5) * kmt_slab_bytes(&kernel, &geometry));
	g_assert_cmpuint(kmt_slab_slabs(&geometry, 0), ==, 0);
	g_assert_cmpuint(kmt_slab_slabs(&geometry, geometry.objects), ==, 1);
	g_assert_cmpuint(kmt_slab_slabs(&geometry, geometry.objects + 1), ==,
			 2);
	/* A sheaf of 60 objects fills 512 bytes of kmalloc(). */
	g_assert_true(
		kmt_slab_kernel_init(&kernel, "7.2", "x86_64", FALSE, 4, 0, 0));
	g_assert_true(
		kmt_slab_geometry_compute_kmalloc(&kernel, 192, &geometry));
	kmt_slab_overhead(&kernel, &geometry, &overhead);
	g_assert_cmpuint(overhead.per_cpu, ==, 4 * (32 + 512));
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"layouts-6.1-slub.txt",	 "layouts-6.1-slub-8.txt",
		"layouts-6.12-slub.txt", "layouts-7.2-slub.txt",
		"layouts-6.1-slab.txt",
	};

	g_test_init(&argc, &argv, NULL);
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path =
			g_strconcat("/slab/geometry/", names[i], NULL);

		g_test_add_data_func(path, names[i], test_layouts);
	}
	g_test_add_func("/slab/geometry/kmalloc-sizes", test_kmalloc_sizes);
	g_test_add_func("/slab/geometry/kmalloc-alignment",
			test_kmalloc_alignment);
	g_test_add_func("/slab/geometry/releases", test_releases);
	g_test_add_func("/slab/geometry/possible-cpus", test_possible_cpus);
	g_test_add_func("/slab/geometry/invalid", test_invalid_layouts);
	g_test_add_func("/slab/geometry/overhead", test_overhead);
	return g_test_run();
}
