// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "trace/intern.h"

/* A power of two; the tests take a small one. */
#ifndef FIRST_SLOTS
#define FIRST_SLOTS 1024
#endif

static guint64 hash_pair(guint64 seed, guint64 a, guint64 b)
{
	guint64 h = (kmt_hash(seed, a) ^ b) *
		    G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	return h ^ h >> 32;
}

static guint64 table_seed; /* of the one hash function that GLib calls */

static guint pair_hash(gconstpointer p)
{
	const KmtPair *pair = p;

	return (guint)hash_pair(table_seed, pair->word[0], pair->word[1]);
}

static gboolean pair_equal(gconstpointer a, gconstpointer b)
{
	const KmtPair *x = a, *y = b;

	return x->word[0] == y->word[0] && x->word[1] == y->word[1];
}

KmtIntern *kmt_intern_new(void)
{
	static gsize once;
	KmtIntern *intern = g_new0(KmtIntern, 1);

	if (g_once_init_enter(&once)) {
		table_seed = kmt_hash_seed();
		g_once_init_leave(&once, 1);
	}
	g_mutex_init(&intern->lock);
	intern->seed = kmt_hash_seed();
	intern->numbers = g_hash_table_new(pair_hash, pair_equal);
	return intern;
}

void kmt_intern_free(KmtIntern *intern)
{
	guint32 i;

	if (!intern)
		return;
	for (i = 0; i < G_N_ELEMENTS(intern->chunks) && intern->chunks[i]; i++)
		g_free(intern->chunks[i]);
	g_hash_table_unref(intern->numbers);
	g_mutex_clear(&intern->lock);
	g_free(intern);
}

static guint32 intern_add(KmtIntern *intern, guint64 a, guint64 b)
{
	KmtPair key = {{a, b}}, *pair;
	KmtPair **chunk;
	gpointer found;
	guint32 number;

	g_mutex_lock(&intern->lock);
	if (g_hash_table_lookup_extended(intern->numbers, &key, NULL, &found)) {
		number = GPOINTER_TO_UINT(found);
	} else {
		if (intern->n == KMT_INTERN_MAX)
			g_error("more than %u call sites or sizes", intern->n);
		number = intern->n++;
		chunk = &intern->chunks[number >> KMT_INTERN_CHUNK_BITS];
		if (!*chunk)
			*chunk = g_new(KmtPair, KMT_INTERN_CHUNK);
		pair = &(*chunk)[number % KMT_INTERN_CHUNK];
		*pair = key;
		g_hash_table_insert(intern->numbers, pair,
				    GUINT_TO_POINTER(number));
	}
	g_mutex_unlock(&intern->lock);
	return number;
}

void kmt_intern_cache_init(KmtInternCache *cache, KmtIntern *intern)
{
	memset(cache->front, 0, sizeof(cache->front));
	cache->intern = intern;
	cache->seed = intern->seed;
	cache->used = 0;
	cache->mask = FIRST_SLOTS - 1;
	cache->slots = g_new0(KmtInternSlot, FIRST_SLOTS);
}

void kmt_intern_cache_clear(KmtInternCache *cache)
{
	g_clear_pointer(&cache->slots, g_free);
}

/* The slot of a pair, or the empty one where it would go. */
static KmtInternSlot *find_slot(KmtInternCache *cache, guint64 a, guint64 b)
{
	guint32 i = (guint32)hash_pair(cache->seed, a, b) & cache->mask;

	for (;; i = (i + 1) & cache->mask) {
		KmtInternSlot *slot = &cache->slots[i];

		if (!slot->number ||
		    (slot->pair.word[0] == a && slot->pair.word[1] == b))
			return slot;
	}
}

/* At most half full, which keeps the runs short. */
static void cache_grow(KmtInternCache *cache)
{
	KmtInternSlot *old = cache->slots;
	guint32 i, n = cache->mask + 1;

	cache->mask = cache->mask * 2 + 1;
	cache->slots = g_new0(KmtInternSlot, (gsize)cache->mask + 1);
	for (i = 0; i < n; i++)
		if (old[i].number)
			*find_slot(cache, old[i].pair.word[0],
				   old[i].pair.word[1]) = old[i];
	g_free(old);
}

guint32 kmt_intern_miss(KmtInternCache *cache, KmtInternSlot *front, guint64 a,
			guint64 b)
{
	KmtInternSlot *slot = find_slot(cache, a, b);

	if (!slot->number) {
		*slot = (KmtInternSlot){{{a, b}},
					intern_add(cache->intern, a, b) + 1ull};
		*front = *slot;
		if (++cache->used > cache->mask / 2)
			cache_grow(cache);
	} else {
		*front = *slot;
	}
	return (guint32)front->number - 1;
}
