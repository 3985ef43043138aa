/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many values of which magnitude: eight buckets for each power of two, so
 * that a value is known to within an eighth of it; values below 16 exactly.
 */
#ifndef KMEMTRACE_REPORT_HISTOGRAM_H
#define KMEMTRACE_REPORT_HISTOGRAM_H

#include <glib.h>

#define KMT_HISTOGRAM_BUCKETS (62 * 8)

typedef struct {
	guint64 n;
	guint64 *buckets; /* KMT_HISTOGRAM_BUCKETS of them; NULL while n is 0 */
} KmtHistogram;

void kmt_histogram_clear(KmtHistogram *histogram);

static inline guint kmt_histogram_bucket(guint64 value)
{
	guint shift;

	if (value < 16)
		return (guint)value;
	shift = 63 - (guint)__builtin_clzll(value) - 3;
	return shift * 8 + (guint)(value >> shift);
}

static inline void kmt_histogram_add(KmtHistogram *histogram, guint64 value)
{
	if (G_UNLIKELY(!histogram->n++))
		histogram->buckets = g_new0(guint64, KMT_HISTOGRAM_BUCKETS);
	histogram->buckets[kmt_histogram_bucket(value)]++;
}

/*
 * The smallest value of the bucket of the ceil(n * percent / 100)th value, by
 * size; 0 if there is none.
 */
guint64 kmt_histogram_percentile(const KmtHistogram *histogram, guint percent);

/* How many lie in 2^power .. 2^(power + 1) - 1; power 0 has the value 0 too. */
guint64 kmt_histogram_power(const KmtHistogram *histogram, guint power);

#endif
