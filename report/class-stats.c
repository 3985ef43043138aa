// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/class-stats.h"

#include <string.h>

/* Add @n times @bytes to *sum. Return whether the result exceeds 2^64 - 1. */
static gboolean add_times(guint64 *sum, guint64 n, guint64 bytes)
{
	guint64 product;
	gboolean over = __builtin_mul_overflow(n, bytes, &product);

	return __builtin_add_overflow(*sum, product, sum) || over;
}

gboolean kmt_class_stats_add_to(const KmtClassStats *stats,
				KmtCounters *counters)
{
	guint64 frees = kmt_class_stats_frees(stats);
	guint64 allocs = kmt_class_stats_allocs(stats);
	gboolean over;

	counters->frees += frees;
	counters->allocs += allocs;
	counters->closed_req += frees * stats->bytes_req;
	counters->cross_cpu_frees += stats->records[KMT_EFFECT_CROSS_FREE];
	counters->remote_node_allocs += stats->records[KMT_EFFECT_REMOTE_ALLOC];
	over = add_times(&counters->bytes_req, allocs, stats->bytes_req);
	over |= add_times(&counters->bytes_alloc, allocs, stats->bytes_alloc);
	return over;
}

gboolean kmt_class_stats_flush(KmtClassStats *stats)
{
	gboolean over = kmt_class_stats_add_to(stats, stats->counters);

	memset(stats->records, 0, sizeof(stats->records));
	return over;
}
