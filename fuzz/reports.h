/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of the capture in kmt_scratch_directory() by a command line: what is
 * printed does not depend on the number of jobs, is UTF-8, and JSON where it
 * was asked for; without a filter each usable record is in the figures.
 */
#ifndef KMEMTRACE_FUZZ_REPORTS_H
#define KMEMTRACE_FUZZ_REPORTS_H

#include "report/report-options.h"

typedef struct {
	KmtOptions options;
	KmtPlan plan;
} KmtReports;

/* Parse a NULL-terminated command line into *reports, which is all 0.  FALSE:
 * the program refuses it, or it takes too long. */
gboolean kmt_reports_parse(char **words, KmtReports *reports);

/* Print the report with different numbers of jobs, and compare the outputs. */
void kmt_reports_run(KmtReports *reports);
void kmt_reports_clear(KmtReports *reports);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtReports, kmt_reports_clear)

#endif
