/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop that matches the events of a block.
 *
 * The loop is an inline function, so that a consumer of one shard can account
 * for each event in the loop that matches it, while its fields are in
 * registers. pipeline-stages.c includes it for all other consumers.
 */
#ifndef KMEMTRACE_MATCH_MATCH_BLOCK_H
#define KMEMTRACE_MATCH_MATCH_BLOCK_H

#include "lib/match/matcher-private.h"
#include "lib/match/pipeline-private.h"

/*
 * Number of records whose table entries are prefetched at once, because memory
 * latency bounds large captures. report-small and the fuzzers use fewer.
 */
#ifndef KMT_MATCH_PREFETCH_BATCH
#define KMT_MATCH_PREFETCH_BATCH 128
#endif

/* The functions of a consumer, constants that the compiler inlines. */
typedef struct {
	/* Account for an event that kmt_match_fast_path() decided. */
	void (*step)(gpointer user, KmtMatchEvent *item,
		     const KmtMatchDecision *d);
	/*
	 * Account for the @n decisions that the matcher reported as slow
	 * events, in order, and then for the step of @item, if it has one. The
	 * fields of @item that the matcher updates are valid. If @item is NULL,
	 * the decisions precede the next event. slow may be NULL: the slow
	 * events remain in the block.
	 */
	void (*slow)(gpointer user, const KmtMatchSlowEvent *events, guint n,
		     const KmtMatchEvent *item);
} KmtMatchBlockOps;

/* Find the probable entries of a batch of events, and prefetch their memory. */
static inline void kmt_match_prefetch_entries(KmtMatchTable *table,
					      const KmtMatchEvent *items,
					      guint n, KmtMatchEntry **entries)
{
	const KmtMatchSlotGroup *groups[KMT_MATCH_PREFETCH_BATCH];
	guint missed[KMT_MATCH_PREFETCH_BATCH], n_missed = 0, k;

	for (k = 0; k < n; k++) {
		guint64 hash = items[k].hash;

		entries[k] = *kmt_match_table_cached_entry(table, hash);
		/* Without a branch, because a cache miss cannot be predicted.
		 */
		missed[n_missed] = k;
		n_missed += entries[k]->hash != hash;
	}
	for (k = 0; k < n_missed; k++)
		groups[k] = kmt_match_table_prefetch_slot(
			table, items[missed[k]].hash);
	for (k = 0; k < n_missed; k++) {
		guint64 hash = items[missed[k]].hash;

		entries[missed[k]] = *kmt_match_table_cached_entry(table,
								   hash) =
			kmt_match_table_prefetch_entry(table, hash, groups[k]);
	}
}

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

/* Pass the slow events of the shard to the consumer. */
static inline void kmt_match_pass_slow(KmtMatchShard *shard,
				       const KmtMatchBlockOps *ops,
				       gpointer user, const KmtMatchEvent *item)
{
	KmtMatchShardBlock *block = &shard->work->shard_blocks[shard->number];

	if (!ops->slow)
		return;
	ops->slow(user,
		  (const KmtMatchSlowEvent *)(void *)block->slow_events->data,
		  block->n_slow_events, item);
	block->n_slow_events = 0;
}

/* Match a batch of events, whose probable entries are @entries. */
static inline __attribute__((always_inline)) void
kmt_match_batch(KmtMatchShard *shard, KmtMatchEvent *items, guint n,
		KmtMatchEntry **entries, const KmtMatchBlockOps *ops,
		gpointer user)
{
	KmtMatcher *m = shard->matcher;
	guint k = 0, from, until, n_allocs;
	KmtMatchDecision d;

	for (;;) {
		until = k + kmt_match_n_before_due(m, items + k, n - k);
		n_allocs = 0;
		for (from = k; k < until; k++) {
			if (G_UNLIKELY(!kmt_match_fast_path(m, &items[k],
							    entries[k], &d)))
				break;
			n_allocs += d.is_alloc;
			ops->step(user, &items[k], &d);
		}
		m->table.n_closed += (guint64)(k - from) - 2 * n_allocs;
		if (k == n)
			return;
		shard->item = &items[k];
		if (k == until) {
			kmt_matcher_advance(m, items[k].now);
			kmt_match_pass_slow(shard, ops, user, NULL);
		} else {
			kmt_match_slow_path(m, entries[k], &items[k]);
			kmt_match_pass_slow(shard, ops, user, &items[k]);
			k++;
		}
	}
}

/*
 * Match the events of a shard in a block. @ops must be constants. The slow
 * events of the block are those that @ops did not receive.
 */
static inline __attribute__((always_inline)) void
kmt_match_block(KmtMatchShard *shard, KmtMatchPipelineBlock *work,
		const KmtMatchBlockOps *ops, gpointer user)
{
	KmtMatchShardBlock *shard_block = &work->shard_blocks[shard->number];
	KmtMatchTable *table = &shard->matcher->table;
	KmtMatchEntry *entries[2][KMT_MATCH_PREFETCH_BATCH];
	KmtMatchEvent *items = shard_block->items;
	guint left = shard_block->n, n, n_next, now = 0;

	shard->work = work;
	shard_block->n_slow_events = 0;
	n = MIN(left, KMT_MATCH_PREFETCH_BATCH);
	kmt_match_prefetch_entries(table, items, n, entries[now]);
	for (; n; left -= n, items += n, n = n_next, now = !now) {
		n_next = MIN(left - n, KMT_MATCH_PREFETCH_BATCH);
		kmt_match_prefetch_entries(table, items + n, n_next,
					   entries[!now]);
		kmt_match_batch(shard, items, n, entries[now], ops, user);
	}
	shard->item = NULL;
	kmt_matcher_advance(shard->matcher,
			    work->order.items[work->block.n - 1]->now);
}

#endif
