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
 * Multiply all sums of recorded allocations, of their frees and of live objects
 * by factor.  has_own_frees: with a filter, the frees of kinds and windows are
 * those of the recorded allocations and are multiplied too; without one they
 * count all records and are exact.  Findings count records and stay.
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
