/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --marks: the list of annotations of a report with phases. */
#ifndef KMEMTRACE_REPORT_MARK_LIST_H
#define KMEMTRACE_REPORT_MARK_LIST_H

#include "lib/cli/json-writer.h"
#include "report/report.h"

/* Print the section of the marks within the span. */
void kmt_text_mark_list(const KmtReport *report, FILE *out);
/* Add the marks within the span as member "marks". */
void kmt_json_marks(KmtJson *json, const KmtReport *report);

#endif
