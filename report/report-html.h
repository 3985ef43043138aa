/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_REPORT_REPORT_HTML_H
#define KMEMTRACE_REPORT_REPORT_HTML_H

#include "report/diff.h"
#include "report/html-template.h"

/*
 * Print the report as one HTML page of at most 5 MB to @out. The aggregate must
 * have a history and details. @diff is a comparison of call sites in the fields
 * of kmt_html_comparison_fields() that the page also shows, or NULL. The caller
 * checks ferror(out).
 */
void kmt_report_html(const KmtReport *report, const KmtDiff *diff,
		     const KmtHtmlTemplate *template, FILE *out);

/* Return the fields of the comparison in a page, as the option --fields names
 * them. The caller frees the string. */
char *kmt_html_comparison_fields(void);

#endif
