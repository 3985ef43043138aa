/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the detailed-*.c files share. */
#ifndef KMEMTRACE_REPORT_DETAILED_PRIVATE_H
#define KMEMTRACE_REPORT_DETAILED_PRIVATE_H

#include "report/accounting.h"

/* Return the call site and kind of the allocations of a class. */
KmtFindingSite kmt_detailed_site(const KmtAccounting *accounting,
				 guint32 class_id);

/*
 * Count the finding of a slow-path event. Findings of records after the span
 * are ignored, because the records that would decide them are not read.
 */
void kmt_detailed_count_finding(KmtAccounting *accounting,
				const KmtMatchSlowEvent *slow_event);

/*
 * Update the windows of a class and its group at the first event of the class
 * in the current window.
 */
void kmt_detailed_enter_window(KmtAccounting *accounting, KmtClassStats *stats);

/* Complete all windows, including those that begin after the last record. */
void kmt_detailed_finish_windows(KmtAccounting *accounting);

#endif
