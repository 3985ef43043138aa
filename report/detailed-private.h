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

/*
 * Functions of detailed-deferred.c, which account for deferred objects: an
 * object of a class becomes deferred; a deferred object is closed; an object
 * that was deferred at time since is freed at time now; an object is deferred
 * at the end. Times are merged times in ns.
 */
void kmt_detailed_defer(KmtAccounting *accounting, KmtClassStats *stats);
void kmt_detailed_close_deferred(KmtAccounting *accounting,
				 KmtClassStats *stats);
void kmt_detailed_free_deferred(KmtAccounting *accounting,
				const KmtClassStats *stats, gint64 since,
				gint64 now);
void kmt_detailed_deferred_at_end(KmtAccounting *accounting,
				  KmtClassStats *stats, gint64 since,
				  gint64 end);

/* Complete all windows, including those that begin after the last record. */
void kmt_detailed_finish_windows(KmtAccounting *accounting);

#endif
