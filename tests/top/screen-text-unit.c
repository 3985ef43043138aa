// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures, texts, and columns of the screen of kmemtrace-top. */
#include "config.h"

#include <locale.h>
#include <math.h>
#include <string.h>

#include "top/screen-columns.h"
#include "top/text-width.h"

/* Replaces the function of the engine, which screen-columns.c calls. */
const char *kmt_top_kind_name(KmtTopKind kind)
{
	return kind == KMT_TOP_PAGES ? "pages" : "other";
}

typedef void (*PrintInteger)(char *text, guint64 value,
			     KmtTopPrecision precision);

static void check_integer(PrintInteger print, guint64 value,
			  const char *shortened, const char *exact)
{
	char text[KMT_TOP_FIGURE_SIZE];

	print(text, value, KMT_TOP_SHORT);
	g_assert_cmpstr(text, ==, shortened);
	g_assert_cmpuint(strlen(text), <=, 5);
	print(text, value, KMT_TOP_EXACT);
	g_assert_cmpstr(text, ==, exact);
}

static void test_bytes(void)
{
	check_integer(kmt_top_bytes_text, 0, "0", "0");
	check_integer(kmt_top_bytes_text, 9999, "9999", "9999");
	check_integer(kmt_top_bytes_text, 10000, "9.77K", "10000");
	check_integer(kmt_top_bytes_text, 10235, "10.0K", "10235");
	check_integer(kmt_top_bytes_text, 12595, "12.3K", "12595");
	check_integer(kmt_top_bytes_text, 999 * 1024, "999K", "1022976");
	check_integer(kmt_top_bytes_text, 1023 * 1024, "1.00M", "1047552");
	check_integer(kmt_top_bytes_text, G_MAXUINT64, "16.0E",
		      "18446744073709551615");
}

static void test_counts(void)
{
	check_integer(kmt_top_count_text, 12345, "12.3K", "12345");
	check_integer(kmt_top_count_text, 999499, "999K", "999499");
	check_integer(kmt_top_count_text, 999500, "1.00M", "999500");
	check_integer(kmt_top_count_text, G_MAXUINT64, "18.4E",
		      "18446744073709551615");
}

static void check_growth(gint64 bytes, const char *growth, const char *other)
{
	char text[KMT_TOP_FIGURE_SIZE];

	kmt_top_growth_text(text, bytes, KMT_TOP_SHORT);
	g_assert_cmpstr(text, ==, growth);
	kmt_top_signed_bytes_text(text, bytes, KMT_TOP_SHORT);
	g_assert_cmpstr(text, ==, other);
}

static void test_growth(void)
{
	check_growth(0, "0", "0");
	check_growth(1, "+1", "1");
	check_growth(-1, "-1", "-1");
	check_growth(-20480, "-20.0K", "-20.0K");
	check_growth(G_MAXINT64, "+8.00E", "8.00E");
	check_growth(G_MININT64, "-8.00E", "-8.00E");
}

static void check_rate(double rate, const char *want)
{
	char text[KMT_TOP_FIGURE_SIZE];

	kmt_top_rate_text(text, rate, KMT_TOP_SHORT);
	g_assert_cmpstr(text, ==, want);
	/* No rate may be too long for the buffer. */
	kmt_top_rate_text(text, rate, KMT_TOP_EXACT);
	kmt_top_byte_rate_text(text, rate, KMT_TOP_EXACT);
	g_assert_cmpuint(strlen(text), <, KMT_TOP_FIGURE_SIZE - 1);
}

static void test_rates(void)
{
	check_rate(0, "0");
	check_rate(-1, "0");
	check_rate(NAN, "0");
	check_rate(0.25, "0.2");
	check_rate(9.94, "9.9");
	check_rate(9.96, "10");
	check_rate(9999.4, "9999");
	check_rate(9999.6, "10.0K");
	check_rate(1e12, "1.00T");
	check_rate(INFINITY, "100E");
}

static void check_duration(guint64 ns, const char *want)
{
	char text[KMT_TOP_FIGURE_SIZE];

	kmt_top_duration_text(text, ns);
	g_assert_cmpstr(text, ==, want);
}

