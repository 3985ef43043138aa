/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for entries of equal size, which are compared byte by byte. Each new
 * entry gets the next number; the first number is 0.
 *
 * One thread at a time may add entries. Another thread may read an entry whose
 * number it received from the adding thread by a synchronising operation, such
 * as a lock or an acquire load.
 */
#ifndef KMEMTRACE_MATCH_INTERN_H
#define KMEMTRACE_MATCH_INTERN_H

#include "lib/base/hash.h"

/* Width of the number of an entry in bits, and log2 of the number of entries in
 * a chunk. The fuzzers use smaller values. */
#ifndef KMT_MATCH_INTERN_BITS
#define KMT_MATCH_INTERN_BITS 32
#endif
#ifndef KMT_MATCH_INTERN_CHUNK_BITS
#define KMT_MATCH_INTERN_CHUNK_BITS 12
#endif
#define KMT_MATCH_INTERN_CHUNK (1u << KMT_MATCH_INTERN_CHUNK_BITS)
#define KMT_MATCH_INTERN_MAX   ((guint32)((1ull << KMT_MATCH_INTERN_BITS) - 2))

/* The entries are stored in chunks, which never move. */
typedef struct {
	guint64 *chunks[1u << (KMT_MATCH_INTERN_BITS -
			       KMT_MATCH_INTERN_CHUNK_BITS)];
	guint32 n;
	/* Private: */
	guint n_words; /* size of an entry in 64-bit words */
	guint64 seed, second_seed;
	guint32 *slots; /* number of an entry + 1; 0: empty slot */
	guint32 mask;	/* number of slots - 1 */
} KmtMatchIntern;

/* Create an empty table of entries of n_words 64-bit words. The hash has a
 * random seed. */
KmtMatchIntern *kmt_match_intern_new(guint n_words);
/* Free a table with all entries; NULL is allowed. */
void kmt_match_intern_free(KmtMatchIntern *intern);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtMatchIntern, kmt_match_intern_free)

/*
 * Return the number of an entry; add a copy of the entry if it is new. entry
 * points to n_words 64-bit words, and padding counts.
 */
guint32 kmt_match_intern_get(KmtMatchIntern *intern, gconstpointer entry);

/*
 * Return the entry of a number that kmt_match_intern_get() returned. The
 * pointer is valid until the table is freed.
 */
static inline gconstpointer kmt_match_intern_entry(const KmtMatchIntern *intern,
						   guint32 number)
{
	return &intern->chunks[number >> KMT_MATCH_INTERN_CHUNK_BITS]
			      [(gsize)(number % KMT_MATCH_INTERN_CHUNK) *
			       intern->n_words];
}

#endif
