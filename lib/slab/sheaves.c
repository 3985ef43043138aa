// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SLUB since Linux 7.0: each CPU has two arrays of objects, called sheaves, and
 * the barn of the node has further full and empty sheaves. See alloc_from_pcs()
 * and free_to_pcs() of mm/slub.c.
 */
#include "config.h"

#include "lib/slab/geometry-private.h"
#include "lib/slab/simulator-private.h"

/* Slabs of free objects. The capacity is geometry.sheaf_capacity. */
typedef struct Sheaf {
	struct Sheaf *next; /* next full sheaf in the barn */
	guint32 n;
	guint32 slabs[];
} Sheaf;

typedef struct {
	Sheaf *main;  /* never NULL if the cache has sheaves */
	Sheaf *spare; /* empty or full; may be NULL */
} SheafCpu;

/* The barn of the node. Empty sheaves are equal, so their number suffices. */
typedef struct {
	Sheaf *full;
	guint n_full, n_empty;
} Barn;

static Sheaf *new_sheaf(const KmtSimulatedCache *cache)
{
	return g_malloc0(sizeof(Sheaf) + (gsize)cache->geometry.sheaf_capacity *
						 sizeof(guint32));
}

static void swap_sheaves(SheafCpu *cpu)
{
	Sheaf *main = cpu->main;

	cpu->main = cpu->spare;
	cpu->spare = main;
}

static void put_full(Barn *barn, Sheaf *sheaf)
{
	sheaf->next = barn->full;
	barn->full = sheaf;
	barn->n_full++;
}

/* Return an empty sheaf of the barn, or a new one if the barn has none. */
static Sheaf *get_empty(const KmtSimulatedCache *cache, Barn *barn)
{
	if (barn->n_empty)
		barn->n_empty--;
	return new_sheaf(cache);
}

static void put_empty(Barn *barn, Sheaf *sheaf)
{
	barn->n_empty++;
	g_free(sheaf);
}

/*
 * Take up to @room objects of the slab that is first on the partial list. A
 * slab that keeps free objects moves to the end of the list.
 */
static guint take_partial(KmtSimulatedCache *cache, guint32 *slabs, guint room)
{
	guint32 slab = cache->partial.first;
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];
	guint n = MIN(s->free, room);

	kmt_simulated_cache_unlist(cache, slab);
	s->free = (guint16)(s->free - n);
	if (s->free)
		kmt_simulated_cache_list(cache, slab, TRUE);
	for (guint i = 0; i < n; i++)
		slabs[i] = slab;
	return n;
}

/* Take up to @room objects of a new slab. */
static guint take_new(KmtSimulatedCache *cache, guint32 *slabs, guint room)
{
	guint32 slab = kmt_simulated_cache_grow(cache);
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];
	guint n = MIN(s->free, room);

	s->free = (guint16)(s->free - n);
	if (s->free)
		kmt_simulated_cache_list(cache, slab, FALSE);
	for (guint i = 0; i < n; i++)
		slabs[i] = slab;
	return n;
}

/* Take objects from the slabs; see refill_objects(). */
static void take_objects(KmtSimulatedCache *cache, guint32 *slabs, guint n)
{
	guint taken = 0;

	while (taken < n && cache->partial.first)
		taken += take_partial(cache, slabs + taken, n - taken);
	while (taken < n)
		taken += take_new(cache, slabs + taken, n - taken);
}

/* Return all objects of a sheaf to their slabs. */
static void flush(KmtSimulatedCache *cache, Sheaf *sheaf)
{
	for (guint i = 0; i < sheaf->n; i++)
		kmt_simulated_cache_free_listed(cache, sheaf->slabs[i]);
	sheaf->n = 0;
}

/* Replace the empty main sheaf; see __pcs_replace_empty_main(). */
static void replace_empty(KmtSimulatedCache *cache, SheafCpu *cpu)
{
	Barn *barn = cache->node;
	Sheaf *full = barn->full;

	if (cpu->spare && cpu->spare->n) {
		swap_sheaves(cpu);
		return;
	}
	if (full) {
		barn->full = full->next;
		barn->n_full--;
		put_empty(barn, cpu->main);
		cpu->main = full;
		return;
	}
	full = cpu->spare ? cpu->spare : get_empty(cache, barn);
	take_objects(cache, full->slabs, cache->geometry.sheaf_capacity);
	full->n = cache->geometry.sheaf_capacity;
	cpu->spare = cpu->main;
	cpu->main = full;
}

/* Replace the full main sheaf; see __pcs_replace_full_main(). */
static void replace_full(KmtSimulatedCache *cache, SheafCpu *cpu)
{
	Barn *barn = cache->node;

	if (!cpu->spare) {
		cpu->spare = cpu->main;
		cpu->main = get_empty(cache, barn);
		return;
	}
	if (cpu->spare->n < cache->geometry.sheaf_capacity) {
		swap_sheaves(cpu);
		return;
	}
	if (barn->n_full >= KMT_SLAB_MAX_FULL_SHEAVES) {
		flush(cache, cpu->spare);
		swap_sheaves(cpu);
		return;
	}
	put_full(barn, cpu->main);
	cpu->main = get_empty(cache, barn);
}

static guint32 sheaf_alloc(KmtSimulatedCache *cache, gpointer data)
{
	SheafCpu *cpu = data;
	guint32 slab;

	if (!cpu->main) {
		take_objects(cache, &slab, 1);
		return slab;
	}
	if (!cpu->main->n)
		replace_empty(cache, cpu);
	return cpu->main->slabs[--cpu->main->n];
}

static void sheaf_release(KmtSimulatedCache *cache, guint32 slab, gpointer data)
{
	SheafCpu *cpu = data;

	if (!cpu->main) {
		kmt_simulated_cache_free_listed(cache, slab);
		return;
	}
	if (cpu->main->n == cache->geometry.sheaf_capacity)
		replace_full(cache, cpu);
	cpu->main->slabs[cpu->main->n++] = slab;
}

static void sheaf_init_node(KmtSimulatedCache *cache)
{
	cache->node = g_new0(Barn, 1);
}

static void sheaf_clear_node(KmtSimulatedCache *cache)
{
	Barn *barn = cache->node;

	while (barn->full) {
		Sheaf *full = barn->full;

		barn->full = full->next;
		g_free(full);
	}
	g_free(barn);
}

static void sheaf_init_cpu(KmtSimulatedCache *cache, gpointer data)
{
	SheafCpu *cpu = data;

	if (cache->geometry.sheaf_capacity)
		cpu->main = new_sheaf(cache);
}

static void sheaf_clear_cpu(G_GNUC_UNUSED KmtSimulatedCache *cache,
			    gpointer data)
{
	SheafCpu *cpu = data;

	g_free(cpu->main);
	g_free(cpu->spare);
}

const KmtSlabRules kmt_slab_rules_sheaves = {
	.cpu_size = sizeof(SheafCpu),
	.alloc = sheaf_alloc,
	.release = sheaf_release,
	.init_node = sheaf_init_node,
	.clear_node = sheaf_clear_node,
	.init_cpu = sheaf_init_cpu,
	.clear_cpu = sheaf_clear_cpu,
};
