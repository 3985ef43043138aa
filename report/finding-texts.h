/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of the findings, which all readable formats of the report share. */
#ifndef KMEMTRACE_REPORT_FINDING_TEXTS_H
#define KMEMTRACE_REPORT_FINDING_TEXTS_H

#include "report/report.h"

/* The number of findings of one sort. */
typedef struct {
	guint64 count;
	const char *label;
	const char *meaning; /* what the finding is, or what explains it */
	gboolean is_defect;  /* neither lost events nor the start of the trace
			      * explain it */
} KmtFindingLine;

/* Return the lines of all sorts that the capture can have (KmtFindingLine). The
 * caller owns the array. */
GArray *kmt_finding_lines(const KmtReport *report);

/* The texts of the findings of a class that name call sites. */
typedef struct {
	KmtFindingClass class;
	const char *title;
	const char *count;  /* what the number of a line counts */
	const char *first;  /* what the first call site did */
	const char *second; /* NULL: the finding names one call site */
} KmtFindingText;

#define KMT_N_FINDING_TEXTS 5
extern const KmtFindingText kmt_finding_texts[KMT_N_FINDING_TEXTS];

#endif
