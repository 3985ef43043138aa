/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the sections of the text report share. Private to report/. */
#ifndef KMEMTRACE_REPORT_REPORT_TEXT_H
#define KMEMTRACE_REPORT_REPORT_TEXT_H

#include "report/columns.h"
#include "report/report.h"

/* Fill a cell with the name of a call site. */
void kmt_text_add_site(const KmtReport *report, KmtColumns *columns,
		       const KmtSymSite *site);
/* Fill a cell with the number of omitted lines: "(5 more call sites)". */
void kmt_text_add_rest(const KmtReport *report, KmtColumns *columns,
		       const char *one, const char *many, guint64 n_rest);
/* Print the title of a section after an empty line. */
void kmt_text_print_title(FILE *out, const char *title);
/* Return "*" if the capture is a sample of the allocations, else "". */
const char *kmt_text_scale_mark(const KmtReport *report);
/*
 * Fill a cell with the heading of a column that is an estimate if the capture
 * is a sample.
 */
void kmt_text_add_head(const KmtReport *report, KmtColumns *columns,
		       const char *head);
/* Fill the lines of a table that has a column for each of the @n kinds. */
typedef void (*KmtTextFill)(const KmtReport *report, KmtColumns *columns,
			    const KmtKind *kinds, guint n);
/*
 * Print a table after an empty line. The first line has the title and the names
 * of the kinds; @fill fills all further lines.
 */
void kmt_text_print_kinds(const KmtReport *report, const char *title,
			  const KmtKind *kinds, guint n, KmtTextFill fill,
			  FILE *out);
/* Print the meaning of the marks "~" and "*" below a table, of each only if the
 * report can have it. */
void kmt_text_print_legend(const KmtReport *report, FILE *out);

/* Print a number with the separators of the report. */
void kmt_text_print_number(const KmtReport *report, FILE *out, guint64 number);

/* Print one section of the report. */
void kmt_text_capture(const KmtReport *report, FILE *out);
void kmt_text_deferred(const KmtReport *report, FILE *out);
void kmt_text_groups(const KmtReport *report, FILE *out);
void kmt_text_cross_cpu_groups(const KmtReport *report, FILE *out);
void kmt_text_cross_cpu_pairs(const KmtReport *report, FILE *out);
void kmt_text_findings(const KmtReport *report, FILE *out);
/* Print the sections that an option selects. */
void kmt_text_detailed(const KmtReport *report, FILE *out);

#endif
