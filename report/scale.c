// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/scale.h"

/* Each stays below 2^64. */
typedef struct {
	guint64 factor;
	gboolean overflowed;
} Scale;

static void times(Scale *scale, guint64 *value)
{
	if (__builtin_mul_overflow(*value, scale->factor, value)) {
		*value = G_MAXUINT64;
		scale->overflowed = TRUE;
	}
}

/* Frees of all records are no sample. */
static void scale_totals(Scale *scale, KmtTotals *t, gboolean has_own_frees)
{
	times(scale, &t->allocs);
	if (has_own_frees)
		times(scale, &t->frees);
	times(scale, &t->bytes_req);
	times(scale, &t->bytes_alloc);
	times(scale, &t->cross_cpu_frees);
	times(scale, &t->remote_node_allocs);
	times(scale, &t->live_objects);
	times(scale, &t->live_bytes_req);
	times(scale, &t->live_bytes_alloc);
	times(scale, &t->peak_bytes_alloc);
}

static void scale_histogram(Scale *scale, KmtHistogram *h)
{
	guint i;

	for (i = 0; h->n && i < KMT_HISTOGRAM_BUCKETS; i++)
		times(scale, &h->buckets[i]);
	times(scale, &h->n);
}

static void scale_detail(Scale *scale, KmtDetail *detail, guint n_windows)
{
	guint i;

	scale_histogram(scale, &detail->lifetimes);
	scale_histogram(scale, &detail->sizes);
	scale_histogram(scale, &detail->ages);
	times(scale, &detail->short_lived);
	for (i = 0; detail->live_bytes && i < n_windows; i++)
		times(scale, &detail->live_bytes[i]);
}

static void scale_cross(Scale *scale, KmtCross *cross)
{
	g_autoptr(GPtrArray) pairs = kmt_cross_pairs(cross);
	guint layer, i, j;

	for (layer = 0; layer < KMT_N_LAYERS; layer++) {
		for (i = 0; i < cross->n_cpus; i++) {
			KmtCrossSum *row = cross->matrix[layer][i];

			for (j = 0; row && j < cross->n_cpus; j++) {
				times(scale, &row[j].frees);
				times(scale, &row[j].bytes);
			}
		}
	}
	/* They are the hash table's, which is not keyed by sums. */
	for (i = 0; i < pairs->len; i++) {
		KmtCrossPair *pair = pairs->pdata[i];

		times(scale, &pair->sum.frees);
		times(scale, &pair->sum.bytes);
	}
}

void kmt_aggregate_scale(KmtAggregate *aggregate, guint64 factor,
			 gboolean has_own_frees)
{
	Scale scale = {.factor = factor};
	guint32 g;
	guint i, kind;

	if (factor <= 1)
		return;
	for (kind = 0; kind < KMT_N_KINDS; kind++)
		scale_totals(&scale, &aggregate->kinds[kind], has_own_frees);
	for (i = 0; i < aggregate->n_windows; i++)
		for (kind = 0; kind < KMT_N_KINDS; kind++)
			scale_totals(&scale, &aggregate->windows[i].kinds[kind],
				     has_own_frees);
	for (g = 0; g < aggregate->groups->n_groups; g++) {
		KmtGroup *group = &aggregate->groups->groups[g];

		scale_totals(&scale, &group->totals, TRUE);
		times(&scale, &group->at_peak);
		if (group->detail)
			scale_detail(&scale, group->detail,
				     aggregate->n_windows);
	}
	if (aggregate->cross)
		scale_cross(&scale, aggregate->cross);
	aggregate->overflowed |= scale.overflowed;
}
