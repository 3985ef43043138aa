/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many values of which magnitude: eight buckets for each power of two, so
 * that a value is known to within an eighth of it; values below 16 exactly.
 *
 * A capture may have as many histograms as records, most of which then hold one
 * value.  So a histogram takes 16 bytes while all its values are in one bucket,
 * and 64 bytes for each power of two that it has values of from then on.
 */
#ifndef KMEMTRACE_REPORT_HISTOGRAM_H
#define KMEMTRACE_REPORT_HISTOGRAM_H

#include <glib.h>

#define KMT_HISTOGRAM_PARTS   62
#define KMT_HISTOGRAM_BUCKETS (KMT_HISTOGRAM_PARTS * 8)

/* The counts of eight buckets. */
typedef guint64 KmtHistogramPart[8];

typedef struct {
	/* Buckets 8 i to 8 i + 7 are parts[index[i] - 1]; 0: all are 0. */
	guint8 index[KMT_HISTOGRAM_PARTS];
	guint8 n_parts;
	guint8 n_allocated;
	KmtHistogramPart parts[];
} KmtHistogramCounts;

/* All 0: no values. */
typedef struct {
	guint64 n;
	/* 2 * bucket + 1 while all values are in that bucket, then the address
	 * of KmtHistogramCounts. */
	guintptr content;
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

/* Private: counts, after n, in a bucket that has no counter yet. */
void kmt_histogram_add_first(KmtHistogram *histogram, guint bucket,
			     guint64 times);

static inline void kmt_histogram_add(KmtHistogram *histogram, guint64 value,
				     guint64 times)
{
	guint bucket = kmt_histogram_bucket(value), part;
	guintptr content = histogram->content;

	histogram->n += times;
	if (G_LIKELY(content && !(content & 1))) {
		KmtHistogramCounts *counts = (KmtHistogramCounts *)content;

		part = counts->index[bucket / 8];
		if (G_LIKELY(part)) {
			counts->parts[part - 1][bucket % 8] += times;
			return;
		}
	} else if (content == 2 * bucket + 1) {
		return;
	}
	kmt_histogram_add_first(histogram, bucket, times);
}

/*
 * The smallest value of the bucket of the ceil(n * percent / 100)th value, by
 * size; 0 if there is none.
 */
guint64 kmt_histogram_percentile(const KmtHistogram *histogram, guint percent);

/* How many lie in 2^power .. 2^(power + 1) - 1; power 0 has the value 0 too. */
guint64 kmt_histogram_power(const KmtHistogram *histogram, guint power);

#endif
