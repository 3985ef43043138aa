// SPDX-License-Identifier: GPL-2.0-or-later
/* Begins the span, and begins and ends the windows, of the detailed statistics.
 */
#include "config.h"

#include "report/detailed-private.h"

static gint64 end_of_window(const KmtAccounting *accounting, guint window)
{
	const KmtSpan *span = &accounting->options->span;
	guint64 start =
		(guint64)accounting->start - (guint64)accounting->origin;
	guint64 length = MAX(span->windows_stop, start) - start;
	guint n = span->windows;

	if (window + 1 == n)
		return accounting->stop;
	return (gint64)((guint64)accounting->start + length / n * (window + 1) +
			length % n * (window + 1) / n);
}

/* Return the totals of a kind, other than slab, since the begin of the span.
 * Without a filter, they count all FREE records instead of the matched frees.
 */
static KmtTotals kind_totals(const KmtAccounting *accounting, guint kind)
{
	KmtTotals totals = kmt_counters_totals(&accounting->kinds[kind]);

	if (accounting->counts_all)
		totals.frees = accounting->free_records[kind];
	return totals;
}

static void begin_window(KmtAccounting *accounting, gint64 start)
{
	guint i;

	accounting->window_end = end_of_window(accounting, accounting->window);
	accounting->aggregate->windows[accounting->window].start =
		(guint64)start - (guint64)accounting->origin;
	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtCounters *kind = &accounting->kinds[i];
		guint64 live = kmt_counters_live(kind);

		accounting->window_first[i] = kind_totals(accounting, i);
		/* The live bytes at the start are the first peak. */
		kmt_counters_set_peak(kind, live, live ? start : 0);
	}
}

/* Subtract the sums of @first; the live figures and the peak remain. */
static void subtract(KmtTotals *totals, const KmtTotals *first)
{
	totals->allocs -= first->allocs;
	totals->frees -= first->frees;
	totals->bytes_req -= first->bytes_req;
	totals->bytes_alloc -= first->bytes_alloc;
	totals->cross_cpu_frees -= first->cross_cpu_frees;
	totals->remote_node_allocs -= first->remote_node_allocs;
}

/*
 * Compute the totals of all kinds since the sums were those of @first; NULL:
 * since the begin of the span.
 */
static void compute_kind_totals(KmtAccounting *accounting,
				KmtTotals totals[KMT_N_KINDS],
				const KmtTotals *first)
{
	KmtTotals *slab = &totals[KMT_KIND_SLAB];
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		totals[i] = kind_totals(accounting, i);
		if (first)
			subtract(&totals[i], &first[i]);
	}
	/* The counters of the kind slab provide only its peak. Its other totals
	 * are the sums of the kinds kmalloc and cache. */
	*slab = (KmtTotals){.peak_bytes_alloc = slab->peak_bytes_alloc,
			    .peak_timestamp = slab->peak_timestamp};
	accounting->aggregate->overflowed |=
		kmt_totals_add(slab, &totals[KMT_KIND_KMALLOC]) |
		kmt_totals_add(slab, &totals[KMT_KIND_CACHE]);
}

static void end_window(KmtAccounting *accounting)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtWindow *window = &aggregate->windows[accounting->window];
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++)
		window->deferred[i] = aggregate->deferred[i].bytes;
	compute_kind_totals(accounting, window->kinds,
			    accounting->window_first);
	accounting->window++;
}

static void begin_span(KmtAccounting *accounting)
{
	KmtGroups *groups = accounting->aggregate->groups;
	guint32 i;

	accounting->inside = TRUE;
	accounting->aggregate->overflowed = FALSE;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_counters_restart(&accounting->kinds[i], accounting->start);
		/* The live bytes at the start of the span are the first peak.
		 */
		accounting->kinds[i].epoch++;
		accounting->span_peaks[i] =
			(KmtPeak){accounting->kinds[i].peak,
				  accounting->kinds[i].peak_timestamp};
		accounting->free_records[i] = 0;
		kmt_deferred_restart(&accounting->aggregate->deferred[i]);
	}
	for (i = 0; i < groups->n_groups; i++) {
		kmt_counters_restart(kmt_groups_counters(groups, i),
				     accounting->start);
		if (kmt_groups_deferred(groups, i))
			kmt_deferred_restart(kmt_groups_deferred(groups, i));
	}
	accounting->window_end = G_MAXINT64;
	if (accounting->options->span.windows)
		begin_window(accounting, accounting->start);
	if (accounting->aggregate->history) {
		kmt_history_begin(accounting->aggregate->history,
				  accounting->start);
		accounting->window_end =
			accounting->aggregate->history->timeline.end;
	}
}

static void advance_history(KmtAccounting *accounting, gint64 now)
{
	KmtTimeline *timeline = &accounting->aggregate->history->timeline;

	if (accounting->inside && now > timeline->end) {
		kmt_history_free_records(accounting->aggregate->history,
					 accounting->free_records);
		kmt_timeline_advance(timeline, now);
	}
	accounting->window_end = timeline->end;
}

void kmt_detailed_advance(KmtAccounting *accounting, gint64 now)
{
	kmt_detailed_flush(accounting);
	if (!accounting->inside && now >= accounting->start)
		begin_span(accounting);
	if (accounting->aggregate->history)
		advance_history(accounting, now);
	while (accounting->inside &&
	       accounting->window < accounting->options->span.windows &&
	       now > accounting->window_end) {
		gint64 end = accounting->window_end;

		end_window(accounting);
		if (accounting->window < accounting->options->span.windows)
			begin_window(accounting, end);
		else
			accounting->window_end = G_MAXINT64;
	}
}

void kmt_detailed_finish_windows(KmtAccounting *accounting)
{
	KmtGroups *groups = accounting->aggregate->groups;
	guint n = accounting->options->span.windows;
	guint32 i;

	kmt_detailed_flush(accounting);
	/* The history ends with the last record, because its windows are as
	 * wide as the time until now requires. */
	kmt_detailed_at_time(
		accounting, accounting->aggregate->history
				    ? MIN(accounting->stop,
					  accounting->aggregate->last_timestamp)
				    : accounting->stop);
	while (accounting->window < n) {
		gint64 end = accounting->window_end;

		end_window(accounting);
		if (accounting->window < n)
			begin_window(accounting, end);
	}
	accounting->aggregate->n_windows = n;
	for (i = 0; n && i < KMT_N_KINDS; i++)
		kmt_counters_set_peak(&accounting->kinds[i],
				      accounting->span_peaks[i].bytes,
				      accounting->span_peaks[i].time);
	for (i = 0; n && accounting->options->lifetimes && i < groups->n_groups;
	     i++)
		kmt_detailed_grow(groups, i, n);
}

void kmt_detailed_kinds(KmtAccounting *accounting)
{
	compute_kind_totals(accounting, accounting->aggregate->kinds, NULL);
}
