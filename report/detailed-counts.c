// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sums of the detailed statistics. The figures that depend only on the numbers
 * of a class's records are computed from KmtClassStats.records at the end of
 * each window, which saves 60 instructions per event.
 */
#include "config.h"

#include "report/detailed-private.h"

#include <string.h>

/* Add @n times @bytes to *sum. Return whether the result exceeds 2^64 - 1. */
static gboolean add_times(guint64 *sum, guint64 n, guint64 bytes)
{
	guint64 product;
	gboolean over = __builtin_mul_overflow(n, bytes, &product);

	return __builtin_add_overflow(*sum, product, sum) || over;
}

/* Add the records of a class to the counters of its group or kind. Return
 * whether a sum exceeds 2^64 - 1. */
static gboolean add_records(KmtCounters *counters, const KmtClassStats *stats)
{
	const guint64 *records = stats->records;
	guint64 allocs =
		records[KMT_CLASS_ALLOC] + records[KMT_CLASS_REMOTE_ALLOC];
	guint64 frees = records[KMT_CLASS_FREE] + records[KMT_CLASS_CROSS_FREE];

	counters->allocs += allocs;
	counters->frees += frees;
	counters->closed_req += frees * stats->bytes_req;
	counters->cross_cpu_frees += records[KMT_CLASS_CROSS_FREE];
	counters->remote_node_allocs += records[KMT_CLASS_REMOTE_ALLOC];
	return add_times(&counters->bytes_req, allocs, stats->bytes_req) |
	       add_times(&counters->bytes_alloc, allocs, stats->bytes_alloc);
}

/* Count the short allocations among the records of a class. They are a finding,
 * so the filter does not apply. */
static void count_short_allocs(KmtAccounting *accounting,
			       const KmtClassStats *stats)
{
	if (stats->bytes_alloc < stats->bytes_req)
		accounting->aggregate->short_allocs +=
			stats->records[KMT_CLASS_ALLOC] +
			stats->records[KMT_CLASS_REMOTE_ALLOC];
}

/* Add the records of a class to all sums, and set their numbers to 0. */
static void flush_class(KmtAccounting *accounting, KmtClassStats *stats)
{
	guint64 *records = stats->records;
	guint64 allocs =
		records[KMT_CLASS_ALLOC] + records[KMT_CLASS_REMOTE_ALLOC];
	guint64 frees = records[KMT_CLASS_FREE] + records[KMT_CLASS_CROSS_FREE];

	add_records(stats->counters, stats);
	/* The sums of a kind include those of its groups, so it suffices to
	 * check the sums of the kind for overflow. */
	accounting->aggregate->overflowed |=
		add_records(&accounting->kinds[stats->kind], stats);
	if (!accounting->options->filter->lifetime)
		count_short_allocs(accounting, stats);
	if (accounting->aggregate->history)
		kmt_detailed_history_add(accounting, stats, allocs, frees);
	if (accounting->inside) {
		accounting->free_records[stats->kind] += frees;
		if (stats->detail)
			kmt_histogram_add(&stats->detail->sizes,
					  stats->bytes_req, allocs);
	}
	memset(records, 0, sizeof(stats->records));
	stats->is_touched = FALSE;
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

		if (stats->is_initialised && !stats->counters)
			count_short_allocs(accounting, stats);
	}
}

/* Return the live bytes of a group that are not deferred. */
static guint64 bytes_in_use(const KmtGroups *groups, guint32 group)
{
	const KmtDeferred *deferred = kmt_groups_deferred(groups, group);

	return kmt_groups_counters(groups, group)->live -
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
	guint32 class_id = (guint32)(stats - accounting->class_stats);

	g_array_append_val(accounting->touched, class_id);
	stats->is_touched = TRUE;
}

void kmt_detailed_touch(KmtAccounting *accounting, KmtClassStats *stats)
{
	if (stats->is_touched || accounting->basic)
		return;
	if (!stats->counters) {
		stats->is_touched = TRUE;
		return;
	}
	append_touched(accounting, stats);
	if (stats->detail)
		kmt_detailed_grow(accounting->aggregate->groups, stats->group,
				  accounting->window);
	if (accounting->aggregate->history &&
	    kmt_detailed_history_enter(accounting, stats)) {
		/* The next kmt_history_limit() needs complete sums. */
		kmt_detailed_flush(accounting);
		append_touched(accounting, stats);
	}
}
