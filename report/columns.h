/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of text whose columns are as wide as they need to be.  It keeps no
 * more than a line, so that a table of any length takes constant memory: its
 * user fills it twice, once for the widths of the columns and once to be
 * printed.
 */
#ifndef KMEMTRACE_REPORT_COLUMNS_H
#define KMEMTRACE_REPORT_COLUMNS_H

#include "report/field.h"

#include <stdio.h>

typedef struct KmtColumns KmtColumns;

/* align: 'r' or 'l' for each column; separators: 1,234,567 for numbers. */
KmtColumns *kmt_columns_new(const char *align, gboolean separators);
void kmt_columns_free(KmtColumns *columns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtColumns, kmt_columns_free)

/*
 * Whether all cells are to be filled (again): TRUE two times.  What the second
 * pass fills is printed to out, and must be what the first one filled.
 */
gboolean kmt_columns_pass(KmtColumns *columns, FILE *out);

/* Each fills the next cell, line by line. */
void kmt_columns_text(KmtColumns *columns, const char *text);
void kmt_columns_number(KmtColumns *columns, gboolean negative, guint64 number);
void kmt_columns_percent(KmtColumns *columns, double ratio);

/* In text, "-" for none. */
void kmt_columns_figure(KmtColumns *columns, const KmtFigure *figure);

/* A new string; ASCII digits and commas in every locale. */
char *kmt_format_number(guint64 number, gboolean separators);
/* Nanoseconds as seconds with nine decimals. */
char *kmt_format_seconds(gint64 time_ns, gboolean is_short);
/* Likewise; short: with three, and what is below is cut off. */
char *kmt_format_length(guint64 ns, gboolean is_short);
/* How long something took, to three digits: "1.54us", "168ms", "2.1s". */
char *kmt_format_duration(guint64 ns);

#endif
