// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Large allocations of kmalloc(), which come from the page allocator and are
 * rounded up to a power of two of pages. Exact pages or vmalloc() need fewer.
 */
#include "config.h"

#include "report/advice-private.h"

#include <string.h>

/* kmalloc() of more pages than these does not use a cache. */
#define MAX_CACHE_PAGES 2
/* Bytes that vmalloc() needs besides the pages: struct vmap_area and struct
 * vm_struct; and for each page an element of the array of pages and a page
 * table entry. */
#define VMALLOC_AREA_BYTES 136
#define VMALLOC_PAGE_BYTES 16

/* LargeSums over the objects of a site, at the end or at the peak. */
typedef struct {
	guint64 objects;
	guint64 tail;	  /* allocated bytes after the last page that is used */
	guint64 overhead; /* bytes that vmalloc() needs besides the pages */
} LargeSums;

static void add_bytes(guint64 *sum, guint64 objects, guint64 bytes)
{
	*sum = MIN(*sum + kmt_advice_product(objects, bytes),
		   KMT_ADVICE_MAX_BYTES);
}

static void add_objects(LargeSums *sums, const KmtAdviceSize *size,
			guint64 objects, guint64 page)
{
	guint64 pages = (size->bytes_req + page - 1) / page;

	sums->objects += objects;
	add_bytes(&sums->tail, objects, size->bytes_alloc - pages * page);
	add_bytes(&sums->overhead, objects,
		  VMALLOC_AREA_BYTES + pages * VMALLOC_PAGE_BYTES);
}

/* Return the bytes that vmalloc() would save. */
static gint64 vmalloc_saving(const LargeSums *sums)
{
	return (gint64)sums->tail - (gint64)sums->overhead;
}

static gboolean is_large(const KmtAdviceSize *size, guint64 page)
{
	/* Damaged records can have any size. */
	return size->bytes_alloc / page > MAX_CACHE_PAGES &&
	       size->bytes_alloc % page == 0 &&
	       size->bytes_req <= size->bytes_alloc &&
	       size->bytes_alloc < G_GUINT64_CONSTANT(1) << 40;
}

/* Return whether all allocations of a site may sleep and use any memory. */
static gboolean can_be_vmalloc(const KmtReport *report,
			       const KmtAdviceSite *site)
{
	g_autofree char *flags =
		kmt_symbolizer_gfp(report->symbolizer, site->common_flags);

	return (strstr(flags, "GFP_KERNEL") || strstr(flags, "GFP_USER")) &&
	       !kmt_advice_is_for_dma(report, site);
}

static char *change_of(const KmtReport *report, const KmtAdviceSize *size,
		       guint64 page)
{
	g_autofree char *exact = NULL, *rounded = NULL;

	if (!size)
		return g_strdup("Allocate only the pages that are used, with "
				"alloc_pages_exact() instead of kmalloc()");
	exact = kmt_advice_exact(report, (size->bytes_req + page - 1) / page);
	rounded = kmt_advice_exact(report, size->bytes_alloc / page);
	return g_strdup_printf("Allocate %s pages with alloc_pages_exact() "
			       "instead of %s with kmalloc()",
			       exact, rounded);
}

static char *computation_of(const KmtReport *report, const LargeSums *live,
			    const LargeSums *peak)
{
	g_autofree char *n_live = kmt_advice_figure(report, live->objects);
	g_autofree char *n_peak = kmt_advice_figure(report, peak->objects);
	g_autofree char *tail_live = kmt_advice_figure(report, live->tail);
	g_autofree char *tail_peak = kmt_advice_figure(report, peak->tail);

	return g_strdup_printf("unused pages: %s bytes of %s objects at the "
			       "peak, %s bytes of %s objects at the end",
			       tail_peak, n_peak, tail_live, n_live);
}

static char *vmalloc_computation(const KmtReport *report, const LargeSums *live,
				 const LargeSums *peak)
{
	g_autofree char *at_peak = kmt_advice_figure(report, peak->overhead);
	g_autofree char *at_end = kmt_advice_figure(report, live->overhead);
	g_autofree char *tail_live = kmt_advice_figure(report, live->tail);
	g_autofree char *tail_peak = kmt_advice_figure(report, peak->tail);

	return g_strdup_printf(
		"unused pages: %s bytes at the peak, %s bytes at the end; less "
		"%s bytes at the peak and %s bytes at the end "
		"for areas, arrays of pages and page tables (%d bytes for an "
		"object and %d for a page)",
		tail_peak, tail_live, at_peak, at_end, VMALLOC_AREA_BYTES,
		VMALLOC_PAGE_BYTES);
}

