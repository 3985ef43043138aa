// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Statistics that differ by less than this fraction are equal: rounding of sums
 * in another order must not decide between "as large" and "smaller". */
#define TOLERANCE 1e-9

const char *kmt_noise_name(KmtNoise noise)
{
	switch (noise) {
	case KMT_NOISE_WITHIN:
		return "within";
	case KMT_NOISE_EXCEEDS:
		return "exceeds";
	default:
		return "unknown";
	}
}

static double smallest_of(const double *values, guint n)
{
	double smallest = values[0];
	guint i;

	for (i = 1; i < n; i++)
		smallest = MIN(smallest, values[i]);
	return smallest;
}

static double largest_of(const double *values, guint n)
{
	double largest = values[0];
	guint i;

	for (i = 1; i < n; i++)
		largest = MAX(largest, values[i]);
	return largest;
}

double kmt_noise_spread(const double *values, guint n)
{
	return (largest_of(values, n) - smallest_of(values, n)) / 2;
}

/* Return the mean of the @n values whose numbers are in @members. */
static double mean_of(const double *values, const guint16 *members, guint n)
{
	double sum = 0;
	guint i;

	for (i = 0; i < n; i++)
		sum += values[members[i]];
	return sum / n;
}

/* Return the mean of the new side minus that of the base side. */
static double growth_of(const KmtDiffSplits *splits, guint split,
			const double *values)
{
	const guint16 *members = kmt_diff_splits_members(splits, split);

	return mean_of(values, members + splits->n_base, splits->n_new) -
	       mean_of(values, members, splits->n_base);
}

/* Return the values minus the smallest one, so that sums lose no digits. The
 * caller frees the array. */
static double *subtract_smallest(const double *values, guint n)
{
	double smallest = smallest_of(values, n);
	double *centred = g_new(double, n);
	guint i;

	for (i = 0; i < n; i++)
		centred[i] = values[i] - smallest;
	return centred;
}

double kmt_noise_p_value(const KmtDiffSplits *splits, const double *values)
{
	guint n = splits->n_base + splits->n_new, s, count = 0;
	g_autofree double *centred = subtract_smallest(values, n);
	double range = largest_of(centred, n), observed;

	if (!(range > 0))
		return 1;
	observed = fabs(growth_of(splits, 0, centred)) - TOLERANCE * range;
	for (s = 0; s < splits->n_splits; s++)
		if (fabs(growth_of(splits, s, centred)) >= observed)
			count++;
	return (double)count / splits->n_splits;
}

KmtNoise kmt_noise_judge(const KmtDiffSplits *splits, double p,
			 double error_rate)
{
	if (splits->n_base < 2 || splits->n_new < 2 ||
	    kmt_diff_splits_smallest_p(splits, TRUE) > error_rate)
		return KMT_NOISE_UNKNOWN;
	return p <= error_rate ? KMT_NOISE_EXCEEDS : KMT_NOISE_WITHIN;
}

static double limit_of(const KmtNoiseLimit *limit, double base_mean)
{
	return MAX(limit->absolute, limit->fraction * MAX(base_mean, 0));
}

/* Return the sum of the absolute deviations from @mean. */
static double deviations_of(const double *values, const guint16 *members,
			    guint n, double mean)
{
	double sum = 0;
	guint i;

	for (i = 0; i < n; i++)
		sum += fabs(values[members[i]] - mean);
	return sum;
}

/* Return the statistic of the joint test for one line and one split. */
static double excess_of(const KmtDiffSplits *splits, guint split,
			const double *values, const KmtNoiseLimit *limit)
{
	const guint16 *base = kmt_diff_splits_members(splits, split);
	const guint16 *new = base + splits->n_base;
	double base_mean = mean_of(values, base, splits->n_base);
	double new_mean = mean_of(values, new, splits->n_new);
	double allowed = limit_of(limit, base_mean);
	double excess = new_mean - base_mean - allowed;
	double sum = deviations_of(values, base, splits->n_base, base_mean) +
		     deviations_of(values, new, splits->n_new, new_mean);
	double divisor = allowed + sum / (splits->n_base + splits->n_new);

	if (divisor > 0)
		return excess / divisor;
	return excess > 0 ? INFINITY : 0;
}

