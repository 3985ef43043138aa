// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"
#include "lib/match/match-block.h"

/* A block, and the statistics that its events change. */
typedef struct {
	KmtAccounting *accounting;
	const KmtMatchedBlock *matched;
	KmtClassStats *class_stats;
} BasicBlock;

/* Add the records of all classes to their groups. */
static void flush_classes(KmtAccounting *accounting)
{
	KmtAggregate *aggregate = accounting->aggregate;
	guint32 i;

	for (i = 0; i < accounting->n_known; i++) {
		KmtClassStats *stats = &accounting->class_stats[i];
		guint64 bytes_req = kmt_accounting_bytes_req(accounting, stats);

		if (stats->bytes_alloc < bytes_req)
			aggregate->short_allocs += stats->records[1];
		if (stats->counters)
			aggregate->overflowed |=
				kmt_class_stats_flush(stats, bytes_req);
	}
	accounting->unflushed = 0;
}

/* Prepare the statistics for the events of a block. */
static BasicBlock begin_block(KmtAccounting *accounting,
			      const KmtMatchedBlock *matched)
{
	for (; accounting->n_known < matched->n_classes; accounting->n_known++)
		kmt_accounting_class(accounting, accounting->n_known);
	if (accounting->unflushed + matched->n > KMT_CLASS_MAX_RECORDS)
		flush_classes(accounting);
	accounting->unflushed += matched->n;
	return (BasicBlock){accounting, matched, accounting->class_stats};
}

static inline __attribute__((always_inline)) void
step(gpointer user, KmtMatchEvent *item, const KmtMatchDecision *d)
{
	const BasicBlock *block = user;

	kmt_class_stats_step(&block->class_stats[d->class_id], d->is_alloc,
			     d->flag, item->now, FALSE);
}

static inline __attribute__((always_inline)) void
exact_step(gpointer user, KmtMatchEvent *item, const KmtMatchDecision *d)
{
	const BasicBlock *block = user;

	kmt_class_stats_step(&block->class_stats[d->class_id], d->is_alloc,
			     d->flag, item->now, TRUE);
}

/* Count a record that is matched, unless a slow event has its effect. @exact is
 * that of kmt_counters_step(). */
static inline __attribute__((always_inline)) void
count_item(const BasicBlock *block, const KmtMatchEvent *item, gboolean exact)
{
	if (G_LIKELY(item->op != KMT_MATCH_STEP_NONE))
		kmt_class_stats_step(&block->class_stats[item->class_id],
				     item->op & 1, item->flag, item->now,
				     exact);
	else if (item->event->event_id == KMEMTRACE_EVENT_FREE)
		block->accounting->free_records[item->type]++;
}

static G_GNUC_NO_INLINE void count_slow_events(const BasicBlock *block,
					       const KmtMatchSlowEvent *events,
					       guint n)
{
	guint i;

	for (i = 0; i < n; i++)
		kmt_detailed_slow_event(block->accounting, block->matched,
					&events[i]);
}

static inline __attribute__((always_inline)) void
slow(gpointer user, const KmtMatchSlowEvent *events, guint n,
     const KmtMatchEvent *item)
{
	if (n)
		count_slow_events(user, events, n);
	if (item)
		count_item(user, item, FALSE);
}

static inline __attribute__((always_inline)) void
exact_slow(gpointer user, const KmtMatchSlowEvent *events, guint n,
	   const KmtMatchEvent *item)
{
	if (n)
		count_slow_events(user, events, n);
	if (item)
		count_item(user, item, TRUE);
}

void kmt_basic_block(KmtAccounting *accounting, KmtMatchShard *shard,
		     KmtMatchPipelineBlock *work,
		     const KmtMatchedBlock *matched)
{
	static const KmtMatchBlockOps ops = {step, slow},
				      exact_ops = {exact_step, exact_slow};
	BasicBlock block = begin_block(accounting, matched);

	if (kmt_accounting_may_exceed(accounting, matched))
		kmt_match_block(shard, work, &exact_ops, &block);
	else
		kmt_match_block(shard, work, &ops, &block);
}

void kmt_basic_steps(KmtAccounting *accounting, const KmtMatchedBlock *matched,
		     guint from, guint to)
{
	const BasicBlock block = begin_block(accounting, matched);

	for (; from < to; from++)
		count_item(&block, matched->items[from], TRUE);
}

void kmt_basic_groups(KmtAccounting *accounting)
{
	flush_classes(accounting);
}

void kmt_basic_kinds(KmtAccounting *accounting)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtGroups *groups = aggregate->groups;
	guint32 i;

	for (i = 0; i < KMT_N_KINDS; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		*t = (KmtTotals){.peak_bytes_alloc = accounting->kinds[i].peak,
				 .peak_timestamp =
					 accounting->kinds[i].peak_timestamp};
	}
	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);

		aggregate->overflowed |= kmt_totals_add(
			&aggregate->kinds[group->kind], &group->totals);
	}
	for (i = 0; i < KMT_KIND_SLAB; i++) {
		KmtTotals *t = &aggregate->kinds[i];

		t->frees +=
			accounting->free_records[i] - accounting->slow_frees[i];
		if (kmt_kind_is_slab(i))
			aggregate->overflowed |= kmt_totals_add(
				&aggregate->kinds[KMT_KIND_SLAB], t);
	}
}
