// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the best sets of sizes. Standard input has the alignment, the smallest
 * size, the limit, the number of the guarantee and the largest number of sizes,
 * and then pairs of a requested size and its number of objects. Each line of
 * the output has the bytes and the sizes of a set, or "-" if there is none.
 */
#include "config.h"

#include <stdio.h>

#include "report/best-sizes.h"

static guint64 read_number(void)
{
	unsigned long long number;

	if (scanf("%llu", &number) != 1)
		g_error("a number is missing");
	return number;
}

/* A slab of this many bytes holds whole objects only. */
#define SLAB 256

static guint64 slab_cost(gpointer user, guint32 size)
{
	return GPOINTER_TO_SIZE(user) * KMT_SIZE_COST_UNIT / (SLAB / size);
}

static void print_set(const KmtBestSizes *best, guint n)
{
	g_autofree guint32 *sizes = g_new(guint32, n);
	guint64 bytes;
	guint i;

	if (!kmt_best_sizes_get(best, n, sizes, &bytes)) {
		puts("-");
		return;
	}
	printf("%llu", (unsigned long long)bytes);
	for (i = 0; i < n; i++)
		printf(" %u", sizes[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	g_autoptr(KmtBestSizes) best = NULL;
	g_autofree guint64 *objects = NULL;
	KmtSizeRule rule = {0};
	unsigned long long size, count;
	guint n, max_n;

	rule.align = (guint32)read_number();
	rule.min = (guint32)read_number();
	rule.limit = (guint32)read_number();
	rule.guarantee = (KmtSizeAlign)read_number();
	max_n = (guint)read_number();
	if (argc > 1 && g_str_equal(argv[1], "--slab")) {
		rule.cost = slab_cost;
		rule.user = GSIZE_TO_POINTER(SLAB);
	}
	objects = g_new0(guint64, rule.limit + 1);
	while (scanf("%llu %llu", &size, &count) == 2)
		objects[size] += count;
	best = kmt_best_sizes_new(objects, &rule, max_n);
	for (n = 1; n <= max_n; n++)
		print_set(best, n);
	return 0;
}
