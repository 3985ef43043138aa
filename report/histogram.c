// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/histogram.h"

/* The smallest value of a bucket. */
static guint64 lowest(guint bucket)
{
	guint shift;

	if (bucket < 16)
		return bucket;
	shift = bucket / 8 - 1;
	return (guint64)(bucket - shift * 8) << shift;
}

guint64 kmt_histogram_percentile(const KmtHistogram *histogram, guint percent)
{
	/* In two parts, as n * percent may not fit. */
	guint64 rank = histogram->n / 100 * percent +
		       (histogram->n % 100 * percent + 99) / 100;
	guint64 sum = 0;
	guint i;

	if (!histogram->n)
		return 0;
	rank = MAX(rank, 1);
	for (i = 0; sum + histogram->buckets[i] < rank; i++)
		sum += histogram->buckets[i];
	return lowest(i);
}

void kmt_histogram_clear(KmtHistogram *histogram)
{
	g_free(histogram->buckets);
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
	for (; histogram->n && i < end; i++)
		sum += histogram->buckets[i];
	return sum;
}
