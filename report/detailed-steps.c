// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accounts for the records that the matcher decided without a slow event, in
 * the detailed statistics. A first pass over the records updates the figures
 * that depend on the order of events, without a branch on the event type, which
 * could not be predicted. A second pass over the frees updates the figures of
 * freed objects.
 */
#include "config.h"

#include "report/detailed-private.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Figures that the options of a run need. With a constant, the compiler removes
 * the tests for the others from the loops, which saves 12 instructions per
 * event of --leaks. */
typedef enum {
	DETAILS = 1 << 0, /* KmtDetail */
	HISTORY = 1 << 1, /* KmtHistory */
	CROSS = 1 << 2,	  /* KmtCrossCpu */
	EXACT = 1 << 3,	  /* live bytes may exceed 2^63 - 1 */
} Features;

/* Return the figures that the options of the run need. */
static guint features_of(const KmtAccounting *accounting)
{
	const KmtAggregateOptions *options = accounting->options;

	return (options->lifetimes ? DETAILS : 0) |
	       (options->history ? HISTORY : 0) | (options->cross ? CROSS : 0);
}

/* Add the start or end of an object to the live bytes of its group and kinds.
 */
static ALWAYS_INLINE void change_live(KmtAccounting *accounting,
				      const KmtClassStats *stats,
				      KmtCounters *kind, gsize is_alloc,
				      gint64 now, guint features)
{
	const gboolean exact = (features & EXACT) != 0;
	const guint64 change = stats->change[is_alloc];
	KmtCounters *parent = kind->parent;

	kmt_counters_save_peak(stats->counters);
	kmt_counters_step(stats->counters, !is_alloc, change, now, exact);
	/* Live bytes include objects from before the span, which the sums
	 * exclude, so the live bytes need their own overflow check. */
	if (exact && is_alloc &&
	    kmt_counters_live(kind) + stats->bytes_alloc < stats->bytes_alloc)
		accounting->live_overflowed = TRUE;
	if (kmt_counters_step(kind, !is_alloc, change, now, exact))
		kmt_detailed_new_peak(accounting, kind);
	if (kmt_counters_step(parent, !is_alloc, change, now, exact))
		kmt_detailed_new_peak(accounting, parent);
}

/* Count an allocation on another node, or a free by another CPU. */
static void count_flag(KmtAccounting *accounting, const KmtClassStats *stats,
		       gsize is_alloc)
{
	kmt_counters_add_flag(stats->counters, is_alloc, 1);
	kmt_counters_add_flag(kmt_accounting_kind(accounting, stats), is_alloc,
			      1);
}

/* Account for a record of a class that is touched. Return whether it frees an
 * object that the filter does not exclude. */
static ALWAYS_INLINE gboolean count_step(KmtAccounting *accounting,
					 KmtClassStats *stats,
					 const KmtMatchEvent *item,
					 guint features)
{
	const KmtClassInfo *info = &accounting->class_infos[item->class_id];
	KmtCounters *kind = &accounting->kinds[info->kind];
	gsize is_alloc = item->op & 1;

	stats->records[is_alloc]++;
	if (G_UNLIKELY(!stats->counters)) {
		if (!is_alloc && accounting->inside)
			accounting->free_records[info->kind]++;
		return FALSE;
	}
	if (G_UNLIKELY(item->flag))
		count_flag(accounting, stats, is_alloc);
	if (features & HISTORY)
		kmt_history_change(&accounting->aggregate->history
					    ->classes[item->class_id],
				   kind->epoch, 2 * (guint64)is_alloc - 1);
	change_live(accounting, stats, kind, is_alloc, item->now, features);
	return !is_alloc;
}

/* Account for the first record of a class since kmt_detailed_flush(). */
static __attribute__((noinline)) gboolean first_step(KmtAccounting *accounting,
						     const KmtMatchEvent *item)
{
	KmtHistory *history = accounting->aggregate->history;
	KmtClassStats *stats = kmt_accounting_class(accounting, item->class_id);
	gboolean is_free;

	kmt_detailed_touch(accounting, stats);
	is_free = count_step(accounting, stats, item,
			     features_of(accounting) | EXACT);
	if (history && kmt_history_is_full(history)) {
		kmt_detailed_flush(accounting);
		kmt_history_limit(history);
	}
	return is_free;
}

/*
 * Account for the order of the records in items. Store pointers to the FREEs of
 * objects that the filter selects in @frees, and return their number.
 */
static ALWAYS_INLINE guint count_order(KmtAccounting *accounting,
				       KmtMatchEvent *const *items, guint n,
				       const KmtMatchEvent **frees,
				       guint features)
{
	guint i, n_frees = 0;

	for (i = 0; i < n; i++) {
		const KmtMatchEvent *item = items[i];
		KmtClassStats *stats;

		frees[n_frees] = item;
		if (G_UNLIKELY(item->op == KMT_MATCH_STEP_NONE)) {
			if (item->event->event_id == KMEMTRACE_EVENT_FREE &&
			    accounting->inside)
				accounting->free_records[item->type]++;
			continue;
		}
		stats = &accounting->class_stats[item->class_id];
		if (G_UNLIKELY(!accounting->class_infos[item->class_id]
					.is_touched))
			n_frees += first_step(accounting, item) != 0;
		else
			n_frees += count_step(accounting, stats, item,
					      features) != 0;
	}
	return n_frees;
}

