/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that the matcher has something to remember about: the live
 * ones, and some that were closed lately.
 *
 * A hash table of 4-byte slots over 32-byte entries, which lie dense and stay
 * where they are.  At its largest that takes 48 bytes for each live address,
 * from some number of them on: a tenth more entries for closed ones, and slots
 * that are 3/5 full on average.  It is cut into segments, whose slots double at
 * another size than their neighbours', so that growing never holds more than a
 * small part of them twice, and no number of entries finds all of it just
 * grown.
 */
#ifndef KMEMTRACE_MATCH_OBJECT_TABLE_H
#define KMEMTRACE_MATCH_OBJECT_TABLE_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <kmemtrace_abi.h>

#include "lib/match/address-set.h"
#include "lib/base/hash.h"
#include "lib/input/namespace.h"

enum {
	KMT_MATCH_ENTRY_LIVE = 1 << 0,
	KMT_MATCH_ENTRY_PENDING = 1 << 1, /* records wait for a decision */
	/* What the first record of the address says about the time before it
	 * may be wrong; see surplus.c. */
	KMT_MATCH_ENTRY_MAYBE_LIVE = 1 << 2,
	KMT_MATCH_ENTRY_MAYBE_FREE = 1 << 3,
	KMT_MATCH_ENTRY_UNCONFIRMED = 1
				      << 4, /* no other CPU seen near so far */
	/* Live only if a FREE was another's, whose own may be lost. */
	KMT_MATCH_ENTRY_MAYBE_FREED = 1 << 5,
	/* Live, and its last record is not its ALLOC: save_allocation() of
	   surplus.c. */
	KMT_MATCH_ENTRY_ALLOC_SAVED = 1 << 6,
};

#define KMT_MATCH_SIDE_BITS 28

/* In other_delta_ns: no record from another CPU in memory. */
#define KMT_MATCH_DELTA_NONE G_MAXUINT32

/*
 * Besides what was allocated: when the last record of the address was, on which
 * CPU, and how long before that the last one of any other CPU was.  That is all
 * it takes to say whether a record may have been passed by one of another CPU.
 */
typedef struct {
	guint64 hash;	/* of the address and its space, which it stands for */
	gint64 last_ts; /* merged time of the last record, ns */
	guint32 class_id; /* see lib/match/keys.h */
	guint32 other_delta_ns;
	/* What the matcher keeps elsewhere; 0: nothing. */
	guint32 side : KMT_MATCH_SIDE_BITS;
	guint32 unconfirmed : 4; /* records since UNCONFIRMED was set */
	union {
		struct {
			guint16 last_file;
			guint8 flags;
			guint8 type; /* enum kmemtrace_type_id */
		};
		guint32 state; /* all three, as those of KmtMatchEvent */
	};
} KmtMatchEntry;
G_STATIC_ASSERT(sizeof(KmtMatchEntry) == 32);

/* Of no address: its flags are those of none. */
extern KmtMatchEntry kmt_match_no_entry;

/* Entries of a segment that lie together, and those that are allocated at once,
 * for any segment; the tests take few. */
#ifndef KMT_MATCH_CHUNK_BITS
#define KMT_MATCH_CHUNK_BITS 7
#endif
#ifndef KMT_MATCH_ENTRY_BLOCK_BITS
#define KMT_MATCH_ENTRY_BLOCK_BITS 13
#endif
#define KMT_MATCH_CHUNK_ENTRIES	      ((guint32)1 << KMT_MATCH_CHUNK_BITS)
#define KMT_MATCH_ENTRY_BLOCK_ENTRIES ((guint32)1 << KMT_MATCH_ENTRY_BLOCK_BITS)

/* The tests take few. */
#ifndef KMT_MATCH_SEGMENT_BITS
#define KMT_MATCH_SEGMENT_BITS 6
#endif
#define KMT_MATCH_SEGMENTS (1 << KMT_MATCH_SEGMENT_BITS)

/*
 * Slots are looked at together: 0 was never used, KMT_MATCH_SLOT_TOMBSTONE is
 * no more, others have 8 bits of the hash above the number of an entry + 1.  An
 * address goes to the first group from its own on that has room, so that it is
 * not beyond one with a slot that was never used.
 */
#define KMT_MATCH_SLOTS_PER_GROUP 8

typedef struct {
	guint32 slots[KMT_MATCH_SLOTS_PER_GROUP];
} KmtMatchSlotGroup;

typedef struct {
	KmtMatchSlotGroup
		*groups; /* each in one line of the processor's cache */
	guint32 n_groups;
	guint32 n_slots;	/* that are not 0 */
	KmtMatchEntry **chunks; /* of n_entries, n_chunks have room */
	guint32 n_entries;
	guint32 n_chunks;
	guint32 clock_hand;    /* where the search for one to forget goes on */
	guint32 evict_backoff; /* so many are added before it is tried again */
	guint32 padding[6];
} KmtMatchSegment;
G_STATIC_ASSERT(sizeof(KmtMatchSegment) == 64 || sizeof(void *) < 8);

