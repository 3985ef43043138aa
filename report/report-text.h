/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the report as text share.  Internal to report/. */
#ifndef KMEMTRACE_REPORT_REPORT_TEXT_H
#define KMEMTRACE_REPORT_REPORT_TEXT_H

#include "report/columns.h"
#include "report/report.h"

/* Fills a cell with a call site. */
void kmt_text_site(const KmtReport *report, KmtColumns *columns,
		   guint64 address);
/* Fills a cell with "(5 more call sites)". */
void kmt_text_rest(const KmtReport *report, KmtColumns *columns,
		   const char *one, const char *many, guint64 n_rest);
/* "\nTITLE" */
void kmt_text_title(FILE *out, const char *title);
/* "*" for what is scaled, else "". */
const char *kmt_text_scaled(const KmtReport *report);
/* Fills a cell with the head of a column that is scaled. */
void kmt_text_head(const KmtReport *report, KmtColumns *columns,
		   const char *head);
/* What the marks behind a table mean. */
void kmt_text_marks(const KmtReport *report, FILE *out);

/* Print a number with the report's separators. */
void kmt_text_number(const KmtReport *report, FILE *out, guint64 number);

/* The parts of the report, each in the file of its name. */
void kmt_text_capture(const KmtReport *report, FILE *out);
void kmt_text_groups(const KmtReport *report, FILE *out);
void kmt_text_cross_cpu_groups(const KmtReport *report, FILE *out);
void kmt_text_cross_cpu_pairs(const KmtReport *report, FILE *out);
void kmt_text_findings(const KmtReport *report, FILE *out);
/* Sections that an option selects. */
void kmt_text_detailed(const KmtReport *report, FILE *out);

#endif
