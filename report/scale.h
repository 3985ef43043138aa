/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sample stands for: where the kernel recorded one of so many
 * allocations, and all frees, the figures of allocations and of what they hold
 * are that many times as large.
 */
#ifndef KMEMTRACE_REPORT_SCALE_H
#define KMEMTRACE_REPORT_SCALE_H

#include "report/aggregate.h"

/*
 * Multiplies all sums that are of allocations that were recorded, of their
 * frees and of what is live, by factor.  has_own_frees: those of kinds and
 * windows are of them too (there is a filter); else they are of all records,
 * and exact. Findings, which are of records, stay.
 *
 * A product above G_MAXUINT64 becomes G_MAXUINT64 and sets
 * aggregate->overflowed.  Histograms keep the counts of the records, because
 * percentiles and shares do not depend on the factor; whoever prints a count of
 * a histogram multiplies it with kmt_aggregate_scaled().
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
