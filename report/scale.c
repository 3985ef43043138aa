// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/scale.h"

/* The factor, and whether a product saturated at G_MAXUINT64. */
typedef struct {
	guint64 factor;
	gboolean overflowed;
} Scale;

static void multiply(Scale *scale, guint64 *value)
{
	if (__builtin_mul_overflow(*value, scale->factor, value)) {
		*value = G_MAXUINT64;
		scale->overflowed = TRUE;
	}
}

/*
 * Scale the totals. @has_own_frees: t->frees counts only frees of recorded
 * allocations, and is scaled, too. Otherwise t->frees counts all FREE records,
 * also those of allocations that the sample omitted, and is not scaled.
 */
static void scale_totals(Scale *scale, KmtTotals *t, gboolean has_own_frees)
{
	multiply(scale, &t->allocs);
	if (has_own_frees)
		multiply(scale, &t->frees);
	multiply(scale, &t->bytes_req);
	multiply(scale, &t->bytes_alloc);
	multiply(scale, &t->cross_cpu_frees);
	multiply(scale, &t->remote_node_allocs);
	multiply(scale, &t->live_objects);
	multiply(scale, &t->live_bytes_req);
	multiply(scale, &t->live_bytes_alloc);
	multiply(scale, &t->peak_bytes_alloc);
}

/*
 * Scale the details of a group. Histograms keep the counts of the records: see
 * kmt_aggregate_scaled().
 */
static void scale_detail(Scale *scale, KmtDetail *detail)
{
	multiply(scale, &detail->short_lived);
	multiply(scale, &detail->growth.first);
	multiply(scale, &detail->growth.last);
}

static void scale_deferred(Scale *scale, KmtDeferred *deferred)
{
	multiply(scale, &deferred->bytes);
	multiply(scale, &deferred->objects);
	multiply(scale, &deferred->peak);
	multiply(scale, &deferred->at_peak);
	multiply(scale, &deferred->frees);
}

static void scale_cross(Scale *scale, KmtCrossCpu *cross)
{
	guint32 i;

	for (i = 0; i < cross->cells->len; i++) {
		KmtCrossCpuCell *cell =
			&g_array_index(cross->cells, KmtCrossCpuCell, i);

		multiply(scale, &cell->sum.frees);
		multiply(scale, &cell->sum.bytes);
	}
	for (i = 0; i < cross->pairs->len; i++) {
		KmtCrossCpuPair *pair =
			&g_array_index(cross->pairs, KmtCrossCpuPair, i);

		multiply(scale, &pair->sum.frees);
		multiply(scale, &pair->sum.bytes);
	}
	/* Sums that saturated are now equal, so their order may have changed.
	 */
	kmt_cross_cpu_sort(cross);
}

void kmt_aggregate_scale(KmtAggregate *aggregate, guint64 factor,
			 gboolean has_own_frees)
{
	Scale scale = {.factor = factor};
	guint32 g;
	guint i, kind;

	if (factor <= 1)
		return;
	aggregate->scale = factor;
	for (kind = 0; kind < KMT_N_KINDS; kind++) {
		scale_totals(&scale, &aggregate->kinds[kind], has_own_frees);
		scale_deferred(&scale, &aggregate->deferred[kind]);
	}
	for (i = 0; i < aggregate->n_windows; i++)
		for (kind = 0; kind < KMT_N_KINDS; kind++) {
			KmtWindow *window = &aggregate->windows[i];

			scale_totals(&scale, &window->kinds[kind],
				     has_own_frees);
			multiply(&scale, &window->deferred[kind]);
		}
	for (g = 0; g < aggregate->groups->n_groups; g++) {
		KmtGroup *group = kmt_groups_at(aggregate->groups, g);

		scale_totals(&scale, &group->totals, TRUE);
		multiply(&scale, &group->at_peak);
		if (group->detail)
			scale_detail(&scale, group->detail);
		if (group->deferred)
			scale_deferred(&scale, group->deferred);
	}
	if (aggregate->cross)
		scale_cross(&scale, aggregate->cross);
	aggregate->overflowed |= scale.overflowed;
}
