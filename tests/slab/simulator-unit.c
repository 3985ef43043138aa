// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The simulator of the slab layer: sequences whose slabs follow from the rules
 * of the kernel by hand, and random events of which only bounds are known.
 */
#include "config.h"

#include "lib/slab/simulator.h"

/* The caches of these tests have slabs of one page with four objects. */
#define OBJECTS	    4
#define SECOND	    ((gint64)1000 * 1000 * 1000)
#define N_RANDOM    200000
#define MOST_LIVE   5000
#define RANDOM_SEED 17

typedef struct {
	KmtSlabKernel kernel;
	KmtSlabGeometry geometry;
	KmtSlabSimulator *simulator;
	GArray *handles; /* KmtSlabHandle */
	KmtSlabFigures figures;
} SimulatorFixture;

static void set_up(SimulatorFixture *f, const char *release, gboolean is_slab)
{
	g_assert_true(kmt_slab_kernel_init(&f->kernel, release, "x86_64",
					   is_slab, 2, 0, 0));
	g_assert_true(kmt_slab_geometry_set_layout(&f->kernel, 1024, 1024,
						   OBJECTS, 1, &f->geometry));
	f->simulator = kmt_slab_simulator_new(&f->kernel);
	g_assert_cmpuint(kmt_slab_simulator_add(f->simulator, &f->geometry), ==,
			 0);
	f->handles = g_array_new(FALSE, FALSE, sizeof(KmtSlabHandle));
}

static void tear_down(SimulatorFixture *f)
{
	kmt_slab_simulator_free(f->simulator);
	g_array_unref(f->handles);
}

/* Allocate n objects on a CPU. */
static void alloc(SimulatorFixture *f, guint n, guint cpu)
{
	while (n--) {
		KmtSlabHandle handle =
			kmt_slab_simulator_alloc(f->simulator, 0, cpu);

		g_assert_cmpuint(handle, !=, 0);
		g_array_append_val(f->handles, handle);
	}
	kmt_slab_simulator_figures(f->simulator, 0, &f->figures);
}

/* Free all objects on a CPU, in the order in which they were allocated. */
static void release_all(SimulatorFixture *f, guint cpu)
{
	for (guint i = 0; i < f->handles->len; i++)
		kmt_slab_simulator_release(
			f->simulator, 0,
			g_array_index(f->handles, KmtSlabHandle, i), cpu);
	g_array_set_size(f->handles, 0);
	kmt_slab_simulator_figures(f->simulator, 0, &f->figures);
}

static void test_slub_one_cpu(void)
{
	SimulatorFixture f;

	set_up(&f, "6.1", FALSE);
	alloc(&f, OBJECTS + 1, 0);
	g_assert_cmpuint(f.figures.objects, ==, OBJECTS + 1);
	g_assert_cmpuint(f.figures.slabs, ==, 2);
	g_assert_cmpuint(f.figures.pages, ==, 2);
	g_assert_cmpuint(f.figures.partial_slabs, ==, 1);
	g_assert_cmpuint(f.figures.empty_slabs, ==, 0);
	/* The CPU keeps its slab, and the other one as a partial slab. */
	release_all(&f, 0);
	g_assert_cmpuint(f.figures.objects, ==, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 2);
	g_assert_cmpuint(f.figures.empty_slabs, ==, 2);
	g_assert_cmpuint(f.figures.listed_free, ==, 0);
	/* Both slabs are used again. */
	alloc(&f, 2 * OBJECTS, 0);
	g_assert_cmpuint(f.figures.new_slabs, ==, 2);
	g_assert_cmpuint(f.figures.peak_objects, ==, 2 * OBJECTS);
	tear_down(&f);
}

/*
 * A CPU keeps 12 partial slabs of this cache. The thirteenth moves them to the
 * node, which keeps 5 empty slabs.
 */
static void test_slub_other_cpu(void)
{
	SimulatorFixture f;

	set_up(&f, "6.1", FALSE);
	g_assert_cmpuint(f.geometry.cpu_partial_slabs, ==, 12);
	g_assert_cmpuint(f.geometry.min_partial, ==, 5);
	alloc(&f, 40 * OBJECTS, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 40);
	release_all(&f, 1);
	/* 36 of 39 slabs were moved, and CPU 0 has one. */
	g_assert_cmpuint(f.figures.slabs, ==, 5 + 3 + 1);
	g_assert_cmpuint(f.figures.listed_free, ==, 5 * OBJECTS);
	g_assert_cmpuint(f.figures.peak_pages, ==, 40);
	/* CPU 0 takes its slab, the 5 slabs of the node, and a new one. */
	alloc(&f, 7 * OBJECTS, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 3 + 1 + 5 + 1);
	g_assert_cmpuint(f.figures.new_slabs, ==, 41);
	tear_down(&f);
}

