// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes the events of the detailed statistics to the history of the HTML
 * report, and computes from it the growth that shows leaks. */
#include "config.h"

#include "report/detailed-private.h"
#include "report/leaks.h"

/* Windows of the growth; equal to those of --leaks without --windows. */
#define GROWTH_WINDOWS 10

static KmtHistoryEvent event_of(const KmtAccounting *accounting,
				const KmtClassStats *stats)
{
	const KmtClassInfo *info = kmt_accounting_info(accounting, stats);

	return (KmtHistoryEvent){
		.class_id = kmt_accounting_class_id(accounting, stats),
		.group = info->group,
		.kind = info->kind,
		.epoch = accounting->kinds[info->kind].epoch,
		.bytes_req = kmt_accounting_bytes_req(accounting, stats),
		.bytes_alloc = stats->bytes_alloc,
		.inside = accounting->inside,
	};
}

gboolean kmt_detailed_history_enter(KmtAccounting *accounting,
				    const KmtClassStats *stats)
{
	const KmtHistoryEvent event = event_of(accounting, stats);

	kmt_history_enter(accounting->aggregate->history, &event);
	return kmt_history_is_full(accounting->aggregate->history);
}

void kmt_detailed_history_add(KmtAccounting *accounting,
			      const KmtClassStats *stats)
{
	const KmtHistoryEvent event = event_of(accounting, stats);

	kmt_history_add(accounting->aggregate->history, &event,
			stats->records[1], stats->records[0]);
}

void kmt_detailed_history_alloc(KmtAccounting *accounting,
				const KmtClassStats *stats)
{
	const KmtHistoryEvent event = event_of(accounting, stats);

	kmt_history_alloc(accounting->aggregate->history, &event);
}

void kmt_detailed_history_close(KmtAccounting *accounting,
				const KmtClassStats *stats)
{
	const KmtHistoryEvent event = event_of(accounting, stats);

	kmt_history_close(accounting->aggregate->history, &event);
}

void kmt_detailed_history_defer(KmtAccounting *accounting,
				const KmtClassStats *stats, gboolean begins)
{
	const KmtHistoryEvent event = event_of(accounting, stats);

	kmt_history_defer(accounting->aggregate->history, &event, begins);
}

/*
 * Compute the growth of a group in GROWTH_WINDOWS parts of the @n windows. The
 * ends of the parts are ends of windows.
 */
static KmtGrowth growth_of(const KmtSeries *series, guint n)
{
	KmtGrowth growth = {.n_windows = MIN(n, GROWTH_WINDOWS)};
	guint i;

	for (i = 0; i < growth.n_windows; i++) {
		guint end = n * (i + 1) / growth.n_windows - 1;
		guint64 in_use = kmt_series_in_use(series, end);

		if (!i)
			growth.first = in_use;
		else
			growth.grown += in_use > growth.last;
		growth.last = in_use;
	}
	return growth;
}

void kmt_detailed_finish_history(KmtAccounting *accounting)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtHistory *history = aggregate->history;
	guint64 epochs[KMT_N_KINDS];
	guint32 i;

	for (i = 0; i < KMT_N_KINDS; i++)
		epochs[i] = accounting->kinds[i].epoch;
	kmt_history_free_records(history, accounting->free_records);
	kmt_history_finish(history, epochs);
	for (i = 0; i < aggregate->groups->n_groups; i++) {
		const KmtSeries *series = kmt_history_series(history, i);

		if (series)
			kmt_groups_detail(aggregate->groups, i)->growth =
				growth_of(series, history->timeline.window + 1);
	}
}
