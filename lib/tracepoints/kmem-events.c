// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/tracepoints/kmem-events.h"

/* Value of a 4-byte field pfn if the event has no page. */
#define NO_PFN_32 G_MAXUINT32

#define FIELD(name, member)                                                    \
	{                                                                      \
		name, G_STRUCT_OFFSET(KmtTracepoint, member), FALSE            \
	}
#define OPTIONAL(name, member)                                                 \
	{                                                                      \
		name, G_STRUCT_OFFSET(KmtTracepoint, member), TRUE             \
	}
#define END                                                                    \
	{                                                                      \
		NULL, 0, FALSE                                                 \
	}

static const KmtTracepointField object_alloc[] = {
	FIELD("call_site", call_site),
	FIELD("ptr", ptr),
	FIELD("bytes_req", bytes_req),
	FIELD("bytes_alloc", bytes_alloc),
	OPTIONAL("node", node),
	FIELD("gfp_flags", gfp_flags),
	END,
};

static const KmtTracepointField object_free[] = {
	FIELD("call_site", call_site),
	FIELD("ptr", ptr),
	END,
};

static const KmtTracepointField pages_alloc[] = {
	FIELD("pfn", pfn),
	FIELD("order", order),
	FIELD("gfp_flags", gfp_flags),
	END,
};

static const KmtTracepointField pages_free[] = {
	FIELD("pfn", pfn),
	FIELD("order", order),
	END,
};

static const KmtTracepointField percpu_alloc[] = {
	OPTIONAL("call_site", call_site), FIELD("ptr", ptr),
	FIELD("size", bytes_req),	  OPTIONAL("bytes_alloc", bytes_alloc),
	OPTIONAL("gfp_flags", gfp_flags), END,
};

static const KmtTracepointField percpu_free[] = {
	FIELD("ptr", ptr),
	END,
};

static const KmtTracepointField area_alloc[] = {
	FIELD("addr", ptr),
	FIELD("size", bytes_req),
	FIELD("failed", failed),
	END,
};

static const KmtTracepointField area_free[] = {
	FIELD("va_start", ptr),
	END,
};

#define ALLOC KMEMTRACE_EVENT_ALLOC
#define FREE  KMEMTRACE_EVENT_FREE

const KmtTracepointName kmt_tracepoint_names[] = {
	{"kmem", "kmalloc", ALLOC, KMEMTRACE_TYPE_KMALLOC, FALSE, object_alloc},
	{"kmem", "kmalloc_node", ALLOC, KMEMTRACE_TYPE_KMALLOC, TRUE,
	 object_alloc},
	{"kmem", "kfree", FREE, KMEMTRACE_TYPE_KMALLOC, FALSE, object_free},
	{"kmem", "kmem_cache_alloc", ALLOC, KMEMTRACE_TYPE_CACHE, FALSE,
	 object_alloc},
	{"kmem", "kmem_cache_alloc_node", ALLOC, KMEMTRACE_TYPE_CACHE, TRUE,
	 object_alloc},
	{"kmem", "kmem_cache_free", FREE, KMEMTRACE_TYPE_CACHE, FALSE,
	 object_free},
	{"kmem", "mm_page_alloc", ALLOC, KMEMTRACE_TYPE_PAGES, FALSE,
	 pages_alloc},
	/* mm_page_free also fires for the pages of mm_page_free_batched, which
	 * is therefore not listed. */
	{"kmem", "mm_page_free", FREE, KMEMTRACE_TYPE_PAGES, FALSE, pages_free},
	{"percpu", "percpu_alloc_percpu", ALLOC, KMEMTRACE_TYPE_PERCPU, TRUE,
	 percpu_alloc},
	{"percpu", "percpu_free_percpu", FREE, KMEMTRACE_TYPE_PERCPU, TRUE,
	 percpu_free},
	/* Tracepoints since Linux 6.2. */
	{"vmalloc", "alloc_vmap_area", ALLOC, KMEMTRACE_TYPE_VMALLOC, TRUE,
	 area_alloc},
	{"vmalloc", "free_vmap_area_noflush", FREE, KMEMTRACE_TYPE_VMALLOC,
	 TRUE, area_free},
};
const guint kmt_tracepoint_n_names = G_N_ELEMENTS(kmt_tracepoint_names);

