/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers for allocation classes. A class is a call site with a word that holds
 * the other properties of its allocations (see keys.h), and the requested and
 * the allocated bytes. Each new class gets the next number; the first number is
 * 0.
 *
 * One thread at a time may look up classes, which may add them. Another thread
 * may read a class whose number it received from that thread by a synchronising
 * operation, such as a lock or an acquire load.
 */
#ifndef KMEMTRACE_MATCH_CLASS_TABLE_H
#define KMEMTRACE_MATCH_CLASS_TABLE_H

#include "lib/base/hash.h"

/* Width of the number of a class in bits, and log2 of the number of classes in
 * a chunk. The fuzzers use smaller values. */
#ifndef KMT_MATCH_CLASS_BITS
#define KMT_MATCH_CLASS_BITS 32
#endif
#ifndef KMT_MATCH_CLASS_CHUNK_BITS
#define KMT_MATCH_CLASS_CHUNK_BITS 12
#endif
#define KMT_MATCH_CLASS_CHUNK (1u << KMT_MATCH_CLASS_CHUNK_BITS)
#define KMT_MATCH_CLASS_MAX   ((guint32)((1ull << KMT_MATCH_CLASS_BITS) - 2))

/* No class has this word. */
#define KMT_MATCH_CLASS_NO_WORD G_MAXUINT64

typedef struct {
	guint64 call_site;
	guint64 word;
	guint64 seeded_req; /* bytes_req ^ KmtMatchClassTable.req_seed, because
			     * a lookup has no other use for bytes_req */
	guint64 bytes_alloc;
	guint32 number;
} KmtMatchClass;

/*
 * The classes are stored in chunks, which never move. The slots are an
 * open-addressing table of pointers to classes: a lookup usually reads one slot
 * and one class. The hash has random seeds.
 */
typedef struct {
	KmtMatchClass *chunks[1u << (KMT_MATCH_CLASS_BITS -
				     KMT_MATCH_CLASS_CHUNK_BITS)];
	guint32 n;
	guint64 req_seed;
	/* Private: */
	const KmtMatchClass **slots; /* array of mask + 1, a power of two; an
				      * empty slot points to a class with the
				      * word KMT_MATCH_CLASS_NO_WORD */
	guint64 mask;
	guint64 shift; /* 64 - log2 of the number of slots */
	guint64 word_seed;
	guint64 factor;		  /* odd */
	guint64 short_words[256]; /* kmt_hash() of the words below 256 */
} KmtMatchClassTable;

/* Create an empty table of classes. */
KmtMatchClassTable *kmt_match_class_table_new(void);
/* Free a table with all classes; NULL is allowed. */
void kmt_match_class_table_free(KmtMatchClassTable *table);

/* Private: kmt_match_class_table_get() for a class that is not in slot first.
 */
__attribute__((cold)) guint32
kmt_match_class_table_find_from(KmtMatchClassTable *table, guint64 first,
				guint64 word, guint64 call_site,
				guint64 seeded_req, guint64 bytes_alloc);

/*
 * Return the hash of a class; its upper bits select a slot. word_hash is
 * kmt_hash(table->word_seed, word). A file can choose all properties, but not
 * those that collide: the product depends on two seeds, and for a fixed product
 * the rest is a multiplicative hash of bytes_alloc with a random factor.
 */
static inline guint64 kmt_match_class_hash(const KmtMatchClassTable *table,
					   guint64 word_hash, guint64 call_site,
					   guint64 seeded_req,
					   guint64 bytes_alloc)
{
	return (kmt_hash_product(call_site ^ word_hash, seeded_req) +
		bytes_alloc) *
	       table->factor;
}

/*
 * Return the number of a class; add the class if it is new. word_hash is
 * table->short_words[word], or kmt_hash(table->word_seed, word) for a larger
 * word. On x86-64 a lookup takes 24 instructions if its class is in the first
 * slot, as 95 % are.
 */
static inline guint32 kmt_match_class_table_get(KmtMatchClassTable *table,
						guint64 word, guint64 word_hash,
						guint64 call_site,
						guint64 bytes_req,
						guint64 bytes_alloc)
{
	guint64 seeded_req = bytes_req ^ table->req_seed;
	guint64 first = kmt_match_class_hash(table, word_hash, call_site,
					     seeded_req, bytes_alloc) >>
			table->shift;
	const KmtMatchClass *found = table->slots[first];

	if (G_LIKELY(found->call_site == call_site) &&
	    G_LIKELY(found->word == word) &&
	    G_LIKELY(found->seeded_req == seeded_req) &&
	    G_LIKELY(found->bytes_alloc == bytes_alloc))
		return found->number;
	return kmt_match_class_table_find_from(table, first, word, call_site,
					       seeded_req, bytes_alloc);
}

/*
 * Return the class of a number that kmt_match_class_table_get() returned. The
 * pointer is valid until the table is freed.
 */
static inline const KmtMatchClass *
kmt_match_class_of_number(const KmtMatchClassTable *table, guint32 number)
{
	return &table->chunks[number >> KMT_MATCH_CLASS_CHUNK_BITS]
			     [number % KMT_MATCH_CLASS_CHUNK];
}

#endif
