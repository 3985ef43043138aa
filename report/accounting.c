// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

#include <string.h>

void kmt_accounting_reserve(KmtAccounting *accounting, guint32 needed)
{
	const guintptr line = _Alignof(KmtClassStats);
	gsize n = MAX(1024, accounting->n_class_stats);
	KmtClassStats *stats;
	gpointer block;

	if (needed <= accounting->n_class_stats)
		return;
	while (n < needed)
		n *= 2;
	/* Pages of g_malloc0() that no class uses take no memory, and nothing
	 * writes zeros to them. */
	block = g_malloc0((n + 1) * sizeof(KmtClassStats));
	stats = (gpointer)(((guintptr)block + line - 1) & ~(line - 1));
	if (accounting->class_stats)
		memcpy(stats, accounting->class_stats,
		       accounting->n_class_stats * sizeof(KmtClassStats));
	g_free(accounting->class_block);
	accounting->class_block = block;
	accounting->class_stats = stats;
	accounting->n_class_stats = (guint32)n;
}

void kmt_accounting_add(KmtAccounting *accounting, guint32 class_id)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtMatchSize bytes =
		kmt_match_keys_size_of_class(aggregate->keys, class_id);
	KmtMatchKey key = kmt_match_keys_of_class(aggregate->keys, class_id);
	KmtClassStats *stats;

	kmt_accounting_reserve(accounting, class_id + 1);
	stats = &accounting->class_stats[class_id];
	stats->is_initialised = TRUE;
	stats->bytes_req = bytes.req;
	stats->change[0] = bytes.alloc;
	stats->change[1] = -bytes.alloc;
	accounting->max_bytes_alloc =
		MAX(accounting->max_bytes_alloc, bytes.alloc);
	stats->kind = key.type;
	stats->group = kmt_groups_of_class(aggregate->groups, class_id);
	if (stats->group == KMT_NO_GROUP)
		return;
	stats->counters = kmt_groups_counters(aggregate->groups, stats->group);
	if (accounting->options->lifetimes)
		stats->detail =
			kmt_groups_detail(aggregate->groups, stats->group);
	stats->counters->parent = &accounting->kinds[stats->kind];
	if (!accounting->options->by->kinds && kmt_kind_is_slab(stats->kind))
		stats->counters->parent = &accounting->kinds[KMT_KIND_SLAB];
}

gboolean kmt_accounting_may_exceed(const KmtAccounting *accounting,
				   const KmtMatchedBlock *matched)
{
	guint64 bytes;

	return __builtin_mul_overflow(accounting->records + matched->n,
				      accounting->max_bytes_alloc, &bytes) ||
	       bytes > G_MAXINT64;
}
