// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

#include <string.h>

/* Number of classes whose figures are cleared together. */
#define CLEAR_CLASSES 1024

/*
 * Make room in class_stats for @needed classes. realloc() usually moves a large
 * block without a copy, so that no second block takes memory meanwhile.
 */
static void enlarge(KmtAccounting *accounting, gsize needed)
{
	const guintptr line = _Alignof(KmtClassStats);
	gsize n = MAX(CLEAR_CLASSES, accounting->class_room), offset = 0;
	guint8 *block = accounting->class_block;
	KmtClassStats *stats;

	while (n < needed)
		n *= 2;
	if (block)
		offset = (gsize)((guint8 *)accounting->class_stats - block);
	block = g_realloc(block, (n + 1) * sizeof(KmtClassStats));
	stats = (gpointer)(((guintptr)block + line - 1) & ~(line - 1));
	/* The new block may be aligned in another way. */
	if ((guint8 *)stats != block + offset)
		memmove(stats, block + offset,
			accounting->n_class_stats * sizeof(KmtClassStats));
	accounting->class_block = block;
	accounting->class_stats = stats;
	accounting->class_room = n;
}

void kmt_accounting_reserve(KmtAccounting *accounting, guint32 needed)
{
	gsize n = accounting->n_class_stats;

	if (needed <= n)
		return;
	n = ((gsize)needed + CLEAR_CLASSES - 1) / CLEAR_CLASSES * CLEAR_CLASSES;
	if (n > accounting->class_room)
		enlarge(accounting, n);
	memset(accounting->class_stats + accounting->n_class_stats, 0,
	       (n - accounting->n_class_stats) * sizeof(KmtClassStats));
	accounting->n_class_stats = (guint32)MIN(n, G_MAXUINT32);
}

void kmt_accounting_add(KmtAccounting *accounting, guint32 class_id)
{
	KmtAggregate *aggregate = accounting->aggregate;
	KmtMatchSize bytes =
		kmt_match_keys_size_of_class(aggregate->keys, class_id);
	KmtMatchKey key = kmt_match_keys_of_class(aggregate->keys, class_id);
	KmtClassStats *stats;

	kmt_accounting_reserve(accounting, class_id + 1);
	stats = &accounting->class_stats[class_id];
	stats->is_initialised = TRUE;
	stats->bytes_req = bytes.req;
	stats->change[0] = bytes.alloc;
	stats->change[1] = -bytes.alloc;
	accounting->max_bytes_alloc =
		MAX(accounting->max_bytes_alloc, bytes.alloc);
	stats->kind = key.type;
	stats->group = kmt_groups_of_class(aggregate->groups, class_id);
	if (stats->group == KMT_NO_GROUP)
		return;
	stats->counters = kmt_groups_counters(aggregate->groups, stats->group);
	if (accounting->options->lifetimes)
		stats->detail =
			kmt_groups_detail(aggregate->groups, stats->group);
	stats->counters->parent = &accounting->kinds[stats->kind];
	if (!accounting->options->by->kinds && kmt_kind_is_slab(stats->kind))
		stats->counters->parent = &accounting->kinds[KMT_KIND_SLAB];
}

gboolean kmt_accounting_may_exceed(const KmtAccounting *accounting,
				   const KmtMatchedBlock *matched)
{
	guint64 bytes;

	return __builtin_mul_overflow(accounting->records + matched->n,
				      accounting->max_bytes_alloc, &bytes) ||
	       bytes > G_MAXINT64;
}