/* Gaps in the data: what the tracepoints do not report. */
static const struct {
	guint type;
	/* The gap applies if tracepoints of the type were recorded (TRUE) or
	 * if none was (FALSE). */
	gboolean if_recorded;
	const char *gap;
} gaps[] = {
	{KMEMTRACE_TYPE_CACHE, TRUE,
	 "bulk allocations and frees of slab objects (kmem_cache_alloc_bulk, "
	 "kfree_bulk)"},
	{KMEMTRACE_TYPE_CACHE, TRUE,
	 "objects that kfree_rcu() frees in batches"},
	{KMEMTRACE_TYPE_PAGES, TRUE,
	 "page allocations in bulk (most of vmalloc, page pools)"},
	{KMEMTRACE_TYPE_PAGES, TRUE,
	 "pages that are split, migrated, or freed otherwise than allocated "
	 "(split_page, alloc_pages_exact, compaction, CMA)"},
	{KMEMTRACE_TYPE_PAGES, TRUE, KMT_TRACEPOINT_GAP_PAGE_CALLERS},
	{KMEMTRACE_TYPE_KMALLOC, TRUE,
	 "krealloc() within the allocated memory"},
	{KMEMTRACE_TYPE_PERCPU, TRUE,
	 "the callers that free per-CPU memory, and the requested size before "
	 "rounding"},
	{KMEMTRACE_TYPE_PERCPU, FALSE, "all per-CPU memory"},
	{KMEMTRACE_TYPE_VMALLOC, TRUE,
	 "the callers that allocate or free vmalloc areas, and which areas "
	 "only map memory (vmap, ioremap); the guard page of an area counts as "
	 "allocated"},
	{KMEMTRACE_TYPE_VMALLOC, FALSE, "all vmalloc areas"},
};

GPtrArray *kmt_tracepoints_not_seen(guint types)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);

	for (gsize i = 0; i < G_N_ELEMENTS(gaps); i++)
		if (((types >> gaps[i].type & 1) != 0) == gaps[i].if_recorded)
			g_ptr_array_add(list, g_strdup(gaps[i].gap));
	return list;
}

void kmt_tracepoint_prepare(KmtTracepoint *point, guint page_bytes, guint cpus)
{
	gboolean alloc = point->event_id == KMEMTRACE_EVENT_ALLOC;

	point->page_bytes = page_bytes;
	point->cpus = cpus;
	point->wide =
		point->call_site.size == 8 && point->ptr.size == 8 &&
		point->type_id <= KMEMTRACE_TYPE_CACHE &&
		(!alloc ||
		 (point->bytes_req.size == 8 && point->bytes_alloc.size == 8 &&
		  point->gfp_flags.size == 8 && point->node.size == 4));
}

/* Return the address of a page, or 0 if the event has no page. */
static guint64 page_address(const KmtTracepoint *point, const guint8 *data)
{
	guint64 pfn = kmt_tracepoint_slot_load(data, point->pfn);

	if (pfn == (point->pfn.size == 8 ? G_MAXUINT64 : NO_PFN_32))
		return 0;
	return (pfn * point->page_bytes) | KMEMTRACE_PTR_PHYSICAL;
}

gboolean kmt_tracepoint_convert_any(const KmtTracepoint *point,
				    const guint8 *data,
				    struct kmemtrace_event *e)
{
	gboolean alloc = point->event_id == KMEMTRACE_EVENT_ALLOC;

	e->call_site = kmt_tracepoint_slot_load(data, point->call_site);
	e->ptr = kmt_tracepoint_slot_load(data, point->ptr);
	e->node = alloc && point->node.size
			  ? (gint32)kmt_tracepoint_slot_load(data, point->node)
			  : KMEMTRACE_NODE_NONE;
	e->bytes_req =
		alloc ? kmt_tracepoint_slot_load(data, point->bytes_req) : 0;
	e->bytes_alloc =
		alloc && point->bytes_alloc.size
			? kmt_tracepoint_slot_load(data, point->bytes_alloc)
			: e->bytes_req;
	e->gfp_flags =
		alloc ? kmt_tracepoint_slot_load(data, point->gfp_flags) : 0;
	/* A per-CPU allocation reports the size for one CPU in bytes_req.
	 * bytes_alloc is the size for all CPUs plus the allocator's metadata.
	 */
	if (point->type_id == KMEMTRACE_TYPE_PERCPU && alloc) {
		e->bytes_req = point->cpus ? e->bytes_req * point->cpus
					   : e->bytes_alloc;
		e->bytes_alloc = e->bytes_req;
	}
	if (point->type_id != KMEMTRACE_TYPE_PAGES)
		return e->ptr >= KMT_TRACEPOINT_LOWEST_ADDRESS &&
		       !kmt_tracepoint_slot_load(data, point->failed);
	e->ptr = page_address(point, data);
	if (alloc)
		e->bytes_req = e->bytes_alloc =
			(guint64)point->page_bytes
			<< (kmt_tracepoint_slot_load(data, point->order) & 31);
	return e->ptr != 0;
}
