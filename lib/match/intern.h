/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for pairs of 64-bit words. Each new pair gets the next number; the
 * first number is 0.
 *
 * One thread at a time may add pairs. Another thread may read a pair whose
 * number it received from the adding thread by a synchronising operation, such
 * as a lock or an acquire load.
 */
#ifndef KMEMTRACE_MATCH_INTERN_H
#define KMEMTRACE_MATCH_INTERN_H

#include "lib/base/hash.h"

typedef struct {
	guint64 word[2];
} KmtMatchPair;

/* Width of the number of a pair in bits, and log2 of the number of pairs in a
 * chunk. The fuzzers use smaller values. */
#ifndef KMT_MATCH_INTERN_BITS
#define KMT_MATCH_INTERN_BITS 32
#endif
#ifndef KMT_MATCH_INTERN_CHUNK_BITS
#define KMT_MATCH_INTERN_CHUNK_BITS 12
#endif
#define KMT_MATCH_INTERN_CHUNK (1u << KMT_MATCH_INTERN_CHUNK_BITS)
#define KMT_MATCH_INTERN_MAX   ((guint32)((1ull << KMT_MATCH_INTERN_BITS) - 2))

/* The pairs are stored in chunks, which never move. */
typedef struct {
	KmtMatchPair *chunks[1u << (KMT_MATCH_INTERN_BITS -
				    KMT_MATCH_INTERN_CHUNK_BITS)];
	guint32 n;
	/* Private: */
	guint64 seed;
	guint32 *slots; /* number of a pair + 1; 0: empty slot */
	guint32 mask;	/* number of slots - 1 */
} KmtMatchIntern;

/* Create an empty table of pairs. The hash has a random seed. */
KmtMatchIntern *kmt_match_intern_new(void);
/* Free a table with all pairs; NULL is allowed. */
void kmt_match_intern_free(KmtMatchIntern *intern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchIntern, kmt_match_intern_free)

/* Return the number of the pair (a, b); add the pair if it is new. */
guint32 kmt_match_intern_get(KmtMatchIntern *intern, guint64 a, guint64 b);

/*
 * Return the pair of a number that kmt_match_intern_get() returned. The
 * pointer is valid until the table is freed.
 */
static inline const KmtMatchPair *
kmt_match_intern_pair(const KmtMatchIntern *intern, guint32 number)
{
	return &intern->chunks[number >> KMT_MATCH_INTERN_CHUNK_BITS]
			      [number % KMT_MATCH_INTERN_CHUNK];
}

#endif
