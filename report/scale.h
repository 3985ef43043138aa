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
 */
void kmt_aggregate_scale(KmtAggregate *aggregate, guint64 factor,
			 gboolean has_own_frees);

#endif
