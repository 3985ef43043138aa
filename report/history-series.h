/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Figures by window of time, for a capture whose length is unknown until its
 * last record. The windows begin with a width of 1 ns. When a record comes
 * after window KMT_HISTORY_MAX_WINDOWS, the width doubles and each pair of
 * windows becomes one. The number of windows is therefore more than half of
 * the maximum, unless the capture is shorter than that many ns.
 */
#ifndef KMEMTRACE_REPORT_HISTORY_SERIES_H
#define KMEMTRACE_REPORT_HISTORY_SERIES_H

#include <glib.h>

#define KMT_HISTORY_MAX_WINDOWS 240

/* The windows. All times are merged times in ns. */
typedef struct {
	gboolean has_begun; /* FALSE: there is no window */
	gint64 start;	    /* first moment of window 0 */
	guint shift;	    /* log2 of the width in ns */
	guint window;	    /* index of the current window */
	gint64 end;	    /* last moment of the current window */
} KmtTimeline;

/* Begin window 0 at @start. */
void kmt_timeline_begin(KmtTimeline *timeline, gint64 start);
/* Make the window of @now the current one. @now is not before the current
 * window. */
void kmt_timeline_advance(KmtTimeline *timeline, gint64 now);

/* Double the width of the windows. */
void kmt_timeline_double(KmtTimeline *timeline);

/* The figures of one window with an event. */
typedef struct {
	guint64 live;	  /* allocated bytes of the live objects at its end */
	guint64 deferred; /* bytes of these that wait for a grace period */
	guint64 allocs;
	guint64 frees;
	guint64 bytes_req;
	guint64 bytes_alloc;
	guint32 window;
} KmtSeriesEntry;

/* The figures of a group or a kind. An all-zero series is empty. */
typedef struct {
	KmtSeriesEntry *entries; /* ascending by window */
	guint16 n, capacity;
	guint8 shift;	    /* KmtTimeline.shift that the windows refer to */
	guint8 kind;	    /* KmtKind */
	guint64 live;	    /* now */
	guint64 deferred;   /* now */
	guint64 first_live; /* live and deferred before the first entry */
	guint64 first_deferred;
} KmtSeries;

/* Free the entries and make the series empty. */
void kmt_series_clear(KmtSeries *series);

/* Refer the entries of a series to the width of the timeline. */
void kmt_series_fold(KmtSeries *series, const KmtTimeline *timeline);

/*
 * Append an entry for the current window, unless the last entry is that of the
 * current window. Return the last entry. Private to kmt_series_entry().
 */
KmtSeriesEntry *kmt_series_append(KmtSeries *series,
				  const KmtTimeline *timeline);

/* Return the entry of the current window. Valid until the next call. */
static inline KmtSeriesEntry *kmt_series_entry(KmtSeries *series,
					       const KmtTimeline *timeline)
{
	if (G_LIKELY(series->n && series->shift == timeline->shift &&
		     series->entries[series->n - 1].window == timeline->window))
		return &series->entries[series->n - 1];
	return kmt_series_append(series, timeline);
}

/*
 * Add @other to @sum. Both are referred to the width of the timeline. The live
 * bytes in windows without an entry are those of the entry before.
 */
void kmt_series_add(KmtSeries *sum, KmtSeries *other,
		    const KmtTimeline *timeline);

/* Return the bytes in use, live and not deferred, at the end of @window. */
guint64 kmt_series_in_use(const KmtSeries *series, guint window);

#endif
