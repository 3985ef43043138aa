// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/accounting.h"

#include <string.h>

/* Number of classes whose figures are cleared together. */
#define CLEAR_CLASSES 1024

/*
 * Make room for @needed classes. realloc() usually moves a large block without
 * a copy, so that no second block takes memory meanwhile.
 */
static void enlarge(KmtAccounting *accounting, gsize needed)
{
	const guintptr size = sizeof(KmtClassStats);
	gsize n = MAX(CLEAR_CLASSES, accounting->class_room), offset = 0;
	guint8 *block = accounting->stats_block;
	KmtClassStats *stats;

	while (n < needed)
		n *= 2;
	if (block)
		offset = (gsize)((guint8 *)accounting->class_stats - block);
	block = g_realloc(block, (n + 1) * size);
	stats = (gpointer)(((guintptr)block + size - 1) & ~(size - 1));
	/* The new block may be aligned in another way. */
	if ((guint8 *)stats != block + offset)
		memmove(stats, block + offset,
			accounting->n_class_stats * size);
	accounting->stats_block = block;
	accounting->class_stats = stats;
	accounting->class_infos =
		g_renew(KmtClassInfo, accounting->class_infos, n);
	if (accounting->has_details)
		accounting->class_details =
			g_renew(KmtDetail *, accounting->class_details, n);
	accounting->class_room = n;
}

void kmt_accounting_reserve(KmtAccounting *accounting, guint32 needed)
{
	gsize old = accounting->n_class_stats, n;

	if (needed <= old)
		return;
	n = ((gsize)needed + CLEAR_CLASSES - 1) / CLEAR_CLASSES * CLEAR_CLASSES;
	if (n > accounting->class_room)
		enlarge(accounting, n);
	memset(accounting->class_stats + old, 0,
	       (n - old) * sizeof(KmtClassStats));
	memset(accounting->class_infos + old, 0,
	       (n - old) * sizeof(KmtClassInfo));
	if (accounting->has_details)
		memset(accounting->class_details + old, 0,
		       (n - old) * sizeof(KmtDetail *));
	accounting->n_class_stats = (guint32)MIN(n, G_MAXUINT32);
}

void kmt_accounting_add(KmtAccounting *accounting, guint32 class_id)
{
	KmtAggregate *aggregate = accounting->aggregate;
	const KmtMatchClass *class =
		kmt_match_class_of_number(aggregate->keys->classes, class_id);
	KmtClassStats *stats;
	KmtClassInfo *info;

	kmt_accounting_reserve(accounting, class_id + 1);
	stats = &accounting->class_stats[class_id];
	info = &accounting->class_infos[class_id];
	info->is_initialised = TRUE;
	stats->change[0] = class->bytes_alloc;
	stats->change[1] = -class->bytes_alloc;
	accounting->max_bytes_alloc =
		MAX(accounting->max_bytes_alloc, class->bytes_alloc);
	info->kind = kmt_match_class_type(class);
	info->group = kmt_groups_of_class(aggregate->groups, class_id);
	if (info->group == KMT_NO_GROUP)
		return;
	stats->counters = kmt_groups_counters(aggregate->groups, info->group);
	if (accounting->has_details)
		accounting->class_details[class_id] =
			kmt_groups_detail(aggregate->groups, info->group);
	stats->counters->parent = &accounting->kinds[info->kind];
	if (!accounting->options->by->kinds && kmt_kind_is_slab(info->kind))
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
