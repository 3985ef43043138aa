// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

#include <string.h>

void kmt_accounting_reserve(KmtAccounting *accounting, guint32 n)
{
	guint32 size = MAX(1024, accounting->n_class_stats);

	if (n <= accounting->n_class_stats)
		return;
	while (size < n)
		size += size / 4;
	accounting->class_stats =
		g_renew(KmtClassStats, accounting->class_stats, size);
	memset(accounting->class_stats + accounting->n_class_stats, 0,
	       (size - accounting->n_class_stats) * sizeof(KmtClassStats));
	accounting->n_class_stats = size;
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
	stats->bytes_alloc = bytes.alloc;
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

/*
 * Count one record whose step the matcher decided without a slow event. Figures
 * that depend only on the number of records of a class are computed from the
 * record counts of the class at the end.
 */
static inline void basic_step(KmtClassStats *stats, const KmtMatchEvent *item)
{
	guint is_alloc = item->op & 1;
	guint64 change = is_alloc ? stats->bytes_alloc : -stats->bytes_alloc;
	KmtCounters *counters = stats->counters, *kind = counters->parent,
		    *parent = kind->parent;

	stats->records[is_alloc]++;
	kmt_counters_save_peak(counters);
	kmt_counters_change(counters, !is_alloc, change, item->now);
	if (kmt_counters_change(kind, !is_alloc, change, item->now))
		kind->epoch++;
	if (kmt_counters_change(parent, !is_alloc, change, item->now))
		parent->epoch++;
	counters->cross_cpu_frees += item->cross;
	if (G_UNLIKELY(item->remote))
		counters->remote_node_allocs++;
}

void kmt_basic_steps(KmtAccounting *accounting, const KmtMatchedBlock *matched,
		     guint from, guint to)
{
	KmtMatchEvent *const *items = matched->items;
	KmtClassStats *class_stats;
	guint i;

	for (; accounting->n_basic < matched->n_classes; accounting->n_basic++)
		kmt_accounting_class(accounting, accounting->n_basic);
	class_stats = accounting->class_stats;
	for (i = from; i < to; i++) {
		const KmtMatchEvent *item = items[i];

		if (G_LIKELY(item->op != KMT_MATCH_STEP_NONE))
			basic_step(&class_stats[item->class_id], item);
		else if (item->event->event_id == KMEMTRACE_EVENT_FREE)
			accounting->free_records[item->type]++;
	}
}

/* Add @n times @bytes to *sum. Return whether the result exceeds 2^64 - 1. */
static gboolean add_times(guint64 *sum, guint64 n, guint64 bytes)
{
	guint64 product;
	gboolean over = __builtin_mul_overflow(n, bytes, &product);

	return __builtin_add_overflow(*sum, product, sum) || over;
}

void kmt_basic_groups(KmtAccounting *accounting)
{
	KmtAggregate *aggregate = accounting->aggregate;
	guint32 i;

	for (i = 0; i < accounting->n_class_stats; i++) {
		const KmtClassStats *stats = &accounting->class_stats[i];
		guint64 frees = stats->records[0], allocs = stats->records[1];
		KmtCounters *counters = stats->counters;

		if (!counters)
			continue;
		counters->frees += frees;
		counters->allocs += allocs;
		counters->closed_req += frees * stats->bytes_req;
		aggregate->overflowed |= add_times(&counters->bytes_req, allocs,
						   stats->bytes_req) |
					 add_times(&counters->bytes_alloc,
						   allocs, stats->bytes_alloc);
		if (stats->bytes_alloc < stats->bytes_req)
			aggregate->short_allocs += allocs;
	}
}

void kmt_basic_kinds(KmtAccounting *accounting)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtGroups *groups = aggregate->groups;
	guint32 i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		*t = (KmtTotals){.peak_bytes_alloc = accounting->kinds[i].peak,
				 .peak_timestamp =
					 accounting->kinds[i].peak_timestamp};
	}
	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);

		aggregate->overflowed |= kmt_totals_add(
			&aggregate->kinds[group->kind], &group->totals);
	}
	for (i = 0; i < KMT_KIND_SLAB; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		t->frees +=
			accounting->free_records[i] - accounting->slow_frees[i];
		if (kmt_kind_is_slab(i))
			aggregate->overflowed |= kmt_totals_add(
				&aggregate->kinds[KMT_KIND_SLAB], t);
	}
}
