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

gboolean kmt_class_stats_add_to(const KmtClassStats *stats, guint64 bytes_req,
				KmtCounters *counters)
{
	guint64 frees = stats->records[0], allocs = stats->records[1];
	gboolean over;

	counters->frees += frees;
	counters->allocs += allocs;
	counters->closed_req += frees * bytes_req;
	over = add_times(&counters->bytes_req, allocs, bytes_req);
	over |= add_times(&counters->bytes_alloc, allocs, stats->bytes_alloc);
	return over;
}

gboolean kmt_class_stats_flush(KmtClassStats *stats, guint64 bytes_req)
{
	gboolean over =
		kmt_class_stats_add_to(stats, bytes_req, stats->counters);

	memset(stats->records, 0, sizeof(stats->records));
	return over;
}
