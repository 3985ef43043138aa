/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as a timeline, in the JSON trace format of Chrome, which Perfetto
 * opens. */
#ifndef KMEMTRACE_REPORT_REPORT_PERFETTO_H
#define KMEMTRACE_REPORT_REPORT_PERFETTO_H

#include "report/report.h"

/*
 * Print tracks of the live bytes of each kind, the marks, and the losses to
 * @out. The aggregate needs windows, and the report phases. The number of
 * events is bounded; the member "otherData" states what is left out. The caller
 * checks ferror(out).
 */
void kmt_report_perfetto(const KmtReport *report, FILE *out);

#endif