/* A CPU refills a sheaf of 12 objects at once, even for one object. */
static void test_sheaf_refill(void)
{
	SimulatorFixture f;

	set_up(&f, "7.2", FALSE);
	g_assert_cmpuint(f.geometry.sheaf_capacity, ==, 12);
	alloc(&f, 1, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 3);
	g_assert_cmpuint(f.figures.partial_slabs, ==, 1);
	alloc(&f, 12, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 6);
	release_all(&f, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 6);
	alloc(&f, 24, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 6);
	tear_down(&f);
}

/*
 * 400 objects of CPU 0 need 34 sheaves of 102 slabs. CPU 1 keeps 2 sheaves, and
 * the barn 10; the other 22 sheaves have 66 slabs, of which the node keeps 4: a
 * slab that becomes empty counts as one of the 5 partial slabs.
 */
static void test_sheaf_flush(void)
{
	SimulatorFixture f;

	set_up(&f, "7.2", FALSE);
	alloc(&f, 400, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 102);
	release_all(&f, 1);
	g_assert_cmpuint(f.figures.slabs, ==, 102 - 66 + 4);
	g_assert_cmpuint(f.figures.listed_free, ==, 4 * OBJECTS);
	/* CPU 0 has 8 objects in its sheaf, and takes the 10 sheaves of the
	 * barn. Another sheaf is filled from 3 of the 4 slabs. */
	alloc(&f, 8 + 120 + 12, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 102 - 66 + 4);
	g_assert_cmpuint(f.figures.listed_free, ==, OBJECTS);
	tear_down(&f);
}

/* The first caches of the kernel have no sheaves. */
static void test_no_sheaves(void)
{
	SimulatorFixture f;

	set_up(&f, "7.2", FALSE);
	f.geometry.sheaf_capacity = 0;
	kmt_slab_simulator_free(f.simulator);
	f.simulator = kmt_slab_simulator_new(&f.kernel);
	kmt_slab_simulator_add(f.simulator, &f.geometry);
	alloc(&f, 10 * OBJECTS, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 10);
	release_all(&f, 1);
	g_assert_cmpuint(f.figures.slabs, ==, 4);
	tear_down(&f);
}

/* Objects that nobody uses return to the page allocator after some seconds. */
static void test_array_timer(void)
{
	SimulatorFixture f;

	set_up(&f, "6.1", TRUE);
	kmt_slab_simulator_advance(f.simulator, SECOND);
	alloc(&f, OBJECTS + 1, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 2);
	release_all(&f, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 2);
	kmt_slab_simulator_advance(f.simulator, 2 * SECOND);
	kmt_slab_simulator_figures(f.simulator, 0, &f.figures);
	g_assert_cmpuint(f.figures.slabs, ==, 2);
	kmt_slab_simulator_advance(f.simulator, 60 * SECOND);
	kmt_slab_simulator_figures(f.simulator, 0, &f.figures);
	g_assert_cmpuint(f.figures.slabs, ==, 0);
	g_assert_cmpuint(f.figures.listed_free, ==, 0);
	/* A time far away costs no more than a near one. */
	kmt_slab_simulator_advance(f.simulator, G_MAXINT64 / 2);
	tear_down(&f);
}

/*
 * A CPU keeps 54 objects and the shared array 216; above them, the node keeps
 * 85 free objects.
 */
static void test_array_limits(void)
{
	SimulatorFixture f;

	set_up(&f, "6.1", TRUE);
	g_assert_cmpuint(f.geometry.limit, ==, 54);
	g_assert_cmpuint(f.geometry.shared, ==, 216);
	g_assert_cmpuint(f.geometry.free_limit, ==, 85);
	alloc(&f, 1000, 0);
	g_assert_cmpuint(f.figures.slabs, ==, 250);
	release_all(&f, 1);
	/* Free slabs go in whole slabs, and arrays hold parts of slabs. */
	g_assert_cmpuint(f.figures.slabs * OBJECTS, >=, 216);
	g_assert_cmpuint(f.figures.slabs * OBJECTS, <=,
			 54 + 216 + 85 + 54 + 2 * OBJECTS);
	g_assert_cmpuint(f.figures.listed_free, <=, 85);
	tear_down(&f);
}

