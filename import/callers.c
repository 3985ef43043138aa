// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "import/callers.h"

/*
 * Number of slots of the direct-mapped cache of is_page_allocator(). The
 * address of an empty slot is 0.
 */
#define CACHE_SLOTS 4096

struct KmtImportCallers {
	KmtImportFunctionName name;
	gpointer user;
	GPtrArray *patterns; /* GPatternSpec *, owned */
	struct {
		guint64 address;
		gboolean is_page_allocator;
	} cache[CACHE_SLOTS];
};

/*
 * Functions of the page allocator in Linux 5.4 to 6.18, and wrappers that only
 * forward pages to or from the page allocator. The tracepoint functions come
 * first, then allocation functions, then free functions.
 */
static const char *const page_functions[] = {
	/* The innermost frame of a stack of ftrace is the tracepoint function
	 * itself. */
	"trace_event_*",
	"__traceiter_*",
	"alloc_page",
	"alloc_page_*",
	"alloc_pages*",
	"__alloc_page*",
	"alloc_frozen_pages*",
	"__alloc_frozen_pages*",
	"get_page_from_freelist",
	"get_free_page*",
	"get_dma_pages*",
	"__get_free_page*",
	"get_zeroed_page*",
	"folio_alloc*",
	"__folio_alloc*",
	"vma_alloc_folio*",
	"alloc_contig_*",
	"make_alloc_exact*",
	"page_frag_alloc*",
	"__page_frag_alloc*",
	"__page_frag_cache_refill*",
	"prep_new_page",
	"post_alloc_hook",
	"__free_page*",
	"free_page*",
	"__free_frozen_pages*",
	"free_frozen_pages*",
	"free_unref_*",
	"free_the_page",
	"__free_pages_ok",
	"free_contig_range",
	"__folio_put*",
	"__put_page",
	"__put_single_page",
	"__put_compound_page",
	"put_pages_list",
	"folios_put*",
	"release_pages",
	"free_compound_page",
	"destroy_large_folio",
	"destroy_compound_page",
	"page_frag_free*",
	"__page_frag_cache_drain",
};

static void free_pattern(gpointer data)
{
	g_pattern_spec_free(data);
}

KmtImportCallers *kmt_import_callers_new(KmtImportFunctionName name,
					 gpointer user)
{
	KmtImportCallers *c = g_new0(KmtImportCallers, 1);

	c->name = name;
	c->user = user;
	c->patterns = g_ptr_array_new_with_free_func(free_pattern);
	for (gsize i = 0; i < G_N_ELEMENTS(page_functions); i++)
		g_ptr_array_add(c->patterns,
				g_pattern_spec_new(page_functions[i]));
	return c;
}

void kmt_import_callers_free(KmtImportCallers *c)
{
	if (!c)
		return;
	g_ptr_array_unref(c->patterns);
	g_free(c);
}

static gboolean matches(const KmtImportCallers *c, const char *name)
{
	/* Remove the suffix that the compiler adds to a part of a function:
	 * x.isra.0, x.cold. */
	g_autofree char *stem =
		name ? g_strndup(name, strcspn(name, ".")) : NULL;

	for (guint i = 0; stem && i < c->patterns->len; i++)
		if (g_pattern_spec_match_string(c->patterns->pdata[i], stem))
			return TRUE;
	return FALSE;
}

/*
 * Return whether the return address site is in a function of the page
 * allocator. The lookup uses site - 1, because a call that ends a function has
 * a return address behind this function.
 */
static gboolean is_page_allocator(KmtImportCallers *c, guint64 site)
{
	guint slot = (guint)(site ^ site >> 12) % CACHE_SLOTS;

	if (c->cache[slot].address != site) {
		c->cache[slot].address = site;
		c->cache[slot].is_page_allocator =
			c->name && matches(c, c->name(c->user, site - 1));
	}
	return c->cache[slot].is_page_allocator;
}

guint kmt_import_callers_apply(KmtImportCallers *c,
			       struct kmemtrace_event *event,
			       const guint64 **stack, guint n)
{
	guint n_skipped = 0;

	if (event->call_site) {
		while (n_skipped < n && (*stack)[n_skipped] != event->call_site)
			n_skipped++;
		/* The stack does not contain the call site: skip only the
		 * function that contains the tracepoint. */
		if (n_skipped == n)
			n_skipped = MIN(n, 1);
	} else {
		/* The first address is in the function that contains the
		 * tracepoint. Skip this address even if the name of that
		 * function is not known. */
		n_skipped = is_page_allocator(c, n ? (*stack)[0] : 0)
				    ? 0
				    : MIN(n, 1);
		while (n_skipped < n &&
		       is_page_allocator(c, (*stack)[n_skipped]))
			n_skipped++;
		/* The stack was truncated within the allocator: skip only the
		 * function that contains the tracepoint. */
		if (n_skipped == n)
			n_skipped = MIN(n, 1);
		if (event->type_id == KMEMTRACE_TYPE_PAGES && n_skipped < n)
			event->call_site = (*stack)[n_skipped];
	}
	*stack += n_skipped;
	return n - n_skipped;
}
