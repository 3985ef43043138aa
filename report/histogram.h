/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A histogram of values with eight buckets for each power of two, so that the
 * bucket determines a value to within an eighth. Values below 16 are exact.
 *
 * A report may have almost as many groups as records, each with several
 * histograms, and most histograms then hold one value. A histogram therefore
 * takes 16 bytes while all its values are in one bucket. From the second bucket
 * on, it takes another 64 bytes, and 64 bytes for each allocated
 * KmtHistogramPart. The number of allocated parts doubles when necessary.
 */
#ifndef KMEMTRACE_REPORT_HISTOGRAM_H
#define KMEMTRACE_REPORT_HISTOGRAM_H

#include <glib.h>

#define KMT_HISTOGRAM_PARTS   62
#define KMT_HISTOGRAM_BUCKETS (KMT_HISTOGRAM_PARTS * 8)
#define KMT_HISTOGRAM_POWERS  64

/* The counts of eight adjacent buckets. */
typedef guint64 KmtHistogramPart[8];

typedef struct {
	/* parts[index[i] - 1] holds buckets 8 * i to 8 * i + 7. If index[i] is
	 * 0, all eight buckets are empty. */
	guint8 index[KMT_HISTOGRAM_PARTS];
	guint8 n_parts;
	guint8 n_allocated;
	KmtHistogramPart parts[];
} KmtHistogramCounts;

/* An all-zero histogram has no values. */
typedef struct {
	guint64 n;
	/* 0 without values. While all values are in one bucket: 2 * bucket +
	 * 1. Afterwards: the address of KmtHistogramCounts. */
	guintptr content;
} KmtHistogram;

/* Free the counts and make the histogram empty. */
void kmt_histogram_clear(KmtHistogram *histogram);

/* Return the bucket of @value. */
static inline guint kmt_histogram_bucket(guint64 value)
{
	/* A value below 16 is its own bucket: the shift is 0. */
	guint shift = 60 - (guint)__builtin_clzll(value | 15);

	return shift * 8 + (guint)(value >> shift);
}

/*
 * Add @times to a bucket without a counter. The caller has already added @times
 * to n. Private to kmt_histogram_add().
 */
void kmt_histogram_add_first(KmtHistogram *histogram, guint bucket,
			     guint64 times);

/* Add @value to the histogram @times times. */
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
 * Return the smallest value of the bucket that holds the value of rank ceil(n *
 * percent / 100) in ascending order; 0 if the histogram is empty.
 */
guint64 kmt_histogram_percentile(const KmtHistogram *histogram, guint percent);

/*
 * Return the number of values from 2^power to 2^(power + 1) - 1. Power 0
 * includes the value 0.
 */
guint64 kmt_histogram_power(const KmtHistogram *histogram, guint power);

/* Add the result of kmt_histogram_power() for each power to @counts, in less
 * time. */
void kmt_histogram_add_powers(const KmtHistogram *histogram,
			      guint64 counts[KMT_HISTOGRAM_POWERS]);

#endif
