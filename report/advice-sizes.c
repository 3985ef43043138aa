// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Objects of a fixed size that waste much of the kmalloc() cache that they come
 * from. A smaller object, or a cache of its own, needs fewer slabs.
 */
#include "config.h"

#include "report/advice-private.h"

#include <string.h>

/* A finding has at least this number of objects at the peak or at the end. */
#define MIN_OBJECTS 16
/* An object can be expected to shrink by this part of the smaller size. */
#define SHRINK_PART 8
/* A new cache saves at least this number of bytes. */
#define MIN_CACHE_SAVING 16384
/* A change saves at least this part of the slabs. */
#define MIN_PART 0.1

/* The objects of a site, and the layouts of the caches that could hold them. */
typedef struct {
	const KmtAdviceSite *site;
	const KmtAdviceSize *size;
	guint64 live, peak;	 /* objects */
	KmtSlabGeometry present; /* of the kmalloc() cache */
	gboolean can_shrink;
	KmtSlabGeometry smaller; /* of the next smaller one */
	gboolean can_have_cache;
	KmtSlabGeometry own; /* of a cache for this object */
} SizeCandidate;

/* ---- savings ---- */

static gint64 shrink_saving(const KmtAdviceContext *context,
			    const SizeCandidate *c, guint64 n)
{
	return (gint64)kmt_advice_shared_bytes(context->layout, &c->present,
					       n) -
	       (gint64)kmt_advice_shared_bytes(context->layout, &c->smaller, n);
}

static gint64 cache_saving(const KmtAdviceContext *context,
			   const SizeCandidate *c, guint64 n)
{
	return (gint64)kmt_advice_shared_bytes(context->layout, &c->present,
					       n) -
	       (gint64)kmt_advice_own_bytes(context->layout, &c->own, n);
}

/* ---- texts ---- */

/* Describe a layout: "16 objects in 4096 bytes". The caller frees the string.
 */
static char *layout_text(const KmtAdviceContext *context,
			 const KmtSlabGeometry *geometry)
{
	g_autofree char *objects =
		kmt_advice_exact(context->report, geometry->objects);
	g_autofree char *bytes = kmt_advice_exact(
		context->report,
		kmt_slab_bytes(&context->layout->kernel, geometry));

	return g_strdup_printf("%s objects in %s bytes", objects, bytes);
}

static char *objects_text(const KmtAdviceContext *context,
			  const SizeCandidate *c)
{
	g_autofree char *peak = kmt_advice_figure(context->report, c->peak);
	g_autofree char *live = kmt_advice_figure(context->report, c->live);
	g_autofree char *size =
		kmt_advice_exact(context->report, c->size->bytes_req);
	g_autofree char *present = layout_text(context, &c->present);
	g_autofree char *name =
		kmt_slab_kmalloc_name(c->present.object_size, 0);

	return g_strdup_printf("%s objects of %s bytes at the peak, %s at the "
			       "end; a slab of %s has %s",
			       peak, size, live, name, present);
}

static char *shrink_computation(const KmtAdviceContext *context,
				const SizeCandidate *c)
{
	g_autofree char *objects = objects_text(context, c);
	g_autofree char *smaller = layout_text(context, &c->smaller);
	g_autofree char *name =
		kmt_slab_kmalloc_name(c->smaller.object_size, 0);

	return g_strdup_printf("%s, a slab of %s %s; both caches have other "
			       "objects, too, so an object counts with its "
			       "part of a slab",
			       objects, name, smaller);
}

static char *cache_computation(const KmtAdviceContext *context,
			       const SizeCandidate *c)
{
	const KmtReport *report = context->report;
	KmtSlabOverhead overhead;
	g_autofree char *objects = objects_text(context, c);
	g_autofree char *own = layout_text(context, &c->own);
	g_autofree char *bytes = NULL, *at_peak = NULL, *at_end = NULL;

	kmt_slab_overhead(&context->layout->kernel, &c->own, &overhead);
	bytes = kmt_advice_exact(report, overhead.descriptors +
						 overhead.per_cpu +
						 overhead.sysfs);
	at_peak = kmt_advice_figure(report, kmt_slab_slabs(&c->own, c->peak));
	at_end = kmt_advice_figure(report, kmt_slab_slabs(&c->own, c->live));
	return g_strdup_printf("%s, one of the new cache %s: %s slabs at the "
			       "peak, %s at the end, and %s bytes for the "
			       "cache itself",
			       objects, own, at_peak, at_end, bytes);
}

