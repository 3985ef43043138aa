/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef KMEMTRACE_REPORT_REPORT_HTML_H
#define KMEMTRACE_REPORT_REPORT_HTML_H

#include "report/html-template.h"
#include "report/report.h"

/*
 * Print the report as one HTML page of at most 5 MB to @out. The aggregate must
 * have a history and details. The caller checks ferror(out).
 */
void kmt_report_html(const KmtReport *report, const KmtHtmlTemplate *template,
		     FILE *out);

#endif
