/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the report as text share.  Internal to report/. */
#ifndef KMEMTRACE_REPORT_TEXT_H
#define KMEMTRACE_REPORT_TEXT_H

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

/* text-groups.c: the table of groups. */
void kmt_text_groups(const KmtReport *report, FILE *out);
/* text-asked.c: what has an option of its own. */
void kmt_text_asked(const KmtReport *report, FILE *out);

#endif
