/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for pairs of 64-bit words: each new pair gets the next number, from 0
 * on.  The table is shared by threads, each of which looks things up through a
 * cache of its own and takes the table's lock for what is new to it only.
 *
 * Which pair gets which number depends on how the threads run; nothing that is
 * printed may depend on it.
 */
#ifndef KMEMTRACE_INTERN_H
#define KMEMTRACE_INTERN_H

#include "trace/hash.h"

typedef struct {
	guint64 word[2];
} KmtPair;

#define KMT_INTERN_CHUNK_BITS 12
#define KMT_INTERN_CHUNK      (1u << KMT_INTERN_CHUNK_BITS)

/*
 * Pairs are kept in chunks that never move, so that they are read without the
 * lock: a reader has its number from whoever added the pair, under some lock.
 */
typedef struct {
	KmtPair *chunks[1u << (32 - KMT_INTERN_CHUNK_BITS)];
	guint32 n;
	guint64 seed;
	/* private: */
	GMutex lock;
	GHashTable *numbers; /* KmtPair -> number */
} KmtIntern;

KmtIntern *kmt_intern_new(void);
void kmt_intern_free(KmtIntern *intern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtIntern, kmt_intern_free)

/* Any thread that learned of the number through something that synchronises. */
static inline const KmtPair *kmt_intern_at(const KmtIntern *intern,
					   guint32 number)
{
	return &intern->chunks[number >> KMT_INTERN_CHUNK_BITS]
			      [number % KMT_INTERN_CHUNK];
}

/* Of one thread; the intern outlives it. */
typedef struct {
	KmtIntern *intern;
	guint64 seed;
	guint32 mask; /* slots - 1 */
	guint32 used;
	struct KmtInternSlot {
		KmtPair pair;
		guint64 number; /* + 1; 0: empty */
	} * slots;
} KmtInternCache;

void kmt_intern_cache_init(KmtInternCache *cache, KmtIntern *intern);
void kmt_intern_cache_clear(KmtInternCache *cache);

/* Private: what kmt_intern_get() does with a pair that the cache lacks. */
guint32 kmt_intern_miss(KmtInternCache *cache, guint64 a, guint64 b);

static inline guint64 kmt_intern_hash(guint64 seed, guint64 a, guint64 b)
{
	guint64 h = (kmt_hash(seed, a) ^ b) *
		    G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	return h ^ h >> 32;
}

/* The number of the pair a, b; at most 2^32 - 2 of them. */
static inline guint32 kmt_intern_get(KmtInternCache *cache, guint64 a,
				     guint64 b)
{
	guint32 i = (guint32)kmt_intern_hash(cache->seed, a, b) & cache->mask;

	for (;; i = (i + 1) & cache->mask) {
		const struct KmtInternSlot *slot = &cache->slots[i];

		if (slot->number && slot->pair.word[0] == a &&
		    slot->pair.word[1] == b)
			return (guint32)slot->number - 1;
		if (!slot->number)
			return kmt_intern_miss(cache, a, b);
	}
}

#endif
