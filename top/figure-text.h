/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short texts of figures for the screen. */
#ifndef KMEMTRACE_TOP_FIGURE_TEXT_H
#define KMEMTRACE_TOP_FIGURE_TEXT_H

#include <glib.h>

/* Longest text of these functions in bytes, with the terminating 0. */
#define KMT_TOP_FIGURE_SIZE 32

/* How numbers are printed. */
typedef enum {
	KMT_TOP_SHORT, /* at most 5 columns, and a sign: 9999, 12.3K, 4.56M */
	KMT_TOP_EXACT  /* all digits */
} KmtTopPrecision;

/*
 * Print a figure to text, which has KMT_TOP_FIGURE_SIZE bytes. The prefixes of
 * bytes are powers of 1024, those of counts powers of 1000. A growth has a sign
 * unless it is 0, other signed bytes only if they are negative. A rate below 10
 * has one decimal, and none is negative.
 */
void kmt_top_bytes_text(char *text, guint64 bytes, KmtTopPrecision precision);
void kmt_top_count_text(char *text, guint64 count, KmtTopPrecision precision);
void kmt_top_signed_bytes_text(char *text, gint64 bytes,
			       KmtTopPrecision precision);
void kmt_top_growth_text(char *text, gint64 bytes, KmtTopPrecision precision);
void kmt_top_rate_text(char *text, double rate, KmtTopPrecision precision);
/* Print a rate of bytes, with the prefixes of bytes. */
void kmt_top_byte_rate_text(char *text, double rate, KmtTopPrecision precision);
/* Print a time in nanoseconds with its unit, such as 12.3us or 4.56h. */
void kmt_top_duration_text(char *text, guint64 ns);
/* Print a number of seconds as hours, minutes, and seconds: 1:02:03. */
void kmt_top_clock_text(char *text, double seconds);

#endif
