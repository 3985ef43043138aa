/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A text table with columns as wide as their widest cell. The table stores only
 * one line, so a table of any length takes constant memory. Its user fills it
 * twice: the first pass measures the columns, the second pass prints. The
 * figures that a report shows as columns are defined in field.h.
 */
#ifndef KMEMTRACE_REPORT_COLUMNS_H
#define KMEMTRACE_REPORT_COLUMNS_H

#include "lib/cli/color.h"
#include "report/bar.h"
#include "report/field.h"

#include <stdio.h>

typedef struct KmtColumns KmtColumns;

/*
 * Create a table. @align has 'r' or 'l' for each column. @separators formats
 * numbers as 1,234,567.
 */
KmtColumns *kmt_columns_new(const char *align, gboolean separators);
void kmt_columns_free(KmtColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtColumns, kmt_columns_free)

/*
 * Begin a pass in which the caller fills all cells. Return TRUE twice, then
 * FALSE. The second pass prints to @out and must fill the same cells as the
 * first pass.
 */
gboolean kmt_columns_next_pass(KmtColumns *columns, FILE *out);

/* Fill the next cell. Cells are filled line by line. */
void kmt_columns_add_text(KmtColumns *columns, const char *text);
/* Fill the next cell in a colour, which does not count as width. */
void kmt_columns_add_colored(KmtColumns *columns, KmtColor color,
			     const char *text);
void kmt_columns_add_number(KmtColumns *columns, gboolean negative,
			    guint64 number);
void kmt_columns_add_percent(KmtColumns *columns, double ratio);
/*
 * Fill the next cell with a percentage and a bar, in the colour of shares. The
 * bar is padded, so that the percentages are aligned to the right.
 */
void kmt_columns_add_share(KmtColumns *columns, double ratio,
			   KmtBarStyle style);

/* Fill the next cell with a figure; NONE is "-". */
void kmt_columns_add_figure(KmtColumns *columns, const KmtFigure *figure);

/*
 * Format a number with ASCII digits, independent of the locale; if @separators,
 * with a comma before each group of three digits. The caller frees the string.
 */
char *kmt_format_number(guint64 number, gboolean separators);
/*
 * Format a time in ns as seconds with nine decimals; if @is_short, truncate to
 * three decimals. The caller frees the string.
 */
char *kmt_format_seconds(gint64 time_ns, gboolean is_short);
/*
 * Format a duration in ns as seconds with nine decimals; if @is_short, truncate
 * to three decimals. The caller frees the string.
 */
char *kmt_format_elapsed(guint64 ns, gboolean is_short);
/*
 * Format a duration in ns, rounded to three significant digits, with a unit:
 * "1.54us", "168ms", "2.1s". From 1000 s on, it is rounded to whole seconds.
 * The caller frees the string.
 */
char *kmt_format_duration(guint64 ns);

#endif
