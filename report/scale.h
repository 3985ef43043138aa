/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scaling of a sample. If the kernel recorded one of N allocations and all
 * frees, the figures of allocations and their objects are multiplied by N.
 */
#ifndef KMEMTRACE_REPORT_SCALE_H
#define KMEMTRACE_REPORT_SCALE_H

#include "report/aggregate.h"

/*
 * Multiply all sums of recorded allocations, their frees and live objects by
 * @factor. If @has_own_frees is set, as with a filter, the frees of kinds and
 * windows belong to recorded allocations and are multiplied, too. Otherwise
 * they count all records and are exact. Findings count records and are not
 * scaled.
 *
 * A product above G_MAXUINT64 becomes G_MAXUINT64 and sets
 * aggregate->overflowed. Histograms keep the counts of the records, because
 * percentiles and shares do not depend on the factor. Code that prints a count
 * of a histogram multiplies the count with kmt_aggregate_scaled().
 */
void kmt_aggregate_scale(KmtAggregate *aggregate, guint64 factor,
			 gboolean has_own_frees);

/* Return the product of a count of records and the factor of the sample, at
 * most G_MAXUINT64. */
static inline guint64 kmt_aggregate_scaled(const KmtAggregate *aggregate,
					   guint64 count)
{
	guint64 product;

	return __builtin_mul_overflow(count, aggregate->scale, &product)
		       ? G_MAXUINT64
		       : product;
}

#endif
