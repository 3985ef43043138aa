// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/slab/simulator-private.h"

/* SLAB runs its periodic work every two seconds on each CPU, and that of the
 * node every four seconds. */
#define REAP_INTERVAL ((gint64)2 * 1000 * 1000 * 1000)
/* After so many intervals without an event, no more memory becomes free. */
#define MOST_REAPS 256

struct KmtSlabSimulator {
	KmtSlabKernel kernel;
	const KmtSlabRules *rules;
	KmtSlabPool pool;
	KmtSlabFigures totals;
	GPtrArray *caches; /* array of KmtSimulatedCache, owned */
	gint64 next_reap;  /* time of the next periodic work; 0: not known */
	guint64 n_reaps;
};

static void free_cache(KmtSlabSimulator *simulator, KmtSimulatedCache *cache)
{
	for (guint i = 0; i < cache->n_cpus; i++) {
		if (cache->cpus[i] && simulator->rules->clear_cpu)
			simulator->rules->clear_cpu(cache, cache->cpus[i]);
		g_free(cache->cpus[i]);
	}
	if (simulator->rules->clear_node)
		simulator->rules->clear_node(cache);
	g_free(cache->cpus);
	g_free(cache);
}

KmtSlabSimulator *kmt_slab_simulator_new(const KmtSlabKernel *kernel)
{
	KmtSlabSimulator *simulator = g_new0(KmtSlabSimulator, 1);

	simulator->kernel = *kernel;
	simulator->caches = g_ptr_array_new();
	kmt_slab_pool_init(&simulator->pool);
	switch (kernel->allocator) {
	case KMT_SLAB_ALLOCATOR_SLAB:
		simulator->rules = &kmt_slab_rules_arrays;
		break;
	case KMT_SLAB_ALLOCATOR_SHEAVES:
		simulator->rules = &kmt_slab_rules_sheaves;
		break;
	case KMT_SLAB_ALLOCATOR_SLUB:
	default:
		simulator->rules = &kmt_slab_rules_slub;
		break;
	}
	return simulator;
}

void kmt_slab_simulator_free(KmtSlabSimulator *simulator)
{
	if (!simulator)
		return;
	for (guint i = 0; i < simulator->caches->len; i++)
		free_cache(simulator, simulator->caches->pdata[i]);
	g_ptr_array_unref(simulator->caches);
	kmt_slab_pool_clear(&simulator->pool);
	g_free(simulator);
}

guint kmt_slab_simulator_add(KmtSlabSimulator *simulator,
			     const KmtSlabGeometry *geometry)
{
	KmtSimulatedCache *cache = g_new0(KmtSimulatedCache, 1);

	cache->geometry = *geometry;
	cache->pool = &simulator->pool;
	cache->totals = &simulator->totals;
	if (simulator->rules->init_node)
		simulator->rules->init_node(cache);
	g_ptr_array_add(simulator->caches, cache);
	return simulator->caches->len - 1;
}

/* Return the state of a CPU in a cache; create it at the first use. */
static gpointer get_cpu(KmtSlabSimulator *simulator, KmtSimulatedCache *cache,
			guint cpu)
{
	if (G_LIKELY(cpu < cache->n_cpus && cache->cpus[cpu]))
		return cache->cpus[cpu];
	if (cpu >= cache->n_cpus) {
		cache->cpus = g_renew(gpointer, cache->cpus, cpu + 1);
		while (cache->n_cpus <= cpu)
			cache->cpus[cache->n_cpus++] = NULL;
	}
	cache->cpus[cpu] = g_malloc0(simulator->rules->cpu_size);
	if (simulator->rules->init_cpu)
		simulator->rules->init_cpu(cache, cache->cpus[cpu]);
	return cache->cpus[cpu];
}