/* Check the figures of all live objects, whose handles are in the fixture. */
static void check_invariants(SimulatorFixture *f)
{
	g_autoptr(GHashTable) used = g_hash_table_new(NULL, NULL);
	KmtSlabFigures totals;

	kmt_slab_simulator_figures(f->simulator, 0, &f->figures);
	kmt_slab_simulator_totals(f->simulator, &totals);
	for (guint i = 0; i < f->handles->len; i++) {
		gpointer key = GUINT_TO_POINTER(
			g_array_index(f->handles, KmtSlabHandle, i));
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(used, key)) + 1;

		g_assert_cmpuint(n, <=, OBJECTS);
		g_hash_table_insert(used, key, GUINT_TO_POINTER(n));
	}
	g_assert_cmpuint(f->figures.objects, ==, f->handles->len);
	g_assert_cmpuint(f->figures.slabs - f->figures.empty_slabs, ==,
			 g_hash_table_size(used));
	g_assert_cmpuint(f->figures.objects + f->figures.listed_free, <=,
			 f->figures.slabs * OBJECTS);
	g_assert_cmpuint(f->figures.pages, <=, f->figures.peak_pages);
	g_assert_cmpmem(&totals, sizeof(totals), &f->figures,
			sizeof(f->figures));
	g_assert_cmpuint(kmt_slab_simulator_pages(f->simulator), ==,
			 f->figures.pages);
}

/* Allocate or free a random object on a random CPU, also CPUs above the number
 * of the kernel. */
static void random_event(SimulatorFixture *f, GRand *random)
{
	guint cpu = (guint)g_rand_int_range(random, 0, 3);
	guint n = f->handles->len;
	guint i;

	if (n == 0 || (guint)g_rand_int_range(random, 0, MOST_LIVE) > n) {
		KmtSlabHandle handle =
			kmt_slab_simulator_alloc(f->simulator, 0, cpu);

		g_array_append_val(f->handles, handle);
		return;
	}
	i = (guint)g_rand_int_range(random, 0, (gint32)n);
	kmt_slab_simulator_release(f->simulator, 0,
				   g_array_index(f->handles, KmtSlabHandle, i),
				   cpu);
	g_array_remove_index_fast(f->handles, i);
}

/* most_slabs: bound of the slabs that are held without a live object. */
static void run_random(const char *release, gboolean is_slab, guint most_slabs)
{
	GRand *random = g_rand_new_with_seed(RANDOM_SEED);
	SimulatorFixture f;
	gint64 begin_us;

	set_up(&f, release, is_slab);
	begin_us = g_get_monotonic_time();
	for (guint i = 0; i < N_RANDOM; i++) {
		random_event(&f, random);
		kmt_slab_simulator_advance(f.simulator,
					   SECOND + i * (SECOND / 1000));
		if (i % (N_RANDOM / 20) == 0)
			check_invariants(&f);
	}
	g_test_message("%s: %.0f ns per event, with the random numbers",
		       is_slab ? "SLAB" : release,
		       (double)(g_get_monotonic_time() - begin_us) * 1000 /
			       N_RANDOM);
	check_invariants(&f);
	release_all(&f, 0);
	g_assert_cmpuint(f.figures.slabs, <=, most_slabs);
	g_assert_cmpuint(f.figures.empty_slabs, ==, f.figures.slabs);
	tear_down(&f);
	g_rand_free(random);
}

static void test_random(void)
{
	/* The slabs of 3 CPUs and of the node. */
	run_random("6.1", FALSE, 3 * (1 + 12) + 5);
	/* Each object in the sheaves may have a slab of its own. */
	run_random("7.2", FALSE, (3 * 2 + 10) * 12 + 5);
	/* The same for the objects in the arrays. */
	run_random("6.1", TRUE, 3 * 54 + 216 + 85);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/slab/simulator/slub-one-cpu", test_slub_one_cpu);
	g_test_add_func("/slab/simulator/slub-other-cpu", test_slub_other_cpu);
	g_test_add_func("/slab/simulator/sheaf-refill", test_sheaf_refill);
	g_test_add_func("/slab/simulator/sheaf-flush", test_sheaf_flush);
	g_test_add_func("/slab/simulator/no-sheaves", test_no_sheaves);
	g_test_add_func("/slab/simulator/array-timer", test_array_timer);
	g_test_add_func("/slab/simulator/array-limits", test_array_limits);
	g_test_add_func("/slab/simulator/random", test_random);
	return g_test_run();
}