static void add_shrink(KmtAdviceContext *context, KmtAdvice *advice,
		       const SizeCandidate *c)
{
	guint64 less = c->size->bytes_req - c->smaller.object_size;
	g_autofree char *name =
		kmt_slab_kmalloc_name(c->smaller.object_size, 0);

	kmt_advice_add_change(
		advice, "shrink",
		g_strdup_printf("Make the object %" G_GUINT64_FORMAT
				" bytes smaller, from %" G_GUINT64_FORMAT
				" to %" G_GSIZE_FORMAT " bytes, which fit %s",
				less, c->size->bytes_req,
				c->smaller.object_size, name),
		shrink_saving(context, c, c->live),
		shrink_saving(context, c, c->peak),
		shrink_computation(context, c),
		g_strdup("Only the work on the structure. pahole(1) shows its "
			 "holes."));
}

static void add_cache(KmtAdviceContext *context, KmtAdvice *advice,
		      const SizeCandidate *c)
{
	const KmtReport *report = context->report;
	KmtSlabOverhead overhead;
	g_autofree char *idle = NULL;
	g_autofree char *flags =
		kmt_symbolizer_gfp(report->symbolizer, c->site->any_flags);

	kmt_slab_overhead(&context->layout->kernel, &c->own, &overhead);
	idle = kmt_advice_exact(report, overhead.slabs_idle);
	kmt_advice_add_change(
		advice, "kmem_cache",
		g_strdup_printf("Allocate the object from a kmem_cache of its "
				"own, of %" G_GSIZE_FORMAT " bytes",
				c->own.size),
		cache_saving(context, c, c->live),
		cache_saving(context, c, c->peak),
		cache_computation(context, c),
		g_strdup_printf(
			"Up to %s bytes of idle slabs while few "
			"objects are live. The kernel may merge the "
			"cache with another one, which costs less. "
			"Create the cache%s with the alignment of the "
			"structure; for DMA, that is at least the "
			"alignment of kmalloc(). If parts of the object "
			"are copied to or from user space, use "
			"kmem_cache_create_usercopy(). krealloc() "
			"cannot be used. If the object is an array, "
			"other lengths still need kmalloc().",
			idle,
			strstr(flags, "RECLAIMABLE")
				? " with SLAB_RECLAIM_ACCOUNT and"
				: ""));
}

/* ---- findings ---- */

static void add_finding(KmtAdviceContext *context, const SizeCandidate *c)
{
	const KmtAdviceEvidence evidence = {
		.objects = MAX(c->live, c->peak),
		.any_number = TRUE,
		.assumes_layout = context->layout->is_assumed};
	KmtAdvice *advice =
		kmt_advice_add(context, KMT_ADVICE_SIZE, c->site->kind);
	gboolean shrink_first =
		c->can_shrink &&
		(!c->can_have_cache ||
		 MAX(shrink_saving(context, c, c->live),
		     shrink_saving(context, c, c->peak)) >=
			 MAX(cache_saving(context, c, c->live),
			     cache_saving(context, c, c->peak)));

	advice->sites[0] = c->site->site;
	advice->n_sites = 1;
	if (shrink_first)
		add_shrink(context, advice, c);
	if (c->can_have_cache)
		add_cache(context, advice, c);
	if (c->can_shrink && !shrink_first)
		add_shrink(context, advice, c);
	kmt_advice_add_number(advice, "bytes_requested", c->size->bytes_req);
	kmt_advice_add_number(advice, "bytes_allocated", c->size->bytes_alloc);
	kmt_advice_add_number(advice, "objects_live", c->live);
	kmt_advice_add_number(advice, "objects_at_peak", c->peak);
	kmt_advice_add_number(
		advice, "cache_bytes",
		kmt_advice_own_bytes(context->layout, &c->own, 0));
	kmt_advice_set_certainty(context, advice, &evidence);
}

