/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop that matches the events of a block.
 *
 * The loop is an inline function, so that a consumer of one shard can account
 * for each event in the loop that matches, while the fields of the event are in
 * registers. pipeline-stages.c has the loop for all other consumers.
 */
#ifndef KMEMTRACE_MATCH_MATCH_BLOCK_H
#define KMEMTRACE_MATCH_MATCH_BLOCK_H

#include "lib/match/matcher-private.h"
#include "lib/match/pipeline-private.h"

/* The functions of a consumer, constants that the compiler inlines. */
typedef struct {
	/* Account for an event that kmt_match_fast_path() decided. */
	void (*step)(gpointer user, KmtMatchEvent *item,
		     const KmtMatchDecision *d);
	/*
	 * Account for the @n decisions that the matcher reported as slow
	 * events, in order, and then for the step of @item, if @item has one.
	 * The fields of @item that the matcher updates are valid. If @item is
	 * NULL, the decisions precede the next event. If slow is NULL, the slow
	 * events remain in the block.
	 */
	void (*slow)(gpointer user, const KmtMatchSlowEvent *events, guint n,
		     const KmtMatchEvent *item);
} KmtMatchBlockOps;

/*
 * Return the number of the first @n events that come before the next decision
 * about a pending record is due. Merged times ascend, so usually one comparison
 * suffices.
 */
static inline guint kmt_match_n_before_due(const KmtMatcher *m,
					   const KmtMatchEvent *items, guint n)
{
	guint from = 0;

	if (G_LIKELY(!n || items[n - 1].now <= m->due))
		return n;
	while (from < n) {
		guint middle = from + (n - from) / 2;

		if (items[middle].now > m->due)
			n = middle;
		else
			from = middle + 1;
	}
	return n;
}

/* Pass the slow events of a block to the consumer. */
static inline void kmt_match_pass_slow(KmtMatchShardBlock *block,
				       const KmtMatchBlockOps *ops,
				       gpointer user, const KmtMatchEvent *item)
{
	if (!ops->slow)
		return;
	ops->slow(user,
		  (const KmtMatchSlowEvent *)(void *)block->slow_events->data,
		  block->n_slow_events, item);
	block->n_slow_events = 0;
}

/* Store the homes of the first events of @items in @homes. */
static inline void kmt_match_prefetch_homes(KmtMatchTable *table,
					    const KmtMatchEvent *items,
					    KmtMatchEntry **homes)
{
	guint k;

	table->moved = FALSE;
	for (k = 0; k < KMT_MATCH_PREFETCH_DISTANCE; k++)
		homes[k] = kmt_match_table_prefetch(table, items[k].hash);
}

/*
 * Match the events of a shard in a block. @ops must be constants. The slow
 * events of the block are those that @ops did not receive.
 *
 * The loop that matches also prefetches, because a loop of its own takes 5
 * instructions more. At the end of a block, it prefetches for unused items.
 */
static inline __attribute__((always_inline)) void
kmt_match_block(KmtMatchShard *shard, KmtMatchPipelineBlock *work,
		const KmtMatchBlockOps *ops, gpointer user)
{
	enum { DISTANCE = KMT_MATCH_PREFETCH_DISTANCE };
	KmtMatchShardBlock *shard_block = &work->shard_blocks[shard->number];
	KmtMatchEvent *item = shard_block->items;
	KmtMatchEvent *const end = item + shard_block->n, *until = NULL;
	KmtMatchEntry **home, *homes[KMT_MATCH_BLOCK_RECORDS + DISTANCE];
	KmtMatcher *m = shard->matcher;
	KmtMatchDecision d;
	KmtMatchEntry *e = NULL;
	gint64 due = 0; /* m->due to which until belongs */

	shard->work = work;
	shard_block->n_slow_events = 0;
	kmt_match_prefetch_homes(&m->table, item, homes);
	for (home = homes;;) {
		/* A slow event rarely changes the next due decision. A search
		 * after each slow event takes 30 instructions per event of a
		 * capture in which a twentieth of the events are slow. */
		if (G_UNLIKELY(!until || m->due != due)) {
			due = m->due;
			until = item + kmt_match_n_before_due(
					       m, item, (guint)(end - item));
		}
		for (; item < until; item++, home++) {
			home[DISTANCE] = kmt_match_table_prefetch(
				&m->table, item[DISTANCE].hash);
			e = kmt_match_table_at(&m->table, *home, item->hash);
			/* Two calls of step, because the compiler then knows
			 * that the flag of the first one is 0. */
			if (G_LIKELY(kmt_match_fast_path(item, e, &d)))
				ops->step(user, item, &d);
			else if (kmt_match_aged_path(m, item, e, &d))
				ops->step(user, item, &d);
			else
				break;
		}
		if (item == end)
			break;
		shard->item = item;
		if (item == until) {
			kmt_matcher_advance(m, item->now);
			kmt_match_pass_slow(shard_block, ops, user, NULL);
			continue;
		}
		kmt_match_slow_path(m, e, item);
		kmt_match_pass_slow(shard_block, ops, user, item);
		item++;
		home++;
		if (G_UNLIKELY(m->table.moved))
			kmt_match_prefetch_homes(&m->table, item, home);
	}
	shard->item = NULL;
	kmt_matcher_advance(m, work->order.items[work->block.n - 1]->now);
}

#endif
