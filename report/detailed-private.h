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

/* Return the time in ns from an allocation to a free, at merged times; 0 if
 * skewed clocks put the free first. */
static inline guint64 kmt_detailed_lifetime(gint64 alloc_time, gint64 now)
{
	return now > alloc_time ? (guint64)now - (guint64)alloc_time : 0;
}

/* Return whether a lifetime filter selects an object with this lifetime or age,
 * in ns. */
static inline gboolean kmt_detailed_has_lifetime(const KmtFilter *filter,
						 guint64 lifetime)
{
	return lifetime >= filter->lifetime_min &&
	       lifetime <= filter->lifetime_max;
}

/* Count the lifetime, in ns, of an object that was freed in the span. */
static inline void kmt_detailed_count_lifetime(const KmtAccounting *accounting,
					       KmtDetail *detail,
					       guint64 lifetime)
{
	kmt_histogram_add(&detail->lifetimes, lifetime, 1);
	detail->short_lived += lifetime < accounting->options->churn_ns;
}

/* Account for a new peak of the counters of a kind. With windows, the new peak
 * is that of the current window, and may be one of the span. */
static inline void kmt_detailed_new_peak(KmtAccounting *accounting,
					 KmtCounters *kind)
{
	KmtPeak *peak = &accounting->span_peaks[kind - accounting->kinds];

	if (accounting->options->span.windows) {
		if (kind->peak <= peak->bytes)
			return;
		*peak = (KmtPeak){kind->peak, kind->peak_timestamp};
	}
	kind->epoch++;
}

/* ---- report/detailed-cross.c; files are indexes in capture->files ---- */

/* Return whether an allocation of a class by the CPU of @file requested memory
 * of another node than that of the CPU. */
gboolean kmt_detailed_is_remote(const KmtAccounting *accounting,
				guint32 class_id, guint16 file);
/* Count the free of an object of a class on another CPU by call sites. */
void kmt_detailed_count_pair(KmtAccounting *accounting,
			     const KmtClassStats *stats, guint64 free_site);

/* Count the free of an object of a class in aggregate->cross, which must exist.
 */
static inline void kmt_detailed_count_cross(KmtAccounting *accounting,
					    const KmtClassStats *stats,
					    guint16 alloc_file,
					    guint16 free_file,
					    guint64 free_site)
{
	KmtAggregate *aggregate = accounting->aggregate;

	if (kmt_cross_cpu_add(
		    aggregate->cross,
		    (KmtKind)kmt_accounting_info(accounting, stats)->kind,
		    alloc_file, free_file, stats->bytes_alloc))
		aggregate->overflowed = TRUE;
	if (alloc_file != free_file)
		kmt_detailed_count_pair(accounting, stats, free_site);
}

/* ---- report/detailed-counts.c ---- */

/*
 * Call this function before each event of a class that changes its live bytes
 * or records: at the first one in the current window, the function counts the
 * earlier windows in the growth of the group of the class, and remembers the
 * class for kmt_detailed_flush(). Basic statistics need no call.
 */
void kmt_detailed_touch(KmtAccounting *accounting, KmtClassStats *stats);
/*
 * Add the records of all classes with an event since the last call to the
 * counters of the groups and kinds, to the history, and to the sizes. Call this
 * function before these sums are read or the window changes.
 */
void kmt_detailed_flush(KmtAccounting *accounting);
/* Count the short allocations of the classes that the filter excludes. Call
 * this function after the last record. */
void kmt_detailed_flush_excluded(KmtAccounting *accounting);
/*
 * Count the windows before window @n that are not counted yet in the growth of
 * a group. The bytes in use are those at the end of each of these windows,
 * because a window without an event of the group costs nothing.
 */
void kmt_detailed_grow(const KmtGroups *groups, guint32 group, guint n);

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

/* Account for the first event of a class in the current window. Return
 * kmt_history_is_full(). */
gboolean kmt_detailed_history_enter(KmtAccounting *accounting,
				    const KmtClassStats *stats);
/* Add the numbers of records of a class to the series of its group. */
void kmt_detailed_history_add(KmtAccounting *accounting,
			      const KmtClassStats *stats);
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
