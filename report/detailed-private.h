/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the detailed-*.c files share. */
#ifndef KMEMTRACE_REPORT_DETAILED_PRIVATE_H
#define KMEMTRACE_REPORT_DETAILED_PRIVATE_H

#include "report/accounting.h"

/* Return the call site and kind of the allocations of a class. */
KmtFindingSite kmt_detailed_site(const KmtAccounting *accounting,
				 guint32 class_id);

/*
 * Count the finding of a slow event, if the event is one. Findings of records
 * after the span are ignored, because the records that would decide them are
 * not read.
 */
void kmt_detailed_count_finding(KmtAccounting *accounting,
				const KmtMatchSlowEvent *slow_event);

/*
 * At the first event of a class in the current window: count the earlier
 * windows in the growth of the group of the class. Without windows or details,
 * and in basic statistics, the growth is not counted.
 */
void kmt_detailed_enter_window(KmtAccounting *accounting, KmtClassStats *stats);

/* ---- report/detailed-deferred.c; times are merged times in ns ---- */

/* Account for an object of a class that becomes deferred. */
void kmt_detailed_defer(KmtAccounting *accounting, KmtClassStats *stats);
/* Account for a deferred object that is freed or replaced. */
void kmt_detailed_close_deferred(KmtAccounting *accounting,
				 KmtClassStats *stats);
/* Account for the free, at time now, of an object deferred at time since. */
void kmt_detailed_free_deferred(KmtAccounting *accounting,
				const KmtClassStats *stats, gint64 since,
				gint64 now);
/* Account for an object deferred at time since and not freed at time end. */
void kmt_detailed_deferred_at_end(KmtAccounting *accounting,
				  KmtClassStats *stats, gint64 since,
				  gint64 end);

/* ---- report/detailed-history.c; aggregate->history must exist ---- */

/* Account for an allocation of a class, for an object of it that is no longer
 * live, and for one whose free is deferred from now on or no longer. Call each
 * function before the figures of the kind change. */
void kmt_detailed_history_alloc(KmtAccounting *accounting,
				const KmtClassStats *stats);
void kmt_detailed_history_close(KmtAccounting *accounting,
				const KmtClassStats *stats);
void kmt_detailed_history_defer(KmtAccounting *accounting,
				const KmtClassStats *stats, gboolean begins);
/* Complete the history and the growth of the groups after the last record. */
void kmt_detailed_finish_history(KmtAccounting *accounting);

/* ---- report/detailed-span.c ---- */

/* Complete all windows, including those that begin after the last record. */
void kmt_detailed_finish_windows(KmtAccounting *accounting);

#endif
