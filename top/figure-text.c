// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "top/figure-text.h"

/* Integers below this bound are printed with all digits in every precision. */
#define MAX_SHORT 9999

/* Print value with three significant digits and a unit, without rounding up to
 * four digits before the point. */
static void print_scaled(char *text, double value, const char *unit)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

	g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%.*f%s", decimals, value, unit);
}

static void print_short(char *text, double value, double base)
{
	static const char units[][2] = {"", "K", "M", "G", "T", "P", "E"};
	gsize unit = 0;

	while (value >= 999.5 && unit + 1 < G_N_ELEMENTS(units)) {
		value /= base;
		unit++;
	}
	print_scaled(text, value, units[unit]);
}

static void print_number(char *text, guint64 number, double base,
			 KmtTopPrecision precision)
{
	if (precision == KMT_TOP_EXACT || number <= MAX_SHORT)
		g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%" G_GUINT64_FORMAT,
			   number);
	else
		print_short(text, (double)number, base);
}

void kmt_top_bytes_text(char *text, guint64 bytes, KmtTopPrecision precision)
{
	print_number(text, bytes, 1024, precision);
}

void kmt_top_count_text(char *text, guint64 count, KmtTopPrecision precision)
{
	print_number(text, count, 1000, precision);
}

/* Print bytes with a sign: plus is the text for numbers above 0. */
static void print_signed(char *text, gint64 bytes, const char *plus,
			 KmtTopPrecision precision)
{
	char magnitude[KMT_TOP_FIGURE_SIZE];

	/* The unsigned negation is defined for G_MININT64, too. */
	kmt_top_bytes_text(magnitude,
			   bytes < 0 ? -(guint64)bytes : (guint64)bytes,
			   precision);
	g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%s%s",
		   bytes < 0   ? "-"
		   : bytes > 0 ? plus
			       : "",
		   magnitude);
}

void kmt_top_signed_bytes_text(char *text, gint64 bytes,
			       KmtTopPrecision precision)
{
	print_signed(text, bytes, "", precision);
}

void kmt_top_growth_text(char *text, gint64 bytes, KmtTopPrecision precision)
{
	print_signed(text, bytes, "+", precision);
}

static void print_rate(char *text, double rate, double base,
		       KmtTopPrecision precision)
{
	if (!(rate > 0)) /* also NaN */
		g_strlcpy(text, "0", KMT_TOP_FIGURE_SIZE);
	else if (rate < 9.95)
		g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%.1f", rate);
	else if (precision == KMT_TOP_EXACT || rate < MAX_SHORT + 0.5)
		g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%.0f", MIN(rate, 1e20));
	else
		print_short(text, MIN(rate, 1e20), base);
}

void kmt_top_rate_text(char *text, double rate, KmtTopPrecision precision)
{
	print_rate(text, rate, 1000, precision);
}

void kmt_top_byte_rate_text(char *text, double rate, KmtTopPrecision precision)
{
	print_rate(text, rate, 1024, precision);
}

void kmt_top_duration_text(char *text, guint64 ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1, "ns"},	 {1e3, "us"},	{1e6, "ms"},
		     {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}};
	gsize unit = 0;

	while (unit + 1 < G_N_ELEMENTS(units) &&
	       (double)ns >= units[unit + 1].ns)
		unit++;
	if (unit == 0 || ns == 0)
		g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%" G_GUINT64_FORMAT "ns",
			   ns);
	else
		print_scaled(text, (double)ns / units[unit].ns,
			     units[unit].name);
}

void kmt_top_clock_text(char *text, double seconds)
{
	guint64 s = seconds > 0 && seconds < 1e18 ? (guint64)seconds : 0;

	g_snprintf(text, KMT_TOP_FIGURE_SIZE, "%" G_GUINT64_FORMAT ":%02u:%02u",
		   s / 3600, (guint)(s / 60 % 60), (guint)(s % 60));
}