/* Count a new object of a slab. */
static void count_alloc(KmtSimulatedCache *cache, KmtSimulatedSlab *slab)
{
	KmtSlabFigures *figures = &cache->figures, *totals = cache->totals;

	figures->empty_slabs -= slab->live == 0;
	slab->live++;
	cache->full_slabs += slab->live == cache->geometry.objects;
	figures->objects++;
	figures->peak_objects = MAX(figures->peak_objects, figures->objects);
	totals->objects++;
	totals->peak_objects = MAX(totals->peak_objects, totals->objects);
}

/* Count the free of an object of a slab. */
static void count_free(KmtSimulatedCache *cache, KmtSimulatedSlab *slab)
{
	cache->full_slabs -= slab->live == cache->geometry.objects;
	slab->live--;
	cache->figures.empty_slabs += slab->live == 0;
	cache->figures.objects--;
	cache->totals->objects--;
}

KmtSlabHandle kmt_slab_simulator_alloc(KmtSlabSimulator *simulator,
				       guint number, guint cpu)
{
	KmtSimulatedCache *cache = simulator->caches->pdata[number];
	guint32 slab =
		simulator->rules->alloc(cache, get_cpu(simulator, cache, cpu));

	count_alloc(cache, &simulator->pool.slabs[slab]);
	return slab;
}

void kmt_slab_simulator_release(KmtSlabSimulator *simulator, guint number,
				KmtSlabHandle handle, guint cpu)
{
	KmtSimulatedCache *cache = simulator->caches->pdata[number];

	count_free(cache, &simulator->pool.slabs[handle]);
	simulator->rules->release(cache, handle,
				  get_cpu(simulator, cache, cpu));
}

/* Run the periodic work of all CPUs once. */
static void reap(KmtSlabSimulator *simulator)
{
	gboolean has_node = simulator->n_reaps++ % 2 != 0;

	for (guint i = 0; i < simulator->caches->len; i++) {
		KmtSimulatedCache *cache = simulator->caches->pdata[i];

		for (guint j = 0; j < cache->n_cpus; j++)
			simulator->rules->reap(cache, cache->cpus[j],
					       has_node && j == 0);
	}
}

/* Return the time of the periodic work after @time. */
static gint64 next_reap(gint64 time)
{
	/* A damaged record can have any time. */
	return time > G_MAXINT64 - REAP_INTERVAL ? G_MAXINT64
						 : time + REAP_INTERVAL;
}

void kmt_slab_simulator_advance(KmtSlabSimulator *simulator, gint64 time)
{
	if (!simulator->rules->reap)
		return;
	if (!simulator->next_reap)
		simulator->next_reap = next_reap(time);
	for (guint i = 0; time >= simulator->next_reap && i < MOST_REAPS; i++) {
		reap(simulator);
		simulator->next_reap = next_reap(simulator->next_reap);
	}
	if (time >= simulator->next_reap)
		simulator->next_reap = next_reap(time);
}

void kmt_slab_simulator_figures(const KmtSlabSimulator *simulator, guint number,
				KmtSlabFigures *figures)
{
	const KmtSimulatedCache *cache = simulator->caches->pdata[number];

	*figures = cache->figures;
	figures->partial_slabs =
		figures->slabs - figures->empty_slabs - cache->full_slabs;
	if (simulator->rules->listed_free)
		figures->listed_free = simulator->rules->listed_free(cache);
}

void kmt_slab_simulator_totals(const KmtSlabSimulator *simulator,
			       KmtSlabFigures *figures)
{
	*figures = simulator->totals;
	for (guint i = 0; i < simulator->caches->len; i++) {
		KmtSlabFigures cache;

		kmt_slab_simulator_figures(simulator, i, &cache);
		figures->partial_slabs += cache.partial_slabs;
		figures->empty_slabs += cache.empty_slabs;
		figures->listed_free += cache.listed_free;
	}
}

guint64 kmt_slab_simulator_pages(const KmtSlabSimulator *simulator)
{
	return simulator->totals.pages;
}
