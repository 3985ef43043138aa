// SPDX-License-Identifier: GPL-2.0-or-later
/* Exact arithmetic of figures, and alignments compared with all possible ones.
 */
#include "config.h"

#include "report/arena.h"
#include "report/diff-align.h"
#include "report/diff-location.h"
#include "report/figure-arithmetic.h"

#include <string.h>

#define MAX_LENGTH 5

static KmtFigure integer(gint64 value)
{
	return (KmtFigure){.type = KMT_FIGURE_INTEGER,
			   .negative = value < 0,
			   .integer = value < 0 ? -(guint64)value
						: (guint64)value};
}

static void check_integer(KmtFigure figure, gboolean negative, guint64 value)
{
	g_assert_cmpint(figure.type, ==, KMT_FIGURE_INTEGER);
	g_assert_cmpint(figure.negative, ==, negative);
	g_assert_cmpuint(figure.integer, ==, value);
}

/* A double cannot represent these integers. */
static void test_exact(void)
{
	KmtFigure large = {.type = KMT_FIGURE_INTEGER, .integer = G_MAXUINT64};
	KmtFigure less = {.type = KMT_FIGURE_INTEGER,
			  .integer = G_MAXUINT64 - 1};
	KmtFigure one = integer(1), minus = integer(-1), zero = integer(0);
	KmtFigure values[2];

	check_integer(kmt_figure_difference(&large, &less), FALSE, 1);
	check_integer(kmt_figure_difference(&less, &large), TRUE, 1);
	check_integer(kmt_figure_difference(&large, &large), FALSE, 0);
	check_integer(kmt_figure_add(&less, &one), FALSE, G_MAXUINT64);
	check_integer(kmt_figure_add(&large, &one), FALSE, G_MAXUINT64);
	check_integer(kmt_figure_difference(&large, &minus), FALSE,
		      G_MAXUINT64);
	check_integer(kmt_figure_difference(&minus, &large), TRUE, G_MAXUINT64);
	check_integer(kmt_figure_add(&one, &minus), FALSE, 0);
	check_integer(kmt_figure_difference(&zero, &zero), FALSE, 0);
	values[0] = large;
	values[1] = (KmtFigure){.type = KMT_FIGURE_INTEGER,
				.integer = G_MAXUINT64 - 2};
	check_integer(kmt_figure_median(values, 2), FALSE, G_MAXUINT64 - 1);
}

static void test_medians(void)
{
	KmtFigure values[] = {
		integer(7), {.type = KMT_FIGURE_NONE}, integer(-3), integer(4)};
	KmtFigure times[] = {{.type = KMT_FIGURE_TIME, .integer = 10},
			     {.type = KMT_FIGURE_TIME, .integer = 13}};
	KmtFigure median;

	check_integer(kmt_figure_median(values, 4), FALSE, 4);
	check_integer(kmt_figure_median(values, 3), FALSE, 2);
	median = kmt_figure_median(values, 1);
	check_integer(median, FALSE, 7);
	values[3] = integer(-6);
	median = kmt_figure_median(values + 1, 3);
	g_assert_cmpint(median.type, ==, KMT_FIGURE_RATE);
	g_assert_cmpfloat(median.real, ==, -4.5);
	g_assert_cmpint(kmt_figure_median(values + 1, 1).type, ==,
			KMT_FIGURE_NONE);
	median = kmt_figure_median(times, 2);
	g_assert_cmpint(median.type, ==, KMT_FIGURE_TIME);
	g_assert_cmpuint(median.integer, ==, 11);
}

static void test_types(void)
{
	KmtFigure none = {.type = KMT_FIGURE_NONE}, two = integer(2);
	KmtFigure rate = kmt_figure_times(&two, 0.25), result;
	KmtFigure early = {.type = KMT_FIGURE_TIME, .integer = 5};
	KmtFigure late = {.type = KMT_FIGURE_TIME, .integer = 8};

	g_assert_cmpint(kmt_figure_difference(&two, &none).type, ==,
			KMT_FIGURE_NONE);
	check_integer(kmt_figure_add(&none, &two), FALSE, 2);
	check_integer(kmt_figure_difference(&early, &late), TRUE, 3);
	g_assert_cmpint(rate.type, ==, KMT_FIGURE_RATE);
	g_assert_cmpfloat(rate.real, ==, 0.5);
	result = kmt_figure_difference(&rate, &two);
	g_assert_cmpfloat(result.real, ==, -1.5);
	g_assert_true(kmt_figure_is_nonzero(&result));
	g_assert_false(kmt_figure_is_nonzero(&none));
}

/* ---- arena ---- */

/* All parts are zero, aligned, and remain as they are. */
static void test_arena(void)
{
	static const gsize sizes[] = {1, 24, 0, 1 << 20, 100, 15000};
	g_autoptr(KmtArena) arena = kmt_arena_new();
	g_autoptr(GPtrArray) parts = g_ptr_array_new();
	char *text = kmt_arena_strdup(arena, "text");
	guint i;
	gsize j;

	for (i = 0; i < 100; i++) {
		gsize size = sizes[i % G_N_ELEMENTS(sizes)];
		char *part = kmt_arena_alloc0(arena, size);

		g_assert_cmpuint((guintptr)part % 16, ==, 0);
		for (j = 0; j < size; j++)
			g_assert_cmpint(part[j], ==, 0);
		memset(part, (int)i, size);
		g_ptr_array_add(parts, part);
	}
	for (i = 0; i < parts->len; i++)
		for (j = 0; j < sizes[i % G_N_ELEMENTS(sizes)]; j++)
			g_assert_cmpint(((char *)parts->pdata[i])[j], ==, i);
	g_assert_cmpstr(text, ==, "text");
}

