/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of annotations of a report with phases: --marks. */
#ifndef KMEMTRACE_REPORT_MARK_LIST_H
#define KMEMTRACE_REPORT_MARK_LIST_H

#include "lib/cli/json-writer.h"
#include "report/report.h"

/* Return whether a mark is between START and STOP, both included. If START is
 * 0, marks before the first record are included, too. */
gboolean kmt_mark_list_has(const KmtReport *report, const KmtInputMark *mark);
/* Return the number of the CPU that recorded a mark. */
guint kmt_mark_list_cpu(const KmtReport *report, const KmtInputMark *mark);
/* Return the name that the task of a mark had at its time, or NULL if the name
 * is unknown. The report owns the string. */
const char *kmt_mark_list_comm(const KmtReport *report,
			       const KmtInputMark *mark);

/* Print the section of the marks within the span. */
void kmt_text_mark_list(const KmtReport *report, FILE *out);
/* Add the marks within the span as member "marks". */
void kmt_json_marks(KmtJson *json, const KmtReport *report);

#endif