static void add_exact_change(const KmtAdviceContext *context, KmtAdvice *advice,
			     const KmtAdviceSize *size, const LargeSums *live,
			     const LargeSums *peak)
{
	kmt_advice_add_change(
		advice, "exact_pages",
		change_of(context->report, size, kmt_advice_page_size(context)),
		(gint64)live->tail, (gint64)peak->tail,
		computation_of(context->report, live, peak),
		g_strdup("The memory is contiguous as before, so the "
			 "allocation fails as easily when memory is "
			 "fragmented. kfree(), krealloc() and ksize() cannot "
			 "be used; free_pages_exact() needs the size."));
}

static void add_vmalloc_change(const KmtAdviceContext *context,
			       KmtAdvice *advice, gboolean is_kvmalloc,
			       const LargeSums *live, const LargeSums *peak)
{
	kmt_advice_add_change(
		advice, "vmalloc",
		is_kvmalloc ? g_strdup("Call vmalloc() instead of kvmalloc(), "
				       "which calls kmalloc() first")
			    : g_strdup("Allocate with vmalloc()"),
		vmalloc_saving(live), vmalloc_saving(peak),
		vmalloc_computation(context->report, live, peak),
		g_strdup(
			"No DMA to this memory; microseconds more for each "
			"allocation and free, and more TLB misses. vfree() may "
			"sleep, so it cannot be called under a spinlock. "
			"kvmalloc() does not save this memory, because it "
			"calls "
			"kmalloc() first and vmalloc() only if that fails."));
}

/* Return whether the function of a site is kvmalloc() or one of its variants.
 */
static gboolean is_kvmalloc(const KmtReport *report, const KmtAdviceSite *site)
{
	KmtSymbol symbol;

	return kmt_symbolizer_symbol(report->symbolizer, &site->site,
				     &symbol) &&
	       (g_str_has_prefix(symbol.name, "kvmalloc") ||
		g_str_has_prefix(symbol.name, "__kvmalloc"));
}

static void add_finding(KmtAdviceContext *context, const KmtAdviceSite *site,
			const KmtAdviceSize *size, const LargeSums *live,
			const LargeSums *peak)
{
	const KmtReport *report = context->report;
	gboolean kv = is_kvmalloc(report, site);
	const KmtAdviceEvidence evidence = {
		.objects = site->allocs,
		.any_number = TRUE,
		.doubt = kmt_advice_wrapper_doubt(context, &site->site)};
	KmtAdvice *advice =
		kmt_advice_add(context, KMT_ADVICE_LARGE, site->kind);

	advice->sites[0] = site->site;
	advice->n_sites = 1;
	/* kvfree() cannot free exact pages. */
	if (!kv)
		add_exact_change(context, advice, size, live, peak);
	if (kv || can_be_vmalloc(report, site))
		add_vmalloc_change(context, advice, kv, live, peak);
	kmt_advice_add_number(advice, "objects_live", live->objects);
	kmt_advice_add_number(advice, "objects_at_peak", peak->objects);
	kmt_advice_add_number(advice, "vmalloc_bytes_live", live->overhead);
	kmt_advice_add_number(advice, "vmalloc_bytes_at_peak", peak->overhead);
	kmt_advice_set_certainty(context, advice, &evidence);
}

/* Return whether the first change of a finding saves enough. */
static gboolean is_enough(const KmtAdviceContext *context,
			  const KmtAdviceSite *site, const LargeSums *live,
			  const LargeSums *peak)
{
	gboolean kv = is_kvmalloc(context->report, site);
	gint64 at_end = vmalloc_saving(live), at_peak = vmalloc_saving(peak);

	if (!kv) {
		at_end = (gint64)live->tail;
		at_peak = (gint64)peak->tail;
	}
	return MAX(at_end, at_peak) >= KMT_ADVICE_MIN_SAVING;
}

static void examine(KmtAdviceContext *context, const KmtAdviceSite *site)
{
	guint64 page = kmt_advice_page_size(context);
	const KmtAdviceSize *only = NULL;
	LargeSums live = {0}, peak = {0};
	const KmtAdviceSize *size = kmt_advice_first_size(context->sites, site);
	guint n = 0;

	for (; size; size = kmt_advice_next_size(context->sites, size)) {
		if (!is_large(size, page))
			continue;
		add_objects(&live, size,
			    kmt_advice_scaled(context, size->live.now), page);
		add_objects(&peak, size,
			    kmt_advice_scaled(context, size->live.at_peak),
			    page);
		only = n++ ? NULL : size;
	}
	if (is_enough(context, site, &live, &peak))
		add_finding(context, site, only, &live, &peak);
}

static void find(G_GNUC_UNUSED gpointer state, KmtAdviceContext *context)
{
	guint i;

	for (i = 0; i < context->sites->sites->len; i++) {
		const KmtAdviceSite *site = kmt_advice_site(context->sites, i);

		if (site->kind == KMT_KIND_KMALLOC)
			examine(context, site);
	}
}

const KmtAdviceDetector kmt_advice_large = {.what = "large allocations",
					    .find = find};
