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

/* Of the largest number; and of how many pairs make a chunk.  Tests take few.
 */
#ifndef KMT_INTERN_BITS
#define KMT_INTERN_BITS 32
#endif
#ifndef KMT_INTERN_CHUNK_BITS
#define KMT_INTERN_CHUNK_BITS 12
#endif
#define KMT_INTERN_CHUNK (1u << KMT_INTERN_CHUNK_BITS)
#define KMT_INTERN_MAX	 ((guint32)((1ull << KMT_INTERN_BITS) - 2))

/*
 * Pairs are kept in chunks that never move, so that they are read without the
 * lock: a reader has its number from whoever added the pair, under some lock.
 */
typedef struct {
	KmtPair *chunks[1u << (KMT_INTERN_BITS - KMT_INTERN_CHUNK_BITS)];
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

/*
 * Of one thread; the intern outlives it.  What is asked for often is found in
 * the first try, in a table where each pair has one place.
 */
#define KMT_INTERN_FRONT_BITS 11

typedef struct {
	KmtPair pair;
	guint64 number; /* + 1; 0: empty */
} KmtInternSlot;

typedef struct {
	KmtInternSlot front[1 << KMT_INTERN_FRONT_BITS];
	KmtIntern *intern;
	guint64 seed;
	guint32 mask; /* slots - 1 */
	guint32 used;
	KmtInternSlot *slots; /* all that were asked for */
} KmtInternCache;

void kmt_intern_cache_init(KmtInternCache *cache, KmtIntern *intern);
void kmt_intern_cache_clear(KmtInternCache *cache);

/* Private: what kmt_intern_get() does with a pair that front lacks. */
guint32 kmt_intern_miss(KmtInternCache *cache, KmtInternSlot *front, guint64 a,
			guint64 b);

/* The number of the pair a, b; at most 2^32 - 2 of them. */
static inline guint32 kmt_intern_get(KmtInternCache *cache, guint64 a,
				     guint64 b)
{
	/* A pair that is found slowly is all that a bad hash does. */
	guint64 hash = (a + b * G_GUINT64_CONSTANT(0xd6e8feb86659fd93)) *
		       G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	KmtInternSlot *front =
		&cache->front[hash >> (64 - KMT_INTERN_FRONT_BITS)];

	if (G_LIKELY(front->pair.word[0] == a && front->pair.word[1] == b &&
		     front->number))
		return (guint32)front->number - 1;
	return kmt_intern_miss(cache, front, a, b);
}

#endif
