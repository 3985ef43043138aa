// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-align.h"

/* The largest table of sums, 8 MB. */
#define MAX_CELLS ((guint64)1 << 20)

/* The table of the alignment. */
typedef struct {
	guint n, m;
	/* (n + 1) * (m + 1): element [i][j] is the largest sum of similarities
	 * of pairs among the elements from i and from j on. */
	double *sums;
} AlignTable;

static double *sum_at(const AlignTable *table, guint i, guint j)
{
	return &table->sums[(gsize)i * (table->m + 1) + j];
}

static void fill_table(AlignTable *table, KmtDiffSimilarity similarity,
		       gconstpointer user)
{
	guint i, j;

	for (i = table->n; i-- > 0;)
		for (j = table->m; j-- > 0;) {
			double s = similarity(user, i, j);
			double best = MAX(*sum_at(table, i + 1, j),
					  *sum_at(table, i, j + 1));

			if (s > 0)
				best = MAX(best,
					   s + *sum_at(table, i + 1, j + 1));
			*sum_at(table, i, j) = best;
		}
}

/* Walk through the table from the beginning of both sequences. */
static void read_pairs(const AlignTable *table, guint *pair)
{
	guint i = 0, j = 0;

	while (i < table->n && j < table->m) {
		double sum = *sum_at(table, i, j);

		/* The sums are copies, so they compare exactly. */
		if (sum <= *sum_at(table, i + 1, j)) {
			i++;
		} else if (sum <= *sum_at(table, i, j + 1)) {
			j++;
		} else {
			pair[i++] = j++;
		}
	}
}

static void pair_in_order(guint n, guint m, KmtDiffSimilarity similarity,
			  gconstpointer user, guint *pair)
{
	guint i, j = 0;

	for (i = 0; i < n && j < m; i++)
		if (similarity(user, i, j) > 0)
			pair[i] = j++;
}

void kmt_diff_align(guint n, guint m, KmtDiffSimilarity similarity,
		    gconstpointer user, guint *pair)
{
	AlignTable table = {.n = n, .m = m};
	guint i;

	for (i = 0; i < n; i++)
		pair[i] = KMT_DIFF_UNPAIRED;
	if (!n || !m)
		return;
	if (((guint64)n + 1) * ((guint64)m + 1) > MAX_CELLS) {
		pair_in_order(n, m, similarity, user, pair);
		return;
	}
	table.sums = g_new0(double, ((gsize)n + 1) * ((gsize)m + 1));
	fill_table(&table, similarity, user);
	read_pairs(&table, pair);
	g_free(table.sums);
}
