// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/totals.h"

static const char *const kind_names[KMT_N_KINDS] = {
	[KMT_KIND_KMALLOC] = "kmalloc", [KMT_KIND_CACHE] = "cache",
	[KMT_KIND_PAGES] = "pages",	[KMT_KIND_PERCPU] = "percpu",
	[KMT_KIND_VMALLOC] = "vmalloc", [KMT_KIND_SLAB] = "slab",
};

const KmtKind kmt_layers[KMT_N_LAYERS] = {KMT_KIND_SLAB, KMT_KIND_PAGES,
					  KMT_KIND_PERCPU, KMT_KIND_VMALLOC};

const char *kmt_kind_name(KmtKind kind)
{
	g_return_val_if_fail((guint)kind < KMT_N_KINDS, NULL);
	return kind_names[kind];
}

/*
 * Add @value to *sum. If the sum exceeds G_MAXUINT64, set it to G_MAXUINT64 and
 * return TRUE.
 */
static gboolean add(guint64 *sum, guint64 value)
{
	if (!__builtin_add_overflow(*sum, value, sum))
		return FALSE;
	*sum = G_MAXUINT64;
	return TRUE;
}

gboolean kmt_totals_add(KmtTotals *totals, const KmtTotals *other)
{
	gboolean overflow = FALSE;

	overflow |= add(&totals->allocs, other->allocs);
	overflow |= add(&totals->frees, other->frees);
	overflow |= add(&totals->bytes_req, other->bytes_req);
	overflow |= add(&totals->bytes_alloc, other->bytes_alloc);
	overflow |= add(&totals->cross_cpu_frees, other->cross_cpu_frees);
	overflow |= add(&totals->remote_node_allocs, other->remote_node_allocs);
	overflow |= add(&totals->live_objects, other->live_objects);
	overflow |= add(&totals->live_bytes_req, other->live_bytes_req);
	overflow |= add(&totals->live_bytes_alloc, other->live_bytes_alloc);
	return overflow;
}

KmtWaste kmt_totals_wasted(const KmtTotals *totals)
{
	KmtWaste waste;

	waste.negative = totals->bytes_alloc < totals->bytes_req;
	if (waste.negative)
		waste.bytes = totals->bytes_req - totals->bytes_alloc;
	else
		waste.bytes = totals->bytes_alloc - totals->bytes_req;
	return waste;
}

int kmt_waste_compare(KmtWaste a, KmtWaste b)
{
	if (a.negative != b.negative)
		return a.negative ? -1 : 1;
	if (a.bytes == b.bytes)
		return 0;
	return (a.bytes < b.bytes) != a.negative ? -1 : 1;
}

double kmt_totals_fragmentation(const KmtTotals *totals)
{
	KmtWaste waste = kmt_totals_wasted(totals);

	if (waste.negative || totals->bytes_alloc == 0)
		return 0.0;
	return (double)waste.bytes / (double)totals->bytes_alloc;
}