static void test_times(void)
{
	char text[KMT_TOP_FIGURE_SIZE];

	check_duration(0, "0ns");
	check_duration(999, "999ns");
	check_duration(1000, "1.00us");
	check_duration(12345678, "12.3ms");
	check_duration(59000000000, "59.0s");
	check_duration(G_MAXUINT64, "5124096h");
	kmt_top_clock_text(text, 3723.9);
	g_assert_cmpstr(text, ==, "1:02:03");
	kmt_top_clock_text(text, NAN);
	g_assert_cmpstr(text, ==, "0:00:00");
}

static void check_slice(const char *text, guint first, guint n,
			const char *want)
{
	g_autofree char *part = kmt_top_text_slice(text, first, n);

	g_assert_cmpstr(part, ==, want);
	g_assert_cmpuint(kmt_top_text_width(part), <=, n);
}

static void test_slices(void)
{
	check_slice("abcdef", 0, 10, "abcdef");
	check_slice("abcdef", 2, 3, "cde");
	check_slice("abcdef", 6, 3, "");
	check_slice("abcdef", 0, 0, "");
	check_slice("a\x1b[2Jb\n\xff", 0, 20, "a?[2Jb??");
}

static void test_wide(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8")) {
		g_test_skip("the locale C.UTF-8 is missing");
		return;
	}
	g_assert_cmpuint(kmt_top_text_width("\u4e00\u4e8c"), ==, 4);
	check_slice("\u4e00\u4e8c\u4e09", 0, 4, "\u4e00\u4e8c");
	check_slice("\u4e00\u4e8c\u4e09", 0, 3, "\u4e00 ");
	check_slice("\u4e00\u4e8c\u4e09", 1, 3, " \u4e8c");
	check_slice("e\u0301x", 0, 1, "e\u0301");
	check_slice("e\u0301x", 1, 1, "x");
	setlocale(LC_CTYPE, "C");
	check_slice("\u4e00x", 0, 4, "?x");
}

static void test_columns(void)
{
	const KmtTopFigures figures = {.wasted_bytes = -3};
	char text[KMT_TOP_FIGURE_SIZE];
	guint widths[KMT_TOP_N_COLUMNS];
	gboolean shown[KMT_TOP_N_COLUMNS];

	for (guint c = 0; c < KMT_TOP_N_COLUMNS; c++)
		widths[c] = kmt_top_column_min_width(c);
	for (guint n = 1; n <= 200; n++)
		for (guint order = 0; order < KMT_TOP_N_ORDERS; order++) {
			guint name =
				kmt_top_columns_fit(widths, n, order, shown);
			guint sum = name, n_shown = 0;

			g_assert_cmpuint(name, >=, MIN(20, n / 2));
			for (guint c = 0; c < KMT_TOP_N_COLUMNS; c++) {
				sum += shown[c] ? widths[c] + 1 : 0;
				n_shown += shown[c] ? 1 : 0;
			}
			g_assert_cmpuint(sum, ==, n);
			if (n >= 100)
				g_assert_cmpuint(n_shown, ==,
						 KMT_TOP_N_COLUMNS);
		}
	kmt_top_column_text(text, KMT_TOP_COLUMN_KIND, KMT_TOP_PAGES, &figures,
			    KMT_TOP_SHORT);
	g_assert_cmpstr(text, ==, "pages");
	kmt_top_column_text(text, KMT_TOP_COLUMN_WASTED, KMT_TOP_PAGES,
			    &figures, KMT_TOP_SHORT);
	g_assert_cmpstr(text, ==, "-3");
	/* The column of the order is shown on a narrow terminal. */
	kmt_top_columns_fit(widths, 24, KMT_TOP_ORDER_WASTED, shown);
	g_assert_true(shown[KMT_TOP_COLUMN_WASTED]);
	g_assert_false(shown[KMT_TOP_COLUMN_LIVE]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/top/bytes", test_bytes);
	g_test_add_func("/top/counts", test_counts);
	g_test_add_func("/top/growth", test_growth);
	g_test_add_func("/top/rates", test_rates);
	g_test_add_func("/top/times", test_times);
	g_test_add_func("/top/slices", test_slices);
	g_test_add_func("/top/wide", test_wide);
	g_test_add_func("/top/columns", test_columns);
	return g_test_run();
}
