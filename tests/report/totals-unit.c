// SPDX-License-Identifier: GPL-2.0-or-later
/* Totals above 32 bits, which no capture of another test reaches. */
#include "config.h"

#include "report/counters.h"

#define MANY (G_GUINT64_CONSTANT(1) << 32)

/* One call site with more than 2^32 objects, allocated, live, and freed. */
static void test_many_objects(void)
{
	KmtCounters counters = {.allocs = MANY - 1,
				.bytes_req = 8 * (MANY - 1),
				.bytes_alloc = 16 * (MANY - 1),
				.peak = 16 * (MANY - 1)};
	KmtTotals totals, sum = {0};
	guint i;

	for (i = 0; i < 3; i++)
		g_assert_true(kmt_counters_alloc(&counters, 8, 16, i));
	totals = kmt_counters_totals(&counters);
	g_assert_cmpuint(totals.allocs, ==, MANY + 2);
	g_assert_cmpuint(totals.live_objects, ==, MANY + 2);
	g_assert_cmpuint(totals.live_bytes_req, ==, 8 * (MANY + 2));
	g_assert_cmpuint(totals.peak_bytes_alloc, ==, 16 * (MANY + 2));
	g_assert_cmpint(totals.peak_timestamp, ==, 2);
	g_assert_cmpuint(kmt_totals_wasted(&totals).bytes, ==, 8 * (MANY + 2));
	g_assert_false(kmt_totals_add(&sum, &totals));
	g_assert_false(kmt_totals_add(&sum, &totals));
	g_assert_cmpuint(sum.allocs, ==, 2 * (MANY + 2));

	for (i = 0; i < 3; i++) {
		kmt_counters_close(&counters, 8, 16);
		kmt_counters_free(&counters, FALSE);
	}
	totals = kmt_counters_totals(&counters);
	g_assert_cmpuint(totals.live_objects, ==, MANY - 1);
	g_assert_cmpuint(totals.live_bytes_alloc, ==, 16 * (MANY - 1));
	counters.frees += MANY;
	g_assert_cmpuint(kmt_counters_totals(&counters).frees, ==, MANY + 3);
}

/* Sums are exact up to 2^64 - 1; a larger sum is reported as an overflow. */
static void test_overflow(void)
{
	KmtTotals sum = {.bytes_alloc = G_MAXUINT64 - 16};
	const KmtTotals part = {.bytes_alloc = 16}, more = {.bytes_alloc = 1};

	g_assert_false(kmt_totals_add(&sum, &part));
	g_assert_cmpuint(sum.bytes_alloc, ==, G_MAXUINT64);
	g_assert_true(kmt_totals_add(&sum, &more));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/totals/many-objects", test_many_objects);
	g_test_add_func("/totals/overflow", test_overflow);
	return g_test_run();
}