/* Return the one-sided p-value of the hypothesis that the line grew by its
 * limit: the new values minus the limit are then like the base values. */
static double shifted_p_value(const KmtDiffSplits *splits, const double *values,
			      const KmtNoiseLimit *limit)
{
	guint n = splits->n_base + splits->n_new, i, s, count = 0;
	g_autofree double *shifted = g_memdup2(values, n * sizeof(*values));
	g_autofree double *centred = NULL;
	double allowed = limit_of(
		limit, mean_of(values, kmt_diff_splits_members(splits, 0),
			       splits->n_base));
	double observed;

	for (i = splits->n_base; i < n; i++)
		shifted[i] -= allowed;
	centred = subtract_smallest(shifted, n);
	observed = growth_of(splits, 0, centred) -
		   TOLERANCE * largest_of(centred, n);
	for (s = 0; s < splits->n_splits; s++)
		if (growth_of(splits, s, centred) >= observed)
			count++;
	return (double)count / splits->n_splits;
}

/* A line whose statistic may be positive in some split. */
typedef struct {
	gsize number;
	const double *values;
	double observed; /* statistic of the observed split */
	guint count;	 /* splits with a maximum that is at least as large */
} Candidate;

static int compare_candidates(const void *a, const void *b)
{
	const Candidate *x = a, *y = b;

	if (x->observed != y->observed)
		return x->observed < y->observed ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Return the candidates, in ascending order of their statistic. Lines whose
 * values differ by at most the absolute limit are omitted: their statistic is
 * positive in no split, so it never reaches the positive statistic of another
 * line.
 */
static GArray *find_candidates(const KmtDiffSplits *splits,
			       const double *values, gsize n_lines,
			       const KmtNoiseLimit *limit)
{
	GArray *candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));
	guint n = splits->n_base + splits->n_new;
	gsize i;

	for (i = 0; i < n_lines; i++) {
		Candidate candidate = {.number = i, .values = values + i * n};

		if (2 * kmt_noise_spread(candidate.values, n) <=
		    limit->absolute)
			continue;
		candidate.observed =
			excess_of(splits, 0, candidate.values, limit);
		g_array_append_val(candidates, candidate);
	}
	if (candidates->len)
		qsort(candidates->data, candidates->len, sizeof(Candidate),
		      compare_candidates);
	return candidates;
}

/*
 * Count for each candidate the splits in which any candidate with at most its
 * observed statistic has a statistic as large as the observed one. This is the
 * step-down form of the test: larger regressions do not hide smaller ones.
 */
static void count_maxima(const KmtDiffSplits *splits, GArray *candidates,
			 const KmtNoiseLimit *limit)
{
	guint s, i;

	for (s = 0; s < splits->n_splits; s++) {
		double maximum = -INFINITY;

		for (i = 0; i < candidates->len; i++) {
			Candidate *line =
				&g_array_index(candidates, Candidate, i);
			double slack = TOLERANCE * fabs(line->observed);

			maximum = MAX(maximum, excess_of(splits, s,
							 line->values, limit));
			if (maximum >= line->observed - slack ||
			    maximum == line->observed)
				line->count++;
		}
	}
}

void kmt_noise_max_test(const KmtDiffSplits *splits, const double *values,
			gsize n_lines, const KmtNoiseLimit *limit,
			double *p_values)
{
	g_autoptr(GArray) candidates =
		find_candidates(splits, values, n_lines, limit);
	double joint = 0;
	gsize i;

	for (i = 0; i < n_lines; i++)
		p_values[i] = 1;
	count_maxima(splits, candidates, limit);
	/* From the largest statistic on: a line is not more significant than
	 * one with a larger statistic. */
	for (i = candidates->len; i-- > 0;) {
		const Candidate *line =
			&g_array_index(candidates, Candidate, i);
		double alone;

		if (!(line->observed > 0))
			break;
		joint = MAX(joint, (double)line->count / splits->n_splits);
		alone = shifted_p_value(splits, line->values, limit);
		p_values[line->number] = MAX(joint, alone);
	}
}
