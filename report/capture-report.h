/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a capture and computes the figures that the options of
 * kmemtrace-report select. The caller prints or compares the figures.
 */
#ifndef KMEMTRACE_REPORT_CAPTURE_REPORT_H
#define KMEMTRACE_REPORT_CAPTURE_REPORT_H

#include "report/report-options.h"

/*
 * A capture and its figures. The next read replaces the pointers. @plan.report
 * points to the same objects.
 */
typedef struct {
	const KmtOptions *options; /* not owned */
	/* The next capture belongs to the base side of a comparison, which may
	 * have debug information and sources of its own. */
	gboolean is_base;
	KmtPlan plan;
	KmtInputCapture *capture;
	KmtSymbolizer *symbolizer;
	KmtAggregate *aggregate;
	KmtAdviceList *advice; /* NULL: not requested */
	GPtrArray *warnings;   /* char * */
} KmtCaptureReport;

/*
 * Make the plan of @options, which must outlive the report. Return NULL if an
 * option is invalid, or if the list of wrapper functions cannot be read. The
 * caller frees the report.
 */
KmtCaptureReport *kmt_capture_report_new(const KmtOptions *options,
					 GError **error);
void kmt_capture_report_free(KmtCaptureReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtCaptureReport, kmt_capture_report_free)

/*
 * Read the capture that @operands names, instead of options->operands. A report
 * can read several captures one after the other; a call first frees the data of
 * the previous capture. @program is a static string that begins the line of the
 * progress on stderr, or NULL for no such line. Return FALSE if the capture
 * cannot be read, has no usable record, or does not fit the options. The report
 * then has no figures.
 */
gboolean kmt_capture_report_read(KmtCaptureReport *report,
				 const char *const *operands,
				 const char *program, GError **error);

#endif
