// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/history-series.h"

static void set_end(KmtTimeline *timeline)
{
	guint64 length = (guint64)timeline->window + 1;
	guint64 end =
		(guint64)timeline->start + (length << timeline->shift) - 1;

	/* The end of the last window may be beyond the largest time. */
	timeline->end =
		(gint64)end < timeline->start ? G_MAXINT64 : (gint64)end;
}

void kmt_timeline_begin(KmtTimeline *timeline, gint64 start)
{
	*timeline = (KmtTimeline){.has_begun = TRUE, .start = start};
	set_end(timeline);
}

void kmt_timeline_advance(KmtTimeline *timeline, gint64 now)
{
	guint64 since = (guint64)now - (guint64)timeline->start;

	while (since >> timeline->shift >= KMT_HISTORY_MAX_WINDOWS)
		timeline->shift++;
	timeline->window = (guint)(since >> timeline->shift);
	set_end(timeline);
}

void kmt_timeline_double(KmtTimeline *timeline)
{
	timeline->shift++;
	timeline->window /= 2;
	set_end(timeline);
}

void kmt_series_clear(KmtSeries *series)
{
	g_free(series->entries);
	*series = (KmtSeries){0};
}

/* Add the events of @other, and take its state, which is later. */
static void add_later(KmtSeriesEntry *entry, const KmtSeriesEntry *other)
{
	entry->live = other->live;
	entry->deferred = other->deferred;
	entry->allocs += other->allocs;
	entry->frees += other->frees;
	entry->bytes_req += other->bytes_req;
	entry->bytes_alloc += other->bytes_alloc;
}

void kmt_series_fold(KmtSeries *series, const KmtTimeline *timeline)
{
	guint by = timeline->shift - series->shift, i, n = 0;

	series->shift = (guint8)timeline->shift;
	if (!by)
		return;
	for (i = 0; i < series->n; i++) {
		KmtSeriesEntry entry = series->entries[i];

		entry.window >>= MIN(by, 31);
		if (n && series->entries[n - 1].window == entry.window)
			add_later(&series->entries[n - 1], &entry);
		else
			series->entries[n++] = entry;
	}
	series->n = (guint16)n;
}

/* Append @entry, with the state of the series. */
static KmtSeriesEntry *append(KmtSeries *series, const KmtSeriesEntry *entry)
{
	if (series->n == series->capacity) {
		series->capacity = MAX(1, series->capacity * 2);
		series->entries = g_renew(KmtSeriesEntry, series->entries,
					  series->capacity);
	}
	series->entries[series->n] = *entry;
	return &series->entries[series->n++];
}

KmtSeriesEntry *kmt_series_append(KmtSeries *series,
				  const KmtTimeline *timeline)
{
	const KmtSeriesEntry entry = {.live = series->live,
				      .deferred = series->deferred,
				      .window = timeline->window};

	if (!series->n) {
		series->first_live = series->live;
		series->first_deferred = series->deferred;
	}
	kmt_series_fold(series, timeline);
	if (series->n &&
	    series->entries[series->n - 1].window == timeline->window)
		return &series->entries[series->n - 1];
	return append(series, &entry);
}

/* A position in a series: the state before the entry with index @next. */
typedef struct {
	const KmtSeries *series;
	guint next;
	guint64 live, deferred;
} Cursor;

/* Return the position before the first entry. */
static Cursor cursor_at_start(const KmtSeries *series)
{
	if (!series->n)
		return (Cursor){series, 0, series->live, series->deferred};
	return (Cursor){series, 0, series->first_live, series->first_deferred};
}

/* Return the window of the next entry, or G_MAXUINT32. */
static guint32 next_window(const Cursor *cursor)
{
	return cursor->next < cursor->series->n
		       ? cursor->series->entries[cursor->next].window
		       : G_MAXUINT32;
}

/* Add the entry of @window, if there is one, or else the state. */
static void take(Cursor *cursor, guint32 window, KmtSeriesEntry *sum)
{
	if (next_window(cursor) == window) {
		const KmtSeriesEntry *e =
			&cursor->series->entries[cursor->next++];

		cursor->live = e->live;
		cursor->deferred = e->deferred;
		sum->allocs += e->allocs;
		sum->frees += e->frees;
		sum->bytes_req += e->bytes_req;
		sum->bytes_alloc += e->bytes_alloc;
	}
	sum->live += cursor->live;
	sum->deferred += cursor->deferred;
}

void kmt_series_add(KmtSeries *sum, KmtSeries *other,
		    const KmtTimeline *timeline)
{
	Cursor a = cursor_at_start(sum), b = cursor_at_start(other);
	KmtSeries result = {.live = sum->live + other->live,
			    .deferred = sum->deferred + other->deferred,
			    .first_live = a.live + b.live,
			    .first_deferred = a.deferred + b.deferred,
			    .shift = (guint8)timeline->shift,
			    .kind = sum->kind};
	guint32 window;

	kmt_series_fold(sum, timeline);
	kmt_series_fold(other, timeline);
	while ((window = MIN(next_window(&a), next_window(&b))) !=
	       G_MAXUINT32) {
		KmtSeriesEntry entry = {.window = window};

		take(&a, window, &entry);
		take(&b, window, &entry);
		append(&result, &entry);
	}
	g_free(sum->entries);
	*sum = result;
}

guint64 kmt_series_in_use(const KmtSeries *series, guint window)
{
	Cursor start = cursor_at_start(series);
	guint i = series->n;

	while (i && series->entries[i - 1].window > window)
		i--;
	return i ? series->entries[i - 1].live - series->entries[i - 1].deferred
		 : start.live - start.deferred;
}
