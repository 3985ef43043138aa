/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of a comparison with several captures per side: spread, and
 * permutation tests that decide whether a difference exceeds noise.
 *
 * In all functions, @values has the value of each capture, first those of
 * splits->n_base base captures, then those of splits->n_new new captures. All
 * values are finite.
 */
#ifndef KMEMTRACE_REPORT_DIFF_NOISE_H
#define KMEMTRACE_REPORT_DIFF_NOISE_H

#include "report/diff-splits.h"

typedef enum {
	/* A side has one capture, or there are so few captures that no
	 * difference can exceed noise with the wanted error rate. */
	KMT_NOISE_UNKNOWN,
	KMT_NOISE_WITHIN,
	KMT_NOISE_EXCEEDS,
} KmtNoise;

/* Return the name of a state in JSON and CSV: "unknown", "within" or "exceeds".
 */
const char *kmt_noise_name(KmtNoise noise);

/*
 * Return half of the difference between the largest and the smallest of @n
 * values, at least one. The median of the absolute deviations, another common
 * measure, is too small with three captures: it is 0 if two of them are equal.
 */
double kmt_noise_spread(const double *values, guint n);

/*
 * Return the two-sided p-value of the difference between the means of the two
 * sides: the fraction of the splits whose means differ at least as much as
 * those of the observed split.
 */
double kmt_noise_p_value(const KmtDiffSplits *splits, const double *values);

/* Return whether a difference with the p-value @p exceeds noise, so that at
 * most the fraction @error_rate of unchanged figures does so by chance. */
KmtNoise kmt_noise_judge(const KmtDiffSplits *splits, double p,
			 double error_rate);

/*
 * Growth that a rule allows in each line: the larger one of @absolute and of
 * @fraction times the mean of the base side. Neither is negative. A limit of 0
 * allows no growth.
 */
typedef struct {
	double absolute;
	double fraction;
} KmtNoiseLimit;

/*
 * Test for @n_lines lines together whether their growth exceeds a limit, and
 * store a one-sided p-value for each line. @values has the n_base + n_new
 * values of the first line, then those of the next one.
 *
 * A p-value is the larger one of two:
 * - The joint p-value for "no line changed": the step-down maximum test of
 *   Westfall and Young over all lines. If nothing changed, the probability that
 *   any line has a p-value of at most e is at most e, however many lines there
 *   are and however they depend on each other.
 * - The p-value of the line alone for "the line grew by its limit". It excludes
 *   lines that changed by less than their limit.
 *
 * The statistic of the joint test is (growth - limit) / (limit + mean
 * absolute deviation from the means of the sides). The limit in the divisor
 * prevents that lines with small noise by chance, frequent with three captures,
 * hide a regression. A line whose mean growth is within the limit has the
 * p-value 1.
 */
void kmt_noise_max_test(const KmtDiffSplits *splits, const double *values,
			gsize n_lines, const KmtNoiseLimit *limit,
			double *p_values);

#endif
