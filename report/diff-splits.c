// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-splits.h"

/* Any constant: equal captures give equal results. */
#define SEED 1

/* Return the number of ways to choose @k of @n captures, or
 * KMT_DIFF_MAX_SPLITS + 1 if there are more than KMT_DIFF_MAX_SPLITS. */
static guint count_choices(guint n, guint k)
{
	guint64 count = 1;
	guint i;

	k = MIN(k, n - k);
	for (i = 1; i <= k; i++) {
		/* The product is divisible by i: it is i times a binomial
		 * coefficient. */
		count = count * (n - k + i) / i;
		if (count > KMT_DIFF_MAX_SPLITS)
			return KMT_DIFF_MAX_SPLITS + 1;
	}
	return (guint)count;
}

/*
 * Change base[0..k-1], ascending numbers below @n, to the next choice in
 * lexicographic order. Return FALSE after the last choice.
 */
static gboolean next_choice(guint16 *base, guint k, guint n)
{
	guint i = k, j;

	while (i > 0 && base[i - 1] == n - k + i - 1)
		i--;
	if (!i)
		return FALSE;
	base[i - 1]++;
	for (j = i; j < k; j++)
		base[j] = (guint16)(base[j - 1] + 1);
	return TRUE;
}

/* Store the numbers below @n that are not in base[0..k-1], which are ascending,
 * behind them. */
static void add_others(guint16 *base, guint k, guint n)
{
	guint16 *other = base + k;
	guint i, j = 0;

	for (i = 0; i < n; i++) {
		if (j < k && base[j] == i)
			j++;
		else
			*other++ = (guint16)i;
	}
}

static void enumerate(KmtDiffSplits *splits)
{
	guint n = splits->n_base + splits->n_new, k = splits->n_base, i;
	g_autofree guint16 *choice = g_new(guint16, k);
	guint16 *members = splits->members;

	for (i = 0; i < k; i++)
		choice[i] = (guint16)i;
	do {
		for (i = 0; i < k; i++)
			members[i] = choice[i];
		add_others(members, k, n);
		members += n;
	} while (next_choice(choice, k, n));
}

/* Draw all splits but the first one, which is the observed split. */
static void draw(KmtDiffSplits *splits)
{
	guint n = splits->n_base + splits->n_new, s, i;
	GRand *random = g_rand_new_with_seed(SEED);

	for (s = 0; s < splits->n_splits; s++) {
		guint16 *members = splits->members + (gsize)s * n;

		for (i = 0; i < n; i++)
			members[i] = (guint16)i;
		for (i = 0; s > 0 && i < splits->n_base; i++) {
			guint j = (guint)g_rand_int_range(random, (gint32)i,
							  (gint32)n);
			guint16 member = members[i];

			members[i] = members[j];
			members[j] = member;
		}
	}
	g_rand_free(random);
}

KmtDiffSplits *kmt_diff_splits_new(guint n_base, guint n_new)
{
	KmtDiffSplits *splits = g_new0(KmtDiffSplits, 1);
	guint n = n_base + n_new, count;

	g_assert(n_base > 0 && n_new > 0 && n <= G_MAXUINT16);
	count = count_choices(n, n_base);
	splits->n_base = n_base;
	splits->n_new = n_new;
	splits->is_exact = count <= KMT_DIFF_MAX_SPLITS;
	splits->n_splits =
		splits->is_exact ? count : KMT_DIFF_RANDOM_SPLITS + 1;
	splits->members = g_new(guint16, (gsize)splits->n_splits * n);
	if (splits->is_exact)
		enumerate(splits);
	else
		draw(splits);
	return splits;
}

void kmt_diff_splits_free(KmtDiffSplits *splits)
{
	if (!splits)
		return;
	g_free(splits->members);
	g_free(splits);
}

double kmt_diff_splits_smallest_p(const KmtDiffSplits *splits,
				  gboolean two_sided)
{
	gboolean has_mirror = two_sided && splits->is_exact &&
			      splits->n_base == splits->n_new;

	return (has_mirror ? 2.0 : 1.0) / splits->n_splits;
}

guint kmt_diff_splits_needed(double error_rate, gboolean two_sided)
{
	double choices = 2; /* ways to divide 2n captures into equal sides */
	guint n = 1;

	while (choices <= KMT_DIFF_MAX_SPLITS) {
		if ((two_sided ? 2 : 1) / choices <= error_rate)
			return MAX(n, 2);
		n++;
		choices *= 2 * (2.0 * n - 1) / n;
	}
	return 1.0 / (KMT_DIFF_RANDOM_SPLITS + 1) <= error_rate ? n : 0;
}
