// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SLUB without sheaves: each CPU allocates from a slab of its own and has a
 * list of partial slabs. See ___slab_alloc() and __slab_free() of mm/slub.c.
 */
#include "config.h"

#include "lib/slab/simulator-private.h"

typedef struct {
	guint32 slab;	 /* slab that the CPU allocates from; 0: none */
	guint32 free;	 /* free objects of this slab that only this CPU has */
	guint32 partial; /* first of the partial slabs, linked by next */
	guint32 n_partial;
} SlubCpu;

/* Move all partial slabs of a CPU to the node, or free them if it has enough.
 */
static void drain_partial(KmtSimulatedCache *cache, SlubCpu *cpu)
{
	guint32 slab = cpu->partial;

	while (slab) {
		KmtSimulatedSlab *s = &cache->pool->slabs[slab];
		guint32 next = s->next;

		s->on = KMT_SIMULATED_ON_NONE;
		if (s->free == cache->geometry.objects &&
		    cache->partial.n >= cache->geometry.min_partial)
			kmt_simulated_cache_shrink(cache, slab);
		else
			kmt_simulated_cache_list(cache, slab, TRUE);
		slab = next;
	}
	cpu->partial = 0;
	cpu->n_partial = 0;
}

/* Add a slab that is on no list to the partial slabs of a CPU. */
static void add_partial(KmtSimulatedCache *cache, SlubCpu *cpu, guint32 slab)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];

	s->on = KMT_SIMULATED_ON_CPU;
	s->next = cpu->partial;
	cpu->partial = slab;
	cpu->n_partial++;
}

/* Let a CPU allocate from a slab. */
static void use_slab(KmtSimulatedCache *cache, SlubCpu *cpu, guint32 slab)
{
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];

	s->on = KMT_SIMULATED_ON_CPU;
	cpu->slab = slab;
	cpu->free = s->free;
	s->free = 0;
}

/* Take partial slabs of the node for a CPU. Return FALSE if there are none. */
static gboolean take_from_node(KmtSimulatedCache *cache, SlubCpu *cpu)
{
	guint32 slab = cache->partial.first;
	guint n = 0;

	if (!slab)
		return FALSE;
	kmt_simulated_cache_unlist(cache, slab);
	use_slab(cache, cpu, slab);
	if (cache->geometry.cpu_partial_slabs == 0)
		return TRUE;
	while ((slab = cache->partial.first)) {
		kmt_simulated_cache_unlist(cache, slab);
		add_partial(cache, cpu, slab);
		if (++n > cache->geometry.cpu_partial_slabs / 2)
			break;
	}
	return TRUE;
}

/* Give a CPU a slab with free objects. */
static void refill(KmtSimulatedCache *cache, SlubCpu *cpu)
{
	guint32 slab = cpu->slab;

	/* Other CPUs may have freed objects of the CPU's slab. */
	if (slab && cache->pool->slabs[slab].free) {
		use_slab(cache, cpu, slab);
		return;
	}
	if (slab)
		cache->pool->slabs[slab].on = KMT_SIMULATED_ON_NONE;
	cpu->slab = 0;
	slab = cpu->partial;
	if (slab) {
		cpu->partial = cache->pool->slabs[slab].next;
		cpu->n_partial--;
		use_slab(cache, cpu, slab);
		return;
	}
	if (!take_from_node(cache, cpu))
		use_slab(cache, cpu, kmt_simulated_cache_grow(cache));
}

static guint32 slub_alloc(KmtSimulatedCache *cache, gpointer data)
{
	SlubCpu *cpu = data;

	if (!cpu->free)
		refill(cache, cpu);
	cpu->free--;
	return cpu->slab;
}

static void slub_release(KmtSimulatedCache *cache, guint32 slab, gpointer data)
{
	SlubCpu *cpu = data;
	KmtSimulatedSlab *s = &cache->pool->slabs[slab];

	if (slab == cpu->slab) {
		cpu->free++;
		return;
	}
	if (s->on == KMT_SIMULATED_ON_CPU) {
		s->free++;
		return;
	}
	if (s->on == KMT_SIMULATED_ON_PARTIAL ||
	    cache->geometry.cpu_partial_slabs == 0) {
		kmt_simulated_cache_free_listed(cache, slab);
		return;
	}
	/* The slab was full, so it is on no list. */
	s->free++;
	if (cpu->n_partial >= cache->geometry.cpu_partial_slabs)
		drain_partial(cache, cpu);
	add_partial(cache, cpu, slab);
}

const KmtSlabRules kmt_slab_rules_slub = {
	.cpu_size = sizeof(SlubCpu),
	.alloc = slub_alloc,
	.release = slub_release,
};
