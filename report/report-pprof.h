/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report as a profile for pprof and other readers of its format. */
#ifndef KMEMTRACE_REPORT_REPORT_PPROF_H
#define KMEMTRACE_REPORT_REPORT_PPROF_H

#include "report/report.h"

/*
 * Return the dimensions of the groups for a capture, in the format of --by. The
 * result is static.
 */
const char *kmt_report_pprof_by(const KmtInputCapture *capture);

/*
 * Print the profile to @out: one sample for each group. A capture with stacks
 * has the call chains of the allocations; one without has the directory of each
 * call site as its caller. The caller checks ferror(out).
 */
void kmt_report_pprof(const KmtReport *report, FILE *out);

#endif
