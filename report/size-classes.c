// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/size-classes.h"

/* Smallest alignment of kmalloc(), that of a 64-bit integer. */
#define MIN_ALIGN 8
/* The smallest size of SLAB is larger than its alignment. A larger smallest
 * size is the alignment that DMA needs. */
#define SLAB_MIN_SIZE 32

/* Return the bytes of a slab of a class divided by its objects; a
 * KmtSizeRule.cost.
 */
static guint64 slab_cost(gpointer user, guint32 size)
{
	const KmtSlabKernel *kernel = user;
	KmtSlabGeometry geometry;

	if (!kmt_slab_geometry_compute_kmalloc(kernel, size, &geometry))
		return (guint64)size * KMT_SIZE_COST_UNIT;
	return (guint64)kmt_slab_bytes(kernel, &geometry) * KMT_SIZE_COST_UNIT /
	       geometry.objects;
}

/* Set the rule that each set follows. */
static void set_rule(KmtSizeClasses *classes)
{
	const KmtSlabKernel *kernel = &classes->kernel;

	classes->rule = (KmtSizeRule){
		.align = kernel->kmalloc_min > SLAB_MIN_SIZE
				 ? kernel->kmalloc_min
				 : MIN_ALIGN,
		.min = kernel->kmalloc_min,
		.limit = (guint32)kernel->kmalloc_max,
		.guarantee = kernel->release >= KMT_SLAB_RELEASE(6, 11)
				     ? KMT_SIZE_ALIGN_DIVISORS
				     : KMT_SIZE_ALIGN_POWERS,
		.cost = slab_cost,
		.user = &classes->kernel,
	};
}

KmtSizeClasses *kmt_size_classes_new(const KmtSlabKernel *kernel)
{
	KmtSizeClasses *classes = g_new0(KmtSizeClasses, 1);

	classes->kernel = *kernel;
	set_rule(classes);
	classes->demand = kmt_size_demand_new(classes->rule.limit);
	classes->sets = g_array_new(FALSE, FALSE, sizeof(KmtSizeSet));
	return classes;
}

void kmt_size_classes_free(KmtSizeClasses *classes)
{
	guint i;

	if (!classes)
		return;
	kmt_size_demand_free(classes->demand);
	g_array_free(classes->sets, TRUE);
	if (classes->results)
		g_array_free(classes->results, TRUE);
	for (i = 0; i < KMT_SIZE_N_MOMENTS; i++)
		kmt_best_sizes_free(classes->best[i]);
	g_free(classes);
}

KmtReplayConsumer kmt_size_classes_consumer(KmtSizeClasses *classes)
{
	return kmt_size_demand_consumer(classes->demand);
}

/* Fill the set of the traced kernel. */
static void fill_kernel_set(const KmtSizeClasses *classes, KmtSizeSet *set)
{
	guint32 size;

	*set = (KmtSizeSet){.name = "kernel", .title = "of this kernel"};
	for (size = 1; size <= classes->rule.limit; size++)
		if (kmt_slab_kmalloc_size(&classes->kernel, size) == size)
			kmt_size_set_append(set, size);
}

/* Add a set, unless the comparison has its sizes already. */
static void add_set(KmtSizeClasses *classes, const KmtSizeSet *set)
{
	guint i;

	for (i = 0; i < classes->sets->len; i++)
		if (kmt_size_set_equals(
			    &g_array_index(classes->sets, KmtSizeSet, i), set))
			return;
	g_array_append_val(classes->sets, *set);
}

/* Add the best set of n sizes, if there is one. */
static void add_best_set(KmtSizeClasses *classes, const KmtBestSizes *best,
			 guint n, const char *name, const char *title)
{
	KmtSizeSet set = {.name = name, .title = title, .n = n};

	if (n <= KMT_SIZE_SET_MAX &&
	    kmt_best_sizes_get(best, n, set.sizes, NULL))
		add_set(classes, &set);
}

/* Compute the best sets and the best additional size of each moment. */
static void find_best(KmtSizeClasses *classes, const KmtSizeSet *kernel)
{
	guint i;

	for (i = 0; i < KMT_SIZE_N_MOMENTS; i++) {
		const guint64 *objects = classes->demand->objects[i];
		KmtSizeAddition *addition = &classes->additions[i];

		classes->best[i] =
			kmt_best_sizes_new(objects, &classes->rule,
					   kernel->n + KMT_SIZE_CLASSES_MORE);
		addition->size = kmt_size_set_best_addition(
			kernel, &classes->rule, objects, &addition->saved);
	}
}

/* Add the best set of n sizes without regard to the alignment. */
static void add_unaligned_set(KmtSizeClasses *classes, guint n)
{
	KmtSizeRule rule = classes->rule;
	g_autoptr(KmtBestSizes) best = NULL;

	rule.guarantee = KMT_SIZE_ALIGN_NONE;
	best = kmt_best_sizes_new(classes->demand->objects[KMT_SIZE_AT_PEAK],
				  &rule, n);
	add_best_set(classes, best, n, "best-unaligned",
		     "the best for the peak, unaligned");
}

static void choose_sets(KmtSizeClasses *classes)
{
	const KmtBestSizes *best;
	guint32 additional;
	KmtSizeSet kernel, set;
	guint i;

	fill_kernel_set(classes, &kernel);
	add_set(classes, &kernel);
	find_best(classes, &kernel);
	additional = classes->additions[KMT_SIZE_AT_PEAK].size;
	if (additional) {
		set = kernel;
		set.name = "kernel-plus-1";
		set.title = "of this kernel and the best additional one";
		kmt_size_set_insert(&set, additional);
		add_set(classes, &set);
	}
	for (i = 0; i < KMT_SIZE_SET_N; i++) {
		kmt_size_set_fill(&set, (KmtSizeSetKind)i, &classes->rule);
		add_set(classes, &set);
	}
	best = classes->best[KMT_SIZE_AT_PEAK];
	add_best_set(classes, best, kernel.n, "best",
		     "the best for the peak, as many");
	add_best_set(classes, best, kernel.n + 1, "best-plus-1",
		     "the best for the peak, one more");
	add_unaligned_set(classes, kernel.n);
}

/* Return why the sets cannot be compared, or NULL. */
static const char *why_omitted(const KmtSizeDemand *demand)
{
	if (demand->unselected)
		return "a filter selects a part of the objects, but the sizes "
		       "serve all";
	if (!demand->n_objects[KMT_SIZE_AT_PEAK])
		return "no object of kmalloc() has a size";
	return NULL;
}

void kmt_size_classes_measure(KmtSizeClasses *classes,
			      const KmtReplayOptions *options)
{
	classes->omitted = why_omitted(classes->demand);
	if (classes->omitted)
		return;
	choose_sets(classes);
	classes->results =
		kmt_size_replay_run(options, &classes->kernel, classes->sets);
}
