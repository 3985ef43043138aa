// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/allocator-memory.h"

#include <string.h>

/* Functions that allocate memory for objects of another kind. */
static const struct {
	const char *function;
	KmtKind kind;	 /* of this memory, a result of kmt_kind_layer() */
	KmtKind objects; /* kind of the objects */
	gboolean with_objects; /* freed together with the objects */
} allocators[] = {
	{"alloc_slab_page", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"allocate_slab", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"new_slab", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"cache_grow_begin", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"cache_alloc_refill", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"fallback_alloc", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"kmem_getpages", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"slob_new_pages", KMT_KIND_PAGES, KMT_KIND_SLAB, FALSE},
	{"alloc_vmap_area", KMT_KIND_SLAB, KMT_KIND_VMALLOC, FALSE},
	{"kmalloc_order", KMT_KIND_PAGES, KMT_KIND_SLAB, TRUE},
	{"kmalloc_large_node", KMT_KIND_PAGES, KMT_KIND_SLAB, TRUE},
	{"__kmalloc_large_node", KMT_KIND_PAGES, KMT_KIND_SLAB, TRUE},
	{"___kmalloc_large_node", KMT_KIND_PAGES, KMT_KIND_SLAB, TRUE},
	{"vm_area_alloc_pages", KMT_KIND_PAGES, KMT_KIND_VMALLOC, TRUE},
	{"__vmalloc_area_node", KMT_KIND_PAGES, KMT_KIND_VMALLOC, TRUE},
	{"__vmalloc_node_range", KMT_KIND_PAGES, KMT_KIND_VMALLOC, TRUE},
	{"pcpu_alloc_pages", KMT_KIND_PAGES, KMT_KIND_PERCPU, TRUE},
	{"pcpu_populate_chunk", KMT_KIND_PAGES, KMT_KIND_PERCPU, TRUE},
};

/* Allocating functions have this suffix since Linux 6.10. */
#define SUFFIX "_noprof"

/* Return the name of the function that allocated, or NULL. The caller frees the
 * string. */
static char *allocating_function(const KmtGroups *groups, const KmtGroup *group)
{
	const KmtBy *by = groups->options.by;
	char *name = NULL;
	guint i;

	for (i = 0; i < by->n && !name; i++) {
		KmtSymSite site;
		KmtSymbol symbol;

		if (by->dimensions[i] == KMT_BY_FUNCTION) {
			name = kmt_groups_value(groups, group, i);
			continue;
		}
		if (by->dimensions[i] == KMT_BY_CALLSITE)
			kmt_groups_site(groups, group, &site);
		else if (by->dimensions[i] == KMT_BY_STACK)
			site = kmt_groups_frame(
				groups, kmt_groups_chain(groups, group, i), 0);
		else
			continue;
		if (kmt_symbolizer_symbol(groups->options.symbolizer, &site,
					  &symbol))
			name = g_strdup(symbol.name);
	}
	return name;
}

static gboolean is_function(const char *name, const char *function)
{
	gsize n;

	/* A comparison of captures tests each call site. The first letter
	 * decides most tests. */
	if (*name != *function)
		return FALSE;
	n = strlen(function);
	if (strncmp(name, function, n) != 0)
		return FALSE;
	if (g_str_has_prefix(name + n, SUFFIX))
		n += strlen(SUFFIX);
	return !name[n] || name[n] == '.';
}

gboolean kmt_allocator_memory_of_function(const KmtAggregate *aggregate,
					  const char *function, KmtKind kind,
					  gboolean all, KmtKind *objects)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(allocators); i++) {
		if (kmt_kind_layer(kind) != allocators[i].kind ||
		    !is_function(function, allocators[i].function))
			continue;
		if (allocators[i].with_objects && !all)
			return FALSE;
		*objects = allocators[i].objects;
		return aggregate->kinds[*objects].allocs > 0;
	}
	return FALSE;
}

gboolean kmt_allocator_memory_holds(const KmtAggregate *aggregate,
				    const KmtGroup *group, gboolean all,
				    KmtKind *objects)
{
	g_autofree char *name = allocating_function(aggregate->groups, group);

	return name && kmt_allocator_memory_of_function(
			       aggregate, name, group->kind, all, objects);
}