/* Compute the layouts of the caches. Return FALSE if the present size is not
 * one of this kernel. */
static gboolean set_layouts(const KmtAdviceContext *context, SizeCandidate *c)
{
	const KmtSlabKernel *kernel = &context->layout->kernel;
	const KmtInputSlabTable *slabs = context->layout->slabs;
	guint64 request = c->size->bytes_req, gfp = c->site->common_flags;
	gsize size = kmt_slab_kmalloc_size(kernel, request);
	const KmtSlabRequest own = {.object_size = request};
	KmtSlabGeometry usual; /* without parameters and debug options */
	gsize smaller;

	if (request >= size || size > kernel->kmalloc_max ||
	    !kmt_slab_geometry_compute_kmalloc(kernel, size, &usual) ||
	    !kmt_slab_geometry_of_kmalloc(kernel, slabs, size, gfp, &c->present,
					  NULL))
		return FALSE;
	/* SLAB allocates the size with its padding. Other sizes are those of a
	 * kernel with debug options, whose layouts are unknown. */
	if (c->size->bytes_alloc != size && c->size->bytes_alloc != usual.size)
		return FALSE;
	smaller = kmt_slab_kmalloc_smaller(kernel, size);
	c->can_shrink = smaller && request - smaller <= smaller / SHRINK_PART &&
			kmt_slab_geometry_of_kmalloc(kernel, slabs, smaller,
						     gfp, &c->smaller, NULL);
	c->can_have_cache = !kmt_advice_is_for_dma(context->report, c->site) &&
			    kmt_slab_geometry_compute(kernel, &own, &c->own);
	return TRUE;
}

/* Return whether the larger of two savings is worth the change. */
static gboolean is_enough(const KmtAdviceContext *context,
			  const SizeCandidate *c, gint64 live, gint64 peak,
			  gint64 least)
{
	guint64 present = kmt_advice_shared_bytes(context->layout, &c->present,
						  MAX(c->live, c->peak));

	return MAX(live, peak) >= least &&
	       (double)MAX(live, peak) >= (double)present * MIN_PART;
}

static void examine(KmtAdviceContext *context, const KmtAdviceSite *site)
{
	SizeCandidate c = {.site = site};

	c.size = kmt_advice_dominating_size(context->sites, site);
	if (!c.size)
		return;
	c.live = kmt_advice_scaled(context, c.size->live.now);
	c.peak = kmt_advice_scaled(context, c.size->live.at_peak);
	if (MAX(c.live, c.peak) < MIN_OBJECTS || !set_layouts(context, &c))
		return;
	c.can_shrink =
		c.can_shrink &&
		is_enough(context, &c, shrink_saving(context, &c, c.live),
			  shrink_saving(context, &c, c.peak),
			  KMT_ADVICE_MIN_SAVING);
	c.can_have_cache =
		c.can_have_cache &&
		is_enough(context, &c, cache_saving(context, &c, c.live),
			  cache_saving(context, &c, c.peak), MIN_CACHE_SAVING);
	if (c.can_shrink || c.can_have_cache)
		add_finding(context, &c);
}

static void find(G_GNUC_UNUSED gpointer state, KmtAdviceContext *context)
{
	guint i;

	for (i = 0; i < context->sites->sites->len; i++) {
		const KmtAdviceSite *site = kmt_advice_site(context->sites, i);

		if (site->kind == KMT_KIND_KMALLOC &&
		    !kmt_advice_is_wrapper(context, &site->site))
			examine(context, site);
	}
}

const KmtAdviceDetector kmt_advice_sizes = {
	.what = "sizes that kmalloc rounds up",
	.needs = KMT_ADVICE_NEEDS_LAYOUT,
	.find = find};