/* Most records are of an address that had one not long ago: by the upper bits
 * of its hash its entry is found at once. */
#ifndef KMT_MATCH_ENTRY_CACHE_BITS
#define KMT_MATCH_ENTRY_CACHE_BITS 12
#endif

typedef struct {
	KmtMatchSegment segments[KMT_MATCH_SEGMENTS];
	/* Entries, whose address may be another by now, or kmt_match_no_entry.
	 */
	KmtMatchEntry *cache[1 << KMT_MATCH_ENTRY_CACHE_BITS];
	guint64 n_entries;
	guint64 n_closed;  /* of them, those that are not live */
	GPtrArray *blocks; /* of KMT_MATCH_ENTRY_BLOCK_ENTRIES entries */
	guint32 n_block;   /* of the last one, in chunks */
	KmtMatchAddressSet
		*evicted[KMT_INPUT_N_NAMESPACES]; /* what was forgotten */
	guint64 seed;				  /* of the hash */
	guint64 seed_inverse;			  /* of seed, modulo 2^64 */
	guint64 min_entries;
	gboolean keep_indexes;
} KmtMatchTable;

/* The tests take few. */
#ifndef KMT_MATCH_MIN_ENTRIES
#define KMT_MATCH_MIN_ENTRIES (1 << 17)
#endif

/*
 * seed: of the hash, odd; 0 for one that nobody knows.  keep: so many addresses
 * are remembered before any is forgotten; of a capture KMT_MATCH_MIN_ENTRIES, 4
 * MB.
 */
void kmt_match_table_init(KmtMatchTable *table, guint64 seed,
			  guint64 min_entries, gboolean keep_indexes);
void kmt_match_table_clear(KmtMatchTable *table);

/* The address of a hash. */
static inline guint64 kmt_match_table_address(const KmtMatchTable *table,
					      guint64 hash, guint type)
{
	return (hash * table->seed_inverse) ^ kmt_input_namespace_bits(type);
}

static inline guint64 kmt_match_entry_address(const KmtMatchTable *table,
					      const KmtMatchEntry *e)
{
	return kmt_match_table_address(table, e->hash, e->type);
}

#define KMT_MATCH_SLOT_NUMBER_BITS 24
#define KMT_MATCH_SLOT_NUMBER_MASK ((1u << KMT_MATCH_SLOT_NUMBER_BITS) - 1)
#define KMT_MATCH_SLOT_TOMBSTONE                                               \
	KMT_MATCH_SLOT_NUMBER_MASK /* no entry has this number */

static inline KmtMatchSegment *kmt_match_table_segment(KmtMatchTable *table,
						       guint64 hash)
{
	return &table->segments[hash >> (64 - KMT_MATCH_SEGMENT_BITS)];
}

/* From the top of a hash down: its segment, its group (21 bits at most), its
 * tag, and what is left for others. */
static inline guint32 kmt_match_segment_group(const KmtMatchSegment *s,
					      guint64 hash)
{
	return (guint32)((hash << KMT_MATCH_SEGMENT_BITS >> 32) * s->n_groups >>
			 32);
}

/* The group that is looked at after group i. */
static inline guint32 kmt_match_segment_next_group(const KmtMatchSegment *s,
						   guint32 i)
{
	return i + 1 < s->n_groups ? i + 1 : 0;
}

static inline guint32 kmt_match_hash_tag(guint64 hash)
{
	return (guint32)(hash >> 2) & ~KMT_MATCH_SLOT_NUMBER_MASK;
}

/* For what will be looked for soon: its slot, then its entry. */
static inline const KmtMatchSlotGroup *
kmt_match_table_prefetch_slot(KmtMatchTable *table, guint64 hash)
{
	const KmtMatchSegment *s = kmt_match_table_segment(table, hash);
	const KmtMatchSlotGroup *group =
		&s->groups[kmt_match_segment_group(s, hash)];

	__builtin_prefetch(group);
	return group;
}

/* Which slots of a group are equal to value under mask: a bit for each. */
static inline guint kmt_match_group_equal_slots(const KmtMatchSlotGroup *group,
						guint32 mask, guint32 value)
{
#ifdef __SSE2__
	const __m128i *halves = (const __m128i *)group->slots;
	__m128i masks = _mm_set1_epi32((int)mask);
	__m128i values = _mm_set1_epi32((int)value);
	__m128i low = _mm_cmpeq_epi32(
		_mm_and_si128(_mm_load_si128(halves), masks), values);
	__m128i high = _mm_cmpeq_epi32(
		_mm_and_si128(_mm_load_si128(halves + 1), masks), values);

	return (guint)_mm_movemask_epi8(_mm_packs_epi16(
		_mm_packs_epi32(low, high), _mm_setzero_si128()));
#else
	guint equal = 0, i;

	for (i = 0; i < KMT_MATCH_SLOTS_PER_GROUP; i++)
		equal |= (guint)((group->slots[i] & mask) == value) << i;
	return equal;
#endif
}

