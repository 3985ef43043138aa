// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of valid and invalid copies of /proc/slabinfo (lib/input/slab-table.c),
 * and the kernel and caches of a capture (lib/slab/capture-caches.c). */
#include "config.h"

#include <string.h>

#include "lib/slab/capture-caches.h"
#include "tests/input/capture-fixture.h"

#define META "[capture]\nabi_version=3\nrecord_size=64\nbyte_order=little\n"
#define HEAD                                                                   \
	"slabinfo - version: 2.1\n"                                            \
	"# name            <active_objs> <num_objs> <objsize> ...\n"
#define DENTRY                                                                 \
	"dentry              4473   4494    192   21    1 : tunables    0    " \
	"0    0 : slabdata    214    214      0\n"
#define SPACES                                                                 \
	"my 2 caches            1     20    200   20    1 : tunables    0    " \
	"0    0 : slabdata      1      1      0\n"
#define SLAB_ROW                                                               \
	"dentry              4473   4494    192   21    1 : tunables  120   "  \
	"60    8 : slabdata    214    214     60 : globalstat 1 2\n"

typedef struct {
	char *directory;
	KmtInputCapture *capture;
	KmtInputSlabTable *table;
} SlabsFixture;

static void set_up(SlabsFixture *f, const char *meta, const char *table)
{
	f->directory = fixture_new();
	fixture_put(f->directory, "kmemtrace.meta", meta, -1);
	fixture_put(f->directory, "slabinfo", table, -1);
	f->capture = fixture_open(f->directory);
	f->table = kmt_input_slab_table_new(f->capture);
}

static void tear_down(SlabsFixture *f)
{
	kmt_input_slab_table_free(f->table);
	kmt_input_capture_free(f->capture);
	fixture_remove(f->directory);
}

static guint count_rows(const SlabsFixture *f)
{
	guint n;

	kmt_input_slab_table_get(f->table, &n);
	return n;
}

static void test_rows(void)
{
	const KmtInputSlabRow *row;
	SlabsFixture f;

	set_up(&f, META, HEAD DENTRY SPACES);
	g_assert_null(kmt_input_slab_table_warning(f.table));
	g_assert_cmpuint(count_rows(&f), ==, 2);
	row = kmt_input_slab_table_find(f.table, "dentry");
	g_assert_nonnull(row);
	g_assert_cmpuint(row->active, ==, 4473);
	g_assert_cmpuint(row->objects, ==, 4494);
	g_assert_cmpuint(row->size, ==, 192);
	g_assert_cmpuint(row->slab_objects, ==, 21);
	g_assert_cmpuint(row->slab_pages, ==, 1);
	g_assert_cmpuint(row->limit, ==, 0);
	g_assert_cmpuint(row->slabs, ==, 214);
	row = kmt_input_slab_table_find(f.table, "my 2 caches");
	g_assert_nonnull(row);
	g_assert_cmpuint(row->active, ==, 1);
	g_assert_null(kmt_input_slab_table_find(f.table, "my"));
	tear_down(&f);
}

/* SLAB has tunables, and statistics with a debug option. */
static void test_slab_row(void)
{
	const KmtInputSlabRow *row;
	SlabsFixture f;

	set_up(&f, META, HEAD SLAB_ROW);
	g_assert_null(kmt_input_slab_table_warning(f.table));
	row = kmt_input_slab_table_find(f.table, "dentry");
	g_assert_nonnull(row);
	g_assert_cmpuint(row->limit, ==, 120);
	g_assert_cmpuint(row->batch, ==, 60);
	g_assert_cmpuint(row->shared, ==, 8);
	tear_down(&f);
}

static void test_missing(void)
{
	SlabsFixture f;

	set_up(&f, META, NULL);
	g_assert_cmpuint(count_rows(&f), ==, 0);
	g_assert_null(kmt_input_slab_table_warning(f.table));
	tear_down(&f);
	set_up(&f, META, "");
	g_assert_cmpuint(count_rows(&f), ==, 0);
	g_assert_null(kmt_input_slab_table_warning(f.table));
	tear_down(&f);
}

/* Two caches of one name have rows, but the name does not identify them. */
static void test_duplicates(void)
{
	SlabsFixture f;

	set_up(&f, META, HEAD DENTRY DENTRY DENTRY);
	g_assert_cmpuint(count_rows(&f), ==, 3);
	g_assert_null(kmt_input_slab_table_find(f.table, "dentry"));
	tear_down(&f);
}

static void test_invalid(void)
{
	static const char *const lines[] = {
		"dentry 1 2 192 21 : tunables 0 0 0 : slabdata 1 1 0\n",
		"dentry 1 2 192 0 1 : tunables 0 0 0 : slabdata 1 1 0\n",
		"dentry 1 2 0 21 1 : tunables 0 0 0 : slabdata 1 1 0\n",
		"dentry 1 2 192 21 1 : tunables 0 0 : slabdata 1 1 0\n",
		"dentry 1 2 192 21 1 : tunables 0 0 0\n",
		"dentry 1 x 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n",
		"dentry 99999999999999999999 2 192 21 1 : tunables 0 0 0 : "
		"slabdata 1 1 0\n",
		" 1 2 192 21 1 : tunables 0 0 0 : slabdata 1 1 0\n",
		": tunables\n",
		" : tunables\n",
		"\n",
		"dentry 1 2 192 21 1 : tunables 0 0 0 : slabdata 1 1 0",
	};

	for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autofree char *text =
			g_strconcat(HEAD DENTRY, lines[i], NULL);
		SlabsFixture f;

		set_up(&f, META, text);
		g_assert_cmpuint(count_rows(&f), ==, 1);
		g_assert_nonnull(
			strstr(kmt_input_slab_table_warning(f.table),
			       "1 invalid line is ignored; the first is line "
			       "4"));
		tear_down(&f);
	}
}

