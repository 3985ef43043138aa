// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums of the detailed statistics. The figures that depend only on the numbers
 * of a class's records are computed from KmtClassStats.records at the end of
 * each window, which saves 60 instructions per event.
 */
#include "config.h"

#include "report/detailed-private.h"

#include <string.h>

/* Count the short allocations among the records of a class. They are a finding,
 * so the filter does not apply. */
static void count_short_allocs(KmtAccounting *accounting,
			       const KmtClassStats *stats, guint64 bytes_req)
{
	if (stats->bytes_alloc < bytes_req)
		accounting->aggregate->short_allocs += stats->records[1];
}

/* Add the records of a class to all sums, and set their numbers to 0. */
static void flush_class(KmtAccounting *accounting, KmtClassStats *stats)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtClassInfo *info = kmt_accounting_info(accounting, stats);
	KmtDetail *detail = kmt_accounting_detail(accounting, stats);
	guint64 bytes_req = kmt_accounting_bytes_req(accounting, stats);

	/* The sums of a kind include those of its groups, so it suffices to
	 * check the sums of the kind for overflow. */
	aggregate->overflowed |= kmt_class_stats_add_to(
		stats, bytes_req, kmt_accounting_kind(accounting, stats));
	if (!accounting->options->filter->lifetime)
		count_short_allocs(accounting, stats, bytes_req);
	if (aggregate->history)
		kmt_detailed_history_add(accounting, stats);
	if (accounting->inside) {
		accounting->free_records[info->kind] += stats->records[0];
		if (detail)
			kmt_histogram_add(&detail->sizes, bytes_req,
					  stats->records[1]);
	}
	kmt_class_stats_flush(stats, bytes_req);
	info->is_touched = FALSE;
}

void kmt_detailed_flush(KmtAccounting *accounting)
{
	const GArray *touched = accounting->touched;
	guint i;

	for (i = 0; i < touched->len; i++)
		flush_class(accounting, &accounting->class_stats[g_array_index(
						touched, guint32, i)]);
	g_array_set_size(accounting->touched, 0);
}

void kmt_detailed_flush_excluded(KmtAccounting *accounting)
{
	guint32 i;

	for (i = 0; i < accounting->n_class_stats; i++) {
		KmtClassStats *stats = &accounting->class_stats[i];

		if (!accounting->class_infos[i].is_initialised ||
		    stats->counters)
			continue;
		count_short_allocs(accounting, stats,
				   kmt_accounting_bytes_req(accounting, stats));
		memset(stats->records, 0, sizeof(stats->records));
	}
}

/* Return the live bytes of a group that are not deferred. */
static guint64 bytes_in_use(const KmtGroups *groups, guint32 group)
{
	const KmtDeferred *deferred = kmt_groups_deferred(groups, group);

	return kmt_counters_live(kmt_groups_counters(groups, group)) -
	       (deferred ? deferred->bytes : 0);
}

void kmt_detailed_grow(const KmtGroups *groups, guint32 group, guint n)
{
	KmtGrowth *growth = &kmt_groups_detail(groups, group)->growth;
	guint64 live = bytes_in_use(groups, group);

	if (growth->n_windows == n)
		return;
	if (!growth->n_windows)
		growth->first = live;
	else
		growth->grown += live > growth->last;
	growth->last = live;
	growth->n_windows = n;
}

static void append_touched(KmtAccounting *accounting, KmtClassStats *stats)
{
	guint32 class_id = kmt_accounting_class_id(accounting, stats);

	g_array_append_val(accounting->touched, class_id);
	kmt_accounting_info(accounting, stats)->is_touched = TRUE;
}

void kmt_detailed_touch(KmtAccounting *accounting, KmtClassStats *stats)
{
	KmtClassInfo *info = kmt_accounting_info(accounting, stats);

	if (info->is_touched || accounting->basic)
		return;
	if (!stats->counters) {
		info->is_touched = TRUE;
		return;
	}
	append_touched(accounting, stats);
	if (accounting->options->lifetimes)
		kmt_detailed_grow(accounting->aggregate->groups, info->group,
				  accounting->window);
	if (accounting->aggregate->history &&
	    kmt_detailed_history_enter(accounting, stats)) {
		/* The next kmt_history_limit() needs complete sums. */
		kmt_detailed_flush(accounting);
		append_touched(accounting, stats);
	}
}
