/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The advice in the output formats of the report. */
#ifndef KMEMTRACE_REPORT_ADVICE_OUTPUT_H
#define KMEMTRACE_REPORT_ADVICE_OUTPUT_H

#include "lib/cli/json-writer.h"
#include "report/advice.h"

/* Print the section of report->advice, with at most max_lines findings. */
void kmt_advice_text(const KmtReport *report, FILE *out);
/* Add the member "advice". */
void kmt_advice_json(KmtJson *json, const KmtReport *report);

#endif
