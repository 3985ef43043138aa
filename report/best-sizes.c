// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/best-sizes.h"

#define IMPOSSIBLE G_MAXUINT64
#define NO_SIZE	   G_MAXUINT32

/*
 * With k sizes of which candidate j is the largest, the objects of candidates 0
 * to j take at least cost[k * n + j] units, and the next smaller size is
 * candidate previous[k * n + j].
 */
struct KmtBestSizes {
	guint n;	     /* candidates */
	guint max_sizes;     /* rows of the tables, minus 1 */
	guint32 *candidates; /* sizes, ascending; the last one is the limit */
	guint64 *objects_up_to; /* number of objects of candidates 0 to i - 1 */
	guint64 *cost;
	guint32 *previous;
};

static guint32 largest_divisor(guint32 size)
{
	return size & -size;
}

gboolean kmt_size_rule_allows(const KmtSizeRule *rule, guint32 previous,
			      guint32 size)
{
	guint32 align = MAX(largest_divisor(size), rule->align), worst;

	switch (rule->guarantee) {
	case KMT_SIZE_ALIGN_POWERS:
		/* The largest power of two below size must not need a larger
		 * alignment, unless a smaller class serves it. */
		if (size <= 1)
			return TRUE;
		worst = 1U << (31 - __builtin_clz(size - 1));
		return worst <= previous || worst <= align;
	case KMT_SIZE_ALIGN_DIVISORS:
		worst = (size - 1) / (2 * align) * (2 * align);
		return worst <= previous;
	default:
		return TRUE;
	}
}

/*
 * Return whether a size can be useful. Without the rule for divisors, an
 * optimal set contains only requested sizes and, for their alignment, powers of
 * two.
 */
static gboolean is_candidate(const KmtSizeRule *rule, guint32 size,
			     guint64 objects)
{
	return objects || size == rule->limit ||
	       rule->guarantee == KMT_SIZE_ALIGN_DIVISORS ||
	       (rule->guarantee == KMT_SIZE_ALIGN_POWERS &&
		!(size & (size - 1)));
}

/* Make the list of the candidates with the numbers of their objects. */
static void list_candidates(KmtBestSizes *best, const guint64 *objects,
			    const KmtSizeRule *rule)
{
	guint room = rule->limit / rule->align + 1;
	guint32 request = 1, size;
	guint64 sum = 0, here;

	best->candidates = g_new(guint32, room);
	best->objects_up_to = g_new(guint64, room + 1);
	best->objects_up_to[0] = 0;
	for (size = rule->min; size <= rule->limit; size += rule->align) {
		for (here = 0; request <= size; request++)
			here += objects[request];
		sum += here;
		if (!is_candidate(rule, size, here))
			continue;
		best->candidates[best->n++] = size;
		best->objects_up_to[best->n] = sum;
	}
}

/*
 * Return the number of the smallest candidate that may precede candidate j in a
 * set, or j if there is none. Each larger candidate below j may also precede
 * it, because a guarantee only sets a lower bound.
 */
static guint first_allowed(const KmtBestSizes *best, const KmtSizeRule *rule,
			   guint j)
{
	guint low = 0, high = j;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (kmt_size_rule_allows(rule, best->candidates[middle],
					 best->candidates[j]))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Compute the entry of k sizes with the largest one j. @first is the number of
 * the smallest candidate that may precede j. */
static void compute_entry(KmtBestSizes *best, guint k, guint first, guint j,
			  guint64 cost_of_one)
{
	const guint64 *smaller = best->cost + (gsize)(k - 1) * best->n;
	const guint64 *up_to = best->objects_up_to;
	guint64 least = IMPOSSIBLE, cost;
	guint32 from = NO_SIZE;
	guint i;

	for (i = MAX(k - 2, first); i < j; i++) {
		if (smaller[i] == IMPOSSIBLE)
			continue;
		cost = smaller[i] + (up_to[j + 1] - up_to[i + 1]) * cost_of_one;
		if (cost < least) {
			least = cost;
			from = i;
		}
	}
	best->cost[(gsize)k * best->n + j] = least;
	best->previous[(gsize)k * best->n + j] = from;
}

static void fill_tables(KmtBestSizes *best, const KmtSizeRule *rule)
{
	gsize entries = (gsize)(best->max_sizes + 1) * best->n;
	guint64 cost_of_one;
	guint first, j, k;

	best->cost = g_new(guint64, entries);
	best->previous = g_new(guint32, entries);
	for (k = 0; k < entries; k++)
		best->cost[k] = IMPOSSIBLE;
	for (j = 0; j < best->n; j++) {
		guint32 size = best->candidates[j];

		cost_of_one = kmt_size_rule_cost(rule, size);
		first = first_allowed(best, rule, j);
		best->previous[best->n + j] = NO_SIZE;
		if (kmt_size_rule_allows(rule, 0, size))
			best->cost[best->n + j] =
				best->objects_up_to[j + 1] * cost_of_one;
		for (k = 2; k <= best->max_sizes; k++)
			compute_entry(best, k, first, j, cost_of_one);
	}
}

KmtBestSizes *kmt_best_sizes_new(const guint64 *objects,
				 const KmtSizeRule *rule, guint max_n)
{
	KmtBestSizes *best = g_new0(KmtBestSizes, 1);

	list_candidates(best, objects, rule);
	best->max_sizes = max_n;
	fill_tables(best, rule);
	return best;
}

void kmt_best_sizes_free(KmtBestSizes *best)
{
	if (!best)
		return;
	g_free(best->candidates);
	g_free(best->objects_up_to);
	g_free(best->cost);
	g_free(best->previous);
	g_free(best);
}

gboolean kmt_best_sizes_get(const KmtBestSizes *best, guint n, guint32 *sizes,
			    guint64 *bytes)
{
	guint j = best->n - 1, k;
	guint64 cost = best->cost[(gsize)n * best->n + j];

	if (cost == IMPOSSIBLE)
		return FALSE;
	if (bytes)
		*bytes = cost / KMT_SIZE_COST_UNIT;
	for (k = n; sizes && k; k--) {
		sizes[k - 1] = best->candidates[j];
		j = best->previous[(gsize)k * best->n + j];
	}
	return TRUE;
}
