// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "report/histogram.h"

/* Return the smallest value of a bucket. */
static guint64 lowest(guint bucket)
{
	guint shift;

	if (bucket < 16)
		return bucket;
	shift = bucket / 8 - 1;
	return (guint64)(bucket - shift * 8) << shift;
}

static KmtHistogramCounts *counts_of(const KmtHistogram *histogram)
{
	return histogram->content & 1
		       ? NULL
		       : (KmtHistogramCounts *)histogram->content;
}

static guint64 count(const KmtHistogram *histogram, guint bucket)
{
	const KmtHistogramCounts *counts = counts_of(histogram);
	guint part;

	if (!counts)
		return histogram->content == 2 * bucket + 1 ? histogram->n : 0;
	part = counts->index[bucket / 8];
	return part ? counts->parts[part - 1][bucket % 8] : 0;
}

static guint64 *counter(KmtHistogram *histogram, guint bucket)
{
	KmtHistogramCounts *counts = counts_of(histogram);
	guint8 *part = &counts->index[bucket / 8];

	if (!*part) {
		if (counts->n_parts == counts->n_allocated) {
			counts->n_allocated = MIN(2 * counts->n_allocated,
						  KMT_HISTOGRAM_PARTS);
			counts = g_realloc(
				counts,
				sizeof(*counts) +
					counts->n_allocated *
						sizeof(KmtHistogramPart));
			histogram->content = (guintptr)counts;
			part = &counts->index[bucket / 8];
		}
		memset(counts->parts[counts->n_parts], 0,
		       sizeof(KmtHistogramPart));
		*part = ++counts->n_parts;
	}
	return &counts->parts[*part - 1][bucket % 8];
}

void kmt_histogram_add_first(KmtHistogram *histogram, guint bucket,
			     guint64 times)
{
	guint only = (guint)(histogram->content / 2);

	if (!times)
		return;
	if (!histogram->content) {
		histogram->content = 2 * bucket + 1;
		return;
	}
	if (histogram->content & 1) {
		KmtHistogramCounts *counts = g_malloc0(
			sizeof(*counts) + 2 * sizeof(KmtHistogramPart));

		counts->n_allocated = 2;
		histogram->content = (guintptr)counts;
		*counter(histogram, only) = histogram->n - times;
	}
	*counter(histogram, bucket) += times;
}

guint64 kmt_histogram_percentile(const KmtHistogram *histogram, guint percent)
{
	/* Multiply in two steps, because n * percent may overflow. */
	guint64 rank = histogram->n / 100 * percent +
		       (histogram->n % 100 * percent + 99) / 100;
	guint64 sum = 0;
	guint i;

	if (!histogram->n)
		return 0;
	rank = MAX(rank, 1);
	for (i = 0; i + 1 < KMT_HISTOGRAM_BUCKETS; i++) {
		guint64 n = count(histogram, i);

		if (n >= rank - sum)
			break;
		sum += n;
	}
	return lowest(i);
}

void kmt_histogram_clear(KmtHistogram *histogram)
{
	g_free(counts_of(histogram));
	*histogram = (KmtHistogram){0};
}

guint64 kmt_histogram_power(const KmtHistogram *histogram, guint power)
{
	guint64 low = power ? G_GUINT64_CONSTANT(1) << power : 0;
	guint64 sum = 0;
	guint i = kmt_histogram_bucket(low), end;

	end = power >= 63
		      ? KMT_HISTOGRAM_BUCKETS
		      : kmt_histogram_bucket(G_GUINT64_CONSTANT(2) << power);
	for (; i < end; i++)
		sum += count(histogram, i);
	return sum;
}

/* Return the power of the values in a bucket. */
static guint power_of(guint bucket)
{
	guint64 low = lowest(bucket);

	return low ? 63 - (guint)__builtin_clzll(low) : 0;
}

void kmt_histogram_add_powers(const KmtHistogram *histogram,
			      guint64 counts[KMT_HISTOGRAM_POWERS])
{
	const KmtHistogramCounts *all = counts_of(histogram);
	guint part, i;

	if (!histogram->content)
		return;
	if (!all) {
		counts[power_of((guint)(histogram->content / 2))] +=
			histogram->n;
		return;
	}
	for (part = 0; part < KMT_HISTOGRAM_PARTS; part++)
		for (i = 0; all->index[part] && i < 8; i++)
			counts[power_of(part * 8 + i)] +=
				all->parts[all->index[part] - 1][i];
}
