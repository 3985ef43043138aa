/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of a CSV record, as RFC 4180 specifies them. */
#ifndef KMEMTRACE_REPORT_CSV_FIELDS_H
#define KMEMTRACE_REPORT_CSV_FIELDS_H

#include "report/field.h"

#include <stdio.h>

/* Print a text, quoted if necessary. */
void kmt_csv_text(FILE *out, const char *text);

/* Print a number with enough digits to read the same value back. A number that
 * is not finite is an empty field. */
void kmt_csv_real(FILE *out, double value);

/* Print times as integers in ns and ratios from 0 to 1. An unknown figure is an
 * empty field. */
void kmt_csv_figure(FILE *out, const KmtFigure *figure);

#endif