/* Account for objects that FREE records of the span freed. */
static ALWAYS_INLINE void count_frees(KmtAccounting *accounting,
				      const KmtMatchEvent **frees, guint n,
				      guint features)
{
	guint i;

	for (i = 0; i < n; i++) {
		const KmtMatchEvent *item = frees[i];
		const KmtClassStats *stats =
			&accounting->class_stats[item->class_id];
		const guint32 group =
			accounting->class_infos[item->class_id].group;

		if (features & DETAILS)
			kmt_detailed_count_lifetime(
				accounting,
				accounting->class_details[item->class_id],
				kmt_detailed_lifetime(item->alloc_time,
						      item->now));
		if (features & HISTORY)
			kmt_history_count_free(accounting->aggregate->history,
					       group, item->alloc_file,
					       item->file,
					       item->event->call_site);
		if (features & CROSS)
			kmt_detailed_count_cross(accounting, stats,
						 item->alloc_file, item->file,
						 item->event->call_site);
	}
}

static ALWAYS_INLINE void count_steps(KmtAccounting *accounting,
				      KmtMatchEvent *const *items, guint n,
				      guint features)
{
	const KmtMatchEvent *frees[KMT_MATCH_BLOCK_RECORDS];
	guint n_frees = count_order(accounting, items, n, frees, features);

	if (accounting->inside && features & ~(guint)EXACT)
		count_frees(accounting, frees, n_frees, features);
}

/* Account for the records of objects that a lifetime filter may select. */
static void count_selected(KmtAccounting *accounting,
			   KmtMatchEvent *const *items, guint n)
{
	const KmtFilter *filter = accounting->options->filter;
	guint i;

	for (i = 0; i < n; i++) {
		const KmtMatchEvent *item = items[i];
		KmtClassStats *stats;
		guint64 lifetime;

		if (item->op == KMT_MATCH_STEP_NONE)
			continue;
		stats = kmt_accounting_class(accounting, item->class_id);
		if (item->op == KMT_MATCH_STEP_ALLOC)
			accounting->aggregate->short_allocs +=
				stats->bytes_alloc <
				kmt_accounting_bytes_req(accounting, stats);
		lifetime = kmt_detailed_lifetime(item->alloc_time, item->now);
		if (item->op == KMT_MATCH_STEP_ALLOC || !stats->counters ||
		    !accounting->inside ||
		    !kmt_detailed_has_lifetime(filter, lifetime))
			continue;
		kmt_detailed_touch(accounting, stats);
		stats->records[1]++;
		if (kmt_detailed_is_remote(accounting, item->class_id,
					   item->alloc_file))
			count_flag(accounting, stats, 1);
		stats->records[0]++;
		if (item->flag)
			count_flag(accounting, stats, 0);
		count_frees(accounting, &item, 1,
			    features_of(accounting) & (DETAILS | CROSS));
	}
}

/* Account for records, which must all be in one window. */
static void count_in_window(KmtAccounting *accounting,
			    KmtMatchEvent *const *items, guint n,
			    guint features)
{
	if (accounting->options->filter->lifetime)
		count_selected(accounting, items, n);
	else if (features == 0)
		count_steps(accounting, items, n, 0);
	else if (features == DETAILS)
		count_steps(accounting, items, n, DETAILS);
	else if (features == (HISTORY | DETAILS))
		count_steps(accounting, items, n, HISTORY | DETAILS);
	else if (features == CROSS)
		count_steps(accounting, items, n, CROSS);
	else
		count_steps(accounting, items, n, features);
}

/* Return whether no window and no span begins at @now or before. */
static gboolean is_before_advance(const KmtAccounting *accounting, gint64 now)
{
	return accounting->inside ? now <= accounting->window_end
				  : now < accounting->start;
}

/* Return how many of the records are before the next kmt_detailed_advance(). */
static guint before_advance(const KmtAccounting *accounting,
			    KmtMatchEvent *const *items, guint n)
{
	guint i = 0;

	/* Merged times do not decrease. */
	if (G_LIKELY(!n || is_before_advance(accounting, items[n - 1]->now)))
		return n;
	while (is_before_advance(accounting, items[i]->now))
		i++;
	return i;
}

/* Prepare for the records of a block that are not accounted for yet. Return the
 * figures that are needed. */
static guint prepare(KmtAccounting *accounting, const KmtMatchedBlock *matched)
{
	const KmtMatchKeys *keys = accounting->aggregate->keys;
	guint64 max = accounting->max_bytes_alloc;

	for (; accounting->n_known < matched->n_classes; accounting->n_known++)
		max = MAX(max, kmt_match_keys_size_of_class(keys,
							    accounting->n_known)
				       .alloc);
	accounting->max_bytes_alloc = max;
	kmt_accounting_reserve(accounting, matched->n_classes);
	if (accounting->unflushed + matched->n > KMT_CLASS_MAX_RECORDS) {
		kmt_detailed_flush(accounting);
		kmt_detailed_flush_excluded(accounting);
		accounting->unflushed = 0;
	}
	accounting->unflushed += matched->n;
	return features_of(accounting) |
	       (kmt_accounting_may_exceed(accounting, matched) ? EXACT : 0);
}

void kmt_detailed_steps(KmtAccounting *accounting,
			const KmtMatchedBlock *matched, guint from, guint to)
{
	KmtMatchEvent *const *items = matched->items;
	guint features = prepare(accounting, matched);

	while (from < to) {
		guint n = before_advance(accounting, items + from, to - from);

		count_in_window(accounting, items + from, n, features);
		from += n;
		if (from < to)
			kmt_detailed_at_time(accounting, items[from]->now);
	}
}
