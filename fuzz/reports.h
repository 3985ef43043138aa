/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Print reports of the capture in kmt_scratch_directory(), and check their
 * form. The output must not depend on the number of jobs, must be UTF-8, and
 * must be JSON with --json. Unless there is a filter, a time range or a
 * sample, each usable record must be counted. With --diff, the capture is
 * compared with itself, and no figure of a line in both sides may differ.
 */
#ifndef KMEMTRACE_FUZZ_REPORTS_H
#define KMEMTRACE_FUZZ_REPORTS_H

#include "report/capture-report.h"

typedef struct {
	KmtOptions options;
	KmtCaptureReport *report; /* NULL: the command line is rejected */
} KmtReports;

/* Parse a NULL-terminated command line into *reports, which must be zeroed.
 * Return FALSE if the program rejects the command line, or if the report would
 * take too long. The caller clears *reports in either case. */
gboolean kmt_reports_parse(char **words, KmtReports *reports);

/* Print the report with 1 job and with 3 jobs, and compare the outputs. */
void kmt_reports_run(KmtReports *reports);
void kmt_reports_clear(KmtReports *reports);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KmtReports, kmt_reports_clear)

#endif
