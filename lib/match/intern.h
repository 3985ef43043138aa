/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for pairs of 64-bit words: each new pair gets the next number, from 0
 * on.  One thread at a time adds pairs.  Meanwhile others may read those whose
 * numbers they were handed through something that synchronises.
 */
#ifndef KMEMTRACE_MATCH_INTERN_H
#define KMEMTRACE_MATCH_INTERN_H

#include "lib/base/hash.h"

typedef struct {
	guint64 word[2];
} KmtMatchPair;

/* Of the largest number; and of how many pairs make a chunk.  Tests take few.
 */
#ifndef KMT_MATCH_INTERN_BITS
#define KMT_MATCH_INTERN_BITS 32
#endif
#ifndef KMT_MATCH_INTERN_CHUNK_BITS
#define KMT_MATCH_INTERN_CHUNK_BITS 12
#endif
#define KMT_MATCH_INTERN_CHUNK (1u << KMT_MATCH_INTERN_CHUNK_BITS)
#define KMT_MATCH_INTERN_MAX   ((guint32)((1ull << KMT_MATCH_INTERN_BITS) - 2))

/* Pairs are kept in chunks that never move. */
typedef struct {
	KmtMatchPair *chunks[1u << (KMT_MATCH_INTERN_BITS -
				    KMT_MATCH_INTERN_CHUNK_BITS)];
	guint32 n;
	/* private: */
	guint64 seed;
	guint32 *slots; /* numbers + 1; 0: empty */
	guint32 mask;	/* slots - 1 */
} KmtMatchIntern;

KmtMatchIntern *kmt_match_intern_new(void);
void kmt_match_intern_free(KmtMatchIntern *intern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchIntern, kmt_match_intern_free)

/* The number of the pair a, b. */
guint32 kmt_match_intern_get(KmtMatchIntern *intern, guint64 a, guint64 b);

static inline const KmtMatchPair *
kmt_match_intern_pair(const KmtMatchIntern *intern, guint32 number)
{
	return &intern->chunks[number >> KMT_MATCH_INTERN_CHUNK_BITS]
			      [number % KMT_MATCH_INTERN_CHUNK];
}

#endif