/* ---- alignment ---- */

typedef struct {
	double s[MAX_LENGTH][MAX_LENGTH];
} Similarities;

static double get_similarity(gconstpointer user, guint i, guint j)
{
	return ((const Similarities *)user)->s[i][j];
}

/*
 * Return the largest sum of the pairs from i and j on, by trying all. n is at
 * most MAX_LENGTH; the test of the constant shows gcc -O3 that i is in bounds.
 */
static double best_sum(const Similarities *s, guint i, guint j, guint n,
		       guint m)
{
	double best;
	guint k;

	if (i == n || i == MAX_LENGTH)
		return 0;
	best = best_sum(s, i + 1, j, n, m);
	for (k = j; k < m; k++)
		if (s->s[i][k] > 0)
			best = MAX(best, s->s[i][k] + best_sum(s, i + 1, k + 1,
							       n, m));
	return best;
}

static void check_alignment(const Similarities *s, guint n, guint m)
{
	guint pair[MAX_LENGTH], i, next = 0;
	double sum = 0;

	kmt_diff_align(n, m, get_similarity, s, pair);
	for (i = 0; i < n; i++) {
		if (pair[i] == KMT_DIFF_UNPAIRED)
			continue;
		g_assert_cmpuint(pair[i], >=, next);
		g_assert_cmpuint(pair[i], <, m);
		g_assert_cmpfloat(s->s[i][pair[i]], >, 0);
		sum += s->s[i][pair[i]];
		next = pair[i] + 1;
	}
	g_assert_cmpfloat_with_epsilon(sum, best_sum(s, 0, 0, n, m), 1e-9);
}

static void test_alignments(void)
{
	GRand *rand = g_rand_new_with_seed(17);
	Similarities s;
	guint round, i, j;

	for (round = 0; round < 2000; round++) {
		guint n = (guint)g_rand_int_range(rand, 0, MAX_LENGTH + 1);
		guint m = (guint)g_rand_int_range(rand, 0, MAX_LENGTH + 1);

		for (i = 0; i < n; i++)
			for (j = 0; j < m; j++)
				s.s[i][j] = g_rand_int_range(rand, 0, 3) *
					    g_rand_double(rand) / 2;
		check_alignment(&s, n, m);
	}
	g_rand_free(rand);
}

static double always_equal(gconstpointer user, guint i, guint j)
{
	return 1;
}

/* Sequences that are too long for the table are paired in order. */
static void test_long(void)
{
	const guint n = 3000, m = 2000;
	g_autofree guint *pair = g_new(guint, n);
	guint i;

	kmt_diff_align(n, m, always_equal, NULL, pair);
	for (i = 0; i < n; i++)
		g_assert_cmpuint(pair[i], ==, i < m ? i : KMT_DIFF_UNPAIRED);
}

/* Return whether the only call sites of f() in two builds match. */
static gboolean do_match(const char *base, const char *new)
{
	g_autoptr(GStringChunk) strings = g_string_chunk_new(64);
	g_autoptr(KmtArena) arena = kmt_arena_new();
	g_autoptr(KmtDiffLocations) locations =
		kmt_diff_locations_new(FALSE, arena, strings);
	KmtDiffBuildLocation *found[2];
	const char *sources[] = {base, new};
	guint i;

	for (i = 0; i < 2; i++) {
		const KmtDiffFrame frame = {.function = "f",
					    .position = 0x10 + i,
					    .source = sources[i]};
		const KmtDiffTraits traits = {1, 10, 640, 640, 1, 1};

		found[i] = kmt_diff_locations_add(locations, i, &frame, 1, 0);
		found[i]->traits = traits;
	}
	kmt_diff_locations_match(locations);
	return found[0]->code == found[1]->code;
}

/* Static functions of one name in two files are not the same code. */
static void test_files(void)
{
	g_assert_true(do_match("fs/a.c:10", "fs/a.c:90"));
	g_assert_true(do_match("/src/m-1.0/a.c:10", "/src/m-1.1/a.c:12"));
	g_assert_true(do_match(NULL, "fs/a.c:10"));
	/* The location of an inlined function. */
	g_assert_true(do_match("fs/a.c:10", "include/linux/slab.h:10"));
	g_assert_true(do_match("include/a.h:10", "include/b.h:10"));
	g_assert_false(do_match("fs/a.c:10", "fs/b.c:10"));
	g_assert_false(do_match("fs/a.c:10", "fs/ba.c:10"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/arena/parts", test_arena);
	g_test_add_func("/figures/exact", test_exact);
	g_test_add_func("/figures/medians", test_medians);
	g_test_add_func("/figures/types", test_types);
	g_test_add_func("/align/random", test_alignments);
	g_test_add_func("/align/long", test_long);
	g_test_add_func("/locations/files", test_files);
	return g_test_run();
}