static KmtSlabKernelOrigin find_kernel(const char *keys, const char *table,
				       KmtSlabKernel *kernel)
{
	g_autofree char *meta = g_strconcat(META, keys, NULL);
	KmtSlabKernelOrigin origin;
	SlabsFixture f;

	set_up(&f, meta, table);
	origin = kmt_slab_kernel_of_capture(f.capture, f.table, kernel);
	tear_down(&f);
	return origin;
}

static void test_kernel(void)
{
	KmtSlabKernel kernel;

	g_assert_cmpint(find_kernel("", NULL, &kernel), ==,
			KMT_SLAB_KERNEL_UNKNOWN);
	g_assert_cmpint(find_kernel("kernel_release=6.1.0\n", NULL, &kernel),
			==, KMT_SLAB_KERNEL_ASSUMED);
	g_assert_cmpint(find_kernel("kernel_release=6.12.0\n", NULL, &kernel),
			==, KMT_SLAB_KERNEL_RECORDED);
	g_assert_cmpint(find_kernel("kernel_release=6.1.0\nallocator=slob\n",
				    NULL, &kernel),
			==, KMT_SLAB_KERNEL_UNKNOWN);
	/* Without the key, tunables identify SLAB. */
	g_assert_cmpint(
		find_kernel("kernel_release=6.1.0\n", HEAD SLAB_ROW, &kernel),
		==, KMT_SLAB_KERNEL_RECORDED);
	g_assert_cmpint(kernel.allocator, ==, KMT_SLAB_ALLOCATOR_SLAB);
	g_assert_cmpint(find_kernel("kernel_release=6.1.0\nmachine=ppc64le\n"
				    "allocator=slub\npage_size=65536\n"
				    "cpus=4\npossible_cpus=16\n",
				    NULL, &kernel),
			==, KMT_SLAB_KERNEL_RECORDED);
	g_assert_cmpint(kernel.allocator, ==, KMT_SLAB_ALLOCATOR_SLUB);
	g_assert_cmpuint(kernel.page_size, ==, 65536);
	g_assert_cmpuint(kernel.cpus, ==, 4);
	g_assert_cmpuint(kernel.possible_cpus, ==, 16);
	/* Numbers that no kernel has. */
	g_assert_cmpint(find_kernel("kernel_release=6.1.0\npage_size=5\n"
				    "word_size=0\ncpus=-1\n",
				    NULL, &kernel),
			==, KMT_SLAB_KERNEL_ASSUMED);
	g_assert_cmpuint(kernel.page_size, ==, 4096);
	g_assert_cmpuint(kernel.pointer_size, ==, 8);
	g_assert_cmpuint(kernel.cpus, ==, 1);
}

/* The row has the layout; without it, the layout follows from the size. */
static void test_cache(void)
{
	KmtInputCache dentry = {
		.object_size = 192, .size = 192, .name = "dentry"};
	KmtInputCache other = {.object_size = 100, .size = 104, .name = "x"};
	KmtSlabGeometry geometry;
	KmtSlabKernel kernel;
	SlabsFixture f;
	gboolean is_recorded;

	set_up(&f, META "kernel_release=6.1.0\nmachine=x86_64\n", HEAD DENTRY);
	kmt_slab_kernel_of_capture(f.capture, f.table, &kernel);
	g_assert_true(kmt_slab_geometry_of_cache(&kernel, f.table, &dentry,
						 &geometry, &is_recorded));
	g_assert_true(is_recorded);
	g_assert_cmpuint(geometry.objects, ==, 21);
	g_assert_true(kmt_slab_geometry_of_cache(&kernel, f.table, &other,
						 &geometry, &is_recorded));
	g_assert_false(is_recorded);
	g_assert_cmpuint(geometry.object_size, ==, 100);
	g_assert_cmpuint(geometry.size, ==, 104);
	g_assert_cmpuint(geometry.objects, ==, 4096 / 104);
	other.size = 0;
	g_assert_false(kmt_slab_geometry_of_cache(&kernel, f.table, &other,
						  &geometry, NULL));
	tear_down(&f);
}

static void test_kmalloc_name(void)
{
	g_autofree char *small = kmt_slab_kmalloc_name(96, 0xcc0);
	g_autofree char *large = kmt_slab_kmalloc_name(2048, 0xcd0);

	g_assert_cmpstr(small, ==, "kmalloc-96");
	g_assert_cmpstr(large, ==, "kmalloc-rcl-2k");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/input/slabs/rows", test_rows);
	g_test_add_func("/input/slabs/slab", test_slab_row);
	g_test_add_func("/input/slabs/missing", test_missing);
	g_test_add_func("/input/slabs/duplicates", test_duplicates);
	g_test_add_func("/input/slabs/invalid", test_invalid);
	g_test_add_func("/input/slabs/kernel", test_kernel);
	g_test_add_func("/input/slabs/cache", test_cache);
	g_test_add_func("/input/slabs/kmalloc-name", test_kmalloc_name);
	return g_test_run();
}