/* Where what may be its entry is kept from one record to the next. */
static inline KmtMatchEntry **kmt_match_table_cached_entry(KmtMatchTable *table,
							   guint64 hash)
{
	return &table->cache[hash >> (64 - KMT_MATCH_ENTRY_CACHE_BITS)];
}

/* Entry i of a segment. */
static inline KmtMatchEntry *kmt_match_segment_entry(const KmtMatchSegment *s,
						     guint32 i)
{
	return &s->chunks[i >> KMT_MATCH_CHUNK_BITS]
			 [i & (KMT_MATCH_CHUNK_ENTRIES - 1)];
}

/* Returns what may be its entry: a candidate of group, which is its own; or
 * kmt_match_no_entry. */
static inline KmtMatchEntry *
kmt_match_table_prefetch_entry(KmtMatchTable *table, guint64 hash,
			       const KmtMatchSlotGroup *group)
{
	const KmtMatchSegment *s = kmt_match_table_segment(table, hash);
	guint tagged = kmt_match_group_equal_slots(
		group, ~KMT_MATCH_SLOT_NUMBER_MASK, kmt_match_hash_tag(hash));
	guint32 i;
	KmtMatchEntry *e;

	if (G_UNLIKELY(!tagged))
		return &kmt_match_no_entry;
	i = (group->slots[__builtin_ctz(tagged)] & KMT_MATCH_SLOT_NUMBER_MASK) -
	    1;
	/* Neither one that was never used nor one that is gone. */
	if (G_UNLIKELY(i >= s->n_entries))
		return &kmt_match_no_entry;
	e = kmt_match_segment_entry(s, i);
	__builtin_prefetch(e, 1);
	return e;
}

/* The spaces may have the same hashes. */
static inline gboolean kmt_match_entry_is(const KmtMatchEntry *e, guint64 hash,
					  KmtInputNamespace space)
{
	return e->hash == hash && kmt_input_namespace_of(e->type) == space;
}

/* The entry of an address; NULL if there is none. */
static inline KmtMatchEntry *kmt_match_table_find(KmtMatchTable *table,
						  guint64 hash,
						  KmtInputNamespace space)
{
	const KmtMatchSegment *s = kmt_match_table_segment(table, hash);
	guint32 i;

	for (i = kmt_match_segment_group(s, hash);;
	     i = kmt_match_segment_next_group(s, i)) {
		const KmtMatchSlotGroup *group = &s->groups[i];
		guint tagged = kmt_match_group_equal_slots(
			group, ~KMT_MATCH_SLOT_NUMBER_MASK,
			kmt_match_hash_tag(hash));

		for (; tagged; tagged &= tagged - 1) {
			guint32 slot = group->slots[__builtin_ctz(tagged)] &
				       KMT_MATCH_SLOT_NUMBER_MASK;
			KmtMatchEntry *e;

			/* Neither one that was never used nor one that is
			 * gone. */
			if (!slot || slot == KMT_MATCH_SLOT_TOMBSTONE)
				continue;
			e = kmt_match_segment_entry(s, slot - 1);
			if (kmt_match_entry_is(e, hash, space))
				return e;
		}
		if (kmt_match_group_equal_slots(group, G_MAXUINT32, 0))
			return NULL;
	}
}

/*
 * A new entry, closed, for an address that has none.  What has room for it may
 * be that of another address, closed, without pending records, and last used
 * between evict_from and evict_to.
 */
KmtMatchEntry *kmt_match_table_add(KmtMatchTable *table, guint64 hash,
				   guint type, gint64 evict_from,
				   gint64 evict_to);

/* Was the address of this entry, which is new, seen before? */
gboolean kmt_match_table_was_evicted(const KmtMatchTable *table,
				     const KmtMatchEntry *e);

/* Where the index of the entry's ALLOC is kept; NULL without keep_indexes. */
static inline guint64 *kmt_match_table_alloc_index(const KmtMatchTable *table,
						   const KmtMatchEntry *e)
{
	const guintptr bytes =
		KMT_MATCH_ENTRY_BLOCK_ENTRIES * sizeof(KmtMatchEntry);
	guintptr block = (guintptr)e & ~(bytes - 1);

	/* They are behind the entries of its block. */
	return table->keep_indexes ? (guint64 *)(block + bytes) +
					     ((guintptr)e - block) / sizeof(*e)
				   : NULL;
}

#endif
