// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/index.h"

/* A power of two. The fuzzers compile this file with a small value. */
#ifndef FIRST_SLOTS
#define FIRST_SLOTS 1024
#endif

void kmt_index_init(KmtIndex *index, KmtIndexHash hash, KmtIndexEqual equal)
{
	*index = (KmtIndex){.hash = hash,
			    .equal = equal,
			    .mask = FIRST_SLOTS - 1,
			    .slots = g_new0(guint32, FIRST_SLOTS)};
}

void kmt_index_clear(KmtIndex *index)
{
	g_clear_pointer(&index->slots, g_free);
}

guint32 kmt_index_find(const KmtIndex *index, gconstpointer user, guint64 hash,
		       gconstpointer key)
{
	guint32 i = (guint32)hash & index->mask;

	for (; index->slots[i]; i = (i + 1) & index->mask)
		if (index->equal(user, index->slots[i] - 1, key))
			return index->slots[i] - 1;
	return KMT_INDEX_NONE;
}

static void put(KmtIndex *index, guint64 hash, guint32 number)
{
	guint32 i = (guint32)hash & index->mask;

	while (index->slots[i])
		i = (i + 1) & index->mask;
	index->slots[i] = number + 1;
}

static void grow(KmtIndex *index, gconstpointer user)
{
	guint32 i;

	g_free(index->slots);
	index->mask = index->mask * 2 + 1;
	index->slots = g_new0(guint32, (gsize)index->mask + 1);
	for (i = 0; i < index->n; i++)
		put(index, index->hash(user, i), i);
}

void kmt_index_add(KmtIndex *index, gconstpointer user, guint64 hash)
{
	put(index, hash, index->n++);
	/* Keep the table at most three quarters full to limit the length of
	 * probe sequences. */
	if (index->n > index->mask / 4 * 3 && index->mask < G_MAXUINT32)
		grow(index, user);
}
