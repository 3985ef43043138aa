// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

#include <string.h>

/* Make room for @needed classes, at addresses that are aligned to cache lines.
 */
static void grow_class_stats(KmtAccounting *accounting, guint32 needed)
{
	KmtClassStats *old = accounting->class_stats;
	gsize n = MAX(1024, accounting->n_class_stats);

	while (n < needed)
		n += n / 4;
	accounting->class_stats = g_aligned_alloc(n, sizeof(KmtClassStats),
						  _Alignof(KmtClassStats));
	if (old)
		memcpy(accounting->class_stats, old,
		       accounting->n_class_stats * sizeof(KmtClassStats));
	memset(accounting->class_stats + accounting->n_class_stats, 0,
	       (n - accounting->n_class_stats) * sizeof(KmtClassStats));
	g_aligned_free(old);
	accounting->n_class_stats = (guint32)n;
}

void kmt_accounting_add(KmtAccounting *accounting, guint32 class_id)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtMatchSize bytes =
		kmt_match_keys_size_of_class(aggregate->keys, class_id);
	KmtMatchKey key = kmt_match_keys_of_class(aggregate->keys, class_id);
	KmtClassStats *stats;

	if (class_id >= accounting->n_class_stats)
		grow_class_stats(accounting, class_id + 1);
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
	stats->counters->parent = &accounting->kinds[stats->kind];
	if (!accounting->options->by->kinds && kmt_kind_is_slab(stats->kind))
		stats->counters->parent = &accounting->kinds[KMT_KIND_SLAB];
}
