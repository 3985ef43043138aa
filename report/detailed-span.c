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

static void begin_window(KmtAccounting *accounting, gint64 start)
{
	guint i;

	accounting->window_end = end_of_window(accounting, accounting->window);
	accounting->aggregate->windows[accounting->window].start =
		(guint64)start - (guint64)accounting->origin;
	for (i = 0; i < KMT_N_KINDS; i++) {
		kmt_counters_restart(&accounting->window_kinds[i], start);
		accounting->window_frees[i] = 0;
	}
}

/*
 * Compute the totals of all kinds. If @frees is not NULL, the totals count all
 * FREE records, which are in @frees by kind, instead of the matched frees.
 */
static void compute_kind_totals(KmtAccounting *accounting,
				KmtTotals totals[KMT_N_KINDS],
				const KmtCounters counters[KMT_N_KINDS],
				const guint64 *frees)
{
	KmtTotals *slab = &totals[KMT_KIND_SLAB];
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		totals[i] = kmt_counters_totals(&counters[i]);
		if (frees)
			totals[i].frees = frees[i];
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
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++)
		aggregate->windows[accounting->window].deferred[i] =
			aggregate->deferred[i].bytes;
	compute_kind_totals(
		accounting,
		accounting->aggregate->windows[accounting->window].kinds,
		accounting->window_kinds,
		accounting->counts_all ? accounting->window_frees : NULL);
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

	if (accounting->inside && now > timeline->end)
		kmt_timeline_advance(timeline, now);
	accounting->window_end = timeline->end;
}

void kmt_detailed_advance(KmtAccounting *accounting, gint64 now)
{
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

/* Return the live bytes of a group that are not deferred. */
static guint64 bytes_in_use(const KmtGroups *groups, guint32 group)
{
	const KmtDeferred *deferred = kmt_groups_deferred(groups, group);

	return kmt_counters_live(kmt_groups_counters(groups, group)) -
	       (deferred ? deferred->bytes : 0);
}

/*
 * Count the windows before window @n that are not counted yet. The group had
 * @live bytes in use at the end of each of these windows. This function runs at
 * the next event of the group or at the end, so a window without an event of
 * the group costs nothing.
 */
static void update_growth(KmtGrowth *growth, guint64 live, guint n)
{
	if (!growth->n_windows)
		growth->first = live;
	else
		growth->grown += live > growth->last;
	growth->last = live;
	growth->n_windows = n;
}

void kmt_detailed_enter_window(KmtAccounting *accounting, KmtClassStats *stats)
{
	KmtGrowth *growth;

	if (accounting->basic)
		return;
	stats->detailed.window = accounting->window;
	if (!accounting->options->lifetimes)
		return;
	growth = &kmt_groups_detail(accounting->aggregate->groups, stats->group)
			  ->growth;
	if (growth->n_windows != accounting->window)
		update_growth(growth,
			      bytes_in_use(accounting->aggregate->groups,
					   stats->group),
			      accounting->window);
}

void kmt_detailed_finish_windows(KmtAccounting *accounting)
{
	KmtGroups *groups = accounting->aggregate->groups;
	guint n = accounting->options->span.windows;
	guint32 i;

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
	for (i = 0; n && accounting->options->lifetimes && i < groups->n_groups;
	     i++)
		update_growth(&kmt_groups_detail(groups, i)->growth,
			      bytes_in_use(groups, i), n);
}

void kmt_detailed_kinds(KmtAccounting *accounting)
{
	compute_kind_totals(
		accounting, accounting->aggregate->kinds, accounting->kinds,
		accounting->counts_all ? accounting->free_records : NULL);
}
