/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash table of addresses: all live addresses, and the closed addresses
 * (without a live object) until their entries are removed.
 *
 * The table has 4-byte slots that refer to dense 32-byte entries, which never
 * move. The size of a large table is usually at most 48 bytes per live address,
 * without keep_indexes: about a tenth more entries for closed addresses, and
 * slots that are 3/5 full on average. The table is divided into segments whose
 * slots double at different sizes. Growth therefore copies only a small part of
 * the table at a time, and the segments are never all half empty at once.
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
	/* Records of the address are pending. */
	KMT_MATCH_ENTRY_PENDING = 1 << 1,
	/* The state before the first record of the address was guessed, and the
	 * guess may be wrong: the address may have been live before a first
	 * ALLOC, or free before a first FREE; see ambiguous.c. */
	KMT_MATCH_ENTRY_MAYBE_LIVE = 1 << 2,
	KMT_MATCH_ENTRY_MAYBE_FREE = 1 << 3,
	/* The state of MAYBE_LIVE or MAYBE_FREE is possible only if another CPU
	 * used the address within the clock tolerance, and no record has shown
	 * that yet. */
	KMT_MATCH_ENTRY_UNCONFIRMED = 1 << 4,
	/* The object is live unless a FREE that was attributed to another
	 * object freed it. */
	KMT_MATCH_ENTRY_MAYBE_FREED = 1 << 5,
	/*
	 * The object is live, and the last ALLOC or FREE of the address is not
	 * its ALLOC; see save_allocation() in ambiguous.c.
	 */
	KMT_MATCH_ENTRY_ALLOC_SAVED = 1 << 6,
	/* The object is live and deferred; its side entry has the DEFER. */
	KMT_MATCH_ENTRY_DEFERRED = 1 << 7,
};

#define KMT_MATCH_SIDE_BITS 28

/* Value of other_delta_ns: no other CPU has used the address recently. */
#define KMT_MATCH_DELTA_NONE G_MAXUINT32

/*
 * The state of an address. Besides the allocation class of the object, an entry
 * has the time and CPU of the address's last ALLOC or FREE, and the time from
 * the last use of the address by another CPU to that record. These suffice to
 * decide whether skewed clocks may have changed the order of two records.
 */
typedef struct {
	guint64 hash;	  /* hash of the address and its namespace; hash and
			   * type determine both, so the address is not stored:
			   * see kmt_match_entry_address() */
	gint64 last_ts;	  /* merged time of the last ALLOC or FREE in ns */
	guint32 class_id; /* allocation class; see lib/match/keys.h */
	/* last_ts less the time of the last ALLOC or FREE on another CPU than
	 * that of last_file; KMT_MATCH_DELTA_NONE if above the tolerance */
	guint32 other_delta_ns;
	/* index + 1 of the side entry; 0: none */
	guint32 side : KMT_MATCH_SIDE_BITS;
	guint32 unconfirmed : 4; /* number of records since UNCONFIRMED was set
				  */
	union {
		struct {
			guint16 last_file;
			guint8 flags;
			guint8 type; /* enum kmemtrace_type_id */
		};
		guint32 state; /* all three fields, laid out as in KmtMatchEvent
				*/
	};
} KmtMatchEntry;
G_STATIC_ASSERT(sizeof(KmtMatchEntry) == 32);

/* An entry that belongs to no address and whose flags match no event. */
extern KmtMatchEntry kmt_match_no_entry;

/*
 * log2 of the number of entries in a chunk and in a block. A chunk belongs to
 * one segment. A block is allocated at once and is divided into chunks for all
 * segments. match-dump-small, report-small and the fuzzers use smaller values.
 */
#ifndef KMT_MATCH_CHUNK_BITS
#define KMT_MATCH_CHUNK_BITS 7
#endif
#ifndef KMT_MATCH_ENTRY_BLOCK_BITS
#define KMT_MATCH_ENTRY_BLOCK_BITS 13
#endif
#define KMT_MATCH_CHUNK_ENTRIES	      ((guint32)1 << KMT_MATCH_CHUNK_BITS)
#define KMT_MATCH_ENTRY_BLOCK_ENTRIES ((guint32)1 << KMT_MATCH_ENTRY_BLOCK_BITS)

/* log2 of the number of segments. The fuzzers use fewer segments. */
#ifndef KMT_MATCH_SEGMENT_BITS
#define KMT_MATCH_SEGMENT_BITS 6
#endif
#define KMT_MATCH_SEGMENTS (1 << KMT_MATCH_SEGMENT_BITS)

/*
 * Slots are compared in groups of eight. The value 0 marks an unused slot,
 * KMT_MATCH_SLOT_TOMBSTONE the slot of a removed entry. Every other slot has
 * the index + 1 of an entry in its lower 24 bits, and a tag, 8 bits of the
 * entry's hash, in its upper 8 bits. A search starts at the group of the hash
 * and ends at the first group with an unused slot, because an address is
 * inserted into the first group that has room.
 */
#define KMT_MATCH_SLOTS_PER_GROUP 8

typedef struct {
	guint32 slots[KMT_MATCH_SLOTS_PER_GROUP];
} KmtMatchSlotGroup;

typedef struct {
	KmtMatchSlotGroup *groups; /* each in one cache line */
	guint32 n_groups;
	guint32 n_slots;	/* slots that are not 0 */
	KmtMatchEntry **chunks; /* chunks of the segment's entries; the array
				 * has room for n_chunks */
	guint32 n_entries;
	guint32 n_chunks;
	guint32 clock_hand;    /* index at which the search for an entry to
				* remove continues */
	guint32 evict_backoff; /* entries to add before the next search for an
				* entry to remove */
	guint32 padding[6];
} KmtMatchSegment;
G_STATIC_ASSERT(sizeof(KmtMatchSegment) == 64 || sizeof(void *) < 8);

/* log2 of the slots in the entry cache. Most records concern a recently used
 * address; the cache finds the entry of such an address by the upper bits of
 * the hash. */
#ifndef KMT_MATCH_ENTRY_CACHE_BITS
#define KMT_MATCH_ENTRY_CACHE_BITS 12
#endif

typedef struct {
	KmtMatchSegment segments[KMT_MATCH_SEGMENTS];
	/* Cached entries, each of which may belong to another address by now;
	 * or kmt_match_no_entry. */
	KmtMatchEntry *cache[1 << KMT_MATCH_ENTRY_CACHE_BITS];
	guint64 n_entries;
	guint64 n_closed;  /* entries that are not live */
	GPtrArray *blocks; /* blocks of KMT_MATCH_ENTRY_BLOCK_ENTRIES entries */
	guint32 n_block;   /* chunks used in the last block */
	KmtMatchAddressSet
		*evicted[KMT_INPUT_N_NAMESPACES]; /* addresses whose entries
						   * were removed, for each
						   * namespace */
	guint64 seed;				  /* hash seed */
	guint64 seed_inverse; /* inverse of seed modulo 2^64 */
	guint64 min_entries;  /* number of entries of this table below which no
			       * entry is removed */
	gboolean keep_indexes;
} KmtMatchTable;

/*
 * Number of entries, for all shards of a capture together, below which no entry
 * is removed. match-dump-small, report-small and the fuzzers use a smaller
 * value, so that entries are removed early.
 */
#ifndef KMT_MATCH_MIN_ENTRIES
#define KMT_MATCH_MIN_ENTRIES (1 << 17)
#endif

/*
 * Initialise a table. seed is the odd hash seed; 0 selects a random one. No
 * entry is removed while the table has fewer than min_entries entries; the
 * tables of all shards of a capture have KMT_MATCH_MIN_ENTRIES (4 MB) together.
 * keep_indexes reserves 8 bytes per entry for the index of an ALLOC record.
 */
void kmt_match_table_init(KmtMatchTable *table, guint64 seed,
			  guint64 min_entries, gboolean keep_indexes);
void kmt_match_table_clear(KmtMatchTable *table);

/* Return the address that has this hash in the namespace of type. */
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
	KMT_MATCH_SLOT_NUMBER_MASK /* no entry has this index + 1 */

static inline KmtMatchSegment *kmt_match_table_segment(KmtMatchTable *table,
						       guint64 hash)
{
	return &table->segments[hash >> (64 - KMT_MATCH_SEGMENT_BITS)];
}

/*
 * The bits of a hash are used from the top: segment, group (at most 23 bits),
 * tag; the rest is left for other users, such as the choice of the shard.
 */
static inline guint32 kmt_match_segment_group(const KmtMatchSegment *s,
					      guint64 hash)
{
	return (guint32)((hash << KMT_MATCH_SEGMENT_BITS >> 32) * s->n_groups >>
			 32);
}

/* Return the group that a search examines after group i. */
static inline guint32 kmt_match_segment_next_group(const KmtMatchSegment *s,
						   guint32 i)
{
	return i + 1 < s->n_groups ? i + 1 : 0;
}

static inline guint32 kmt_match_hash_tag(guint64 hash)
{
	return (guint32)(hash >> 2) & ~KMT_MATCH_SLOT_NUMBER_MASK;
}

/*
 * Prefetch the slot group of a hash that will be looked up soon.
 * kmt_match_table_prefetch_entry() then prefetches the entry.
 */
static inline const KmtMatchSlotGroup *
kmt_match_table_prefetch_slot(KmtMatchTable *table, guint64 hash)
{
	const KmtMatchSegment *s = kmt_match_table_segment(table, hash);
	const KmtMatchSlotGroup *group =
		&s->groups[kmt_match_segment_group(s, hash)];

	__builtin_prefetch(group);
	return group;
}

/*
 * Compare the slots of a group with value under mask; return a bit for each
 * equal slot.
 */
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

/* Return the slot of the entry cache for a hash. */
static inline KmtMatchEntry **kmt_match_table_cached_entry(KmtMatchTable *table,
							   guint64 hash)
{
	return &table->cache[hash >> (64 - KMT_MATCH_ENTRY_CACHE_BITS)];
}

/* Return entry i of a segment. */
static inline KmtMatchEntry *kmt_match_segment_entry(const KmtMatchSegment *s,
						     guint32 i)
{
	return &s->chunks[i >> KMT_MATCH_CHUNK_BITS]
			 [i & (KMT_MATCH_CHUNK_ENTRIES - 1)];
}

/* Prefetch and return the entry that probably belongs to the hash: the first
 * slot of group with the tag of the hash. Return kmt_match_no_entry if there is
 * none. group is the result of kmt_match_table_prefetch_slot(). */
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
	/* The slot is unused or a tombstone. */
	if (G_UNLIKELY(i >= s->n_entries))
		return &kmt_match_no_entry;
	e = kmt_match_segment_entry(s, i);
	__builtin_prefetch(e, 1);
	return e;
}

/*
 * Return whether an entry belongs to a hash and namespace. Two addresses of
 * different namespaces may have equal hashes.
 */
static inline gboolean kmt_match_entry_is(const KmtMatchEntry *e, guint64 hash,
					  KmtInputNamespace space)
{
	return e->hash == hash && kmt_input_namespace_of(e->type) == space;
}

/* Return the entry of an address, or NULL if there is none. */
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

			/* The slot is unused or a tombstone. */
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
 * Add a closed entry for an address that has none. The new entry may replace an
 * entry that is closed and has no pending records, if the merged time of the
 * last record of that entry is at least evict_from and less than evict_to, and
 * if that entry does not have KMT_MATCH_ENTRY_MAYBE_LIVE without
 * KMT_MATCH_ENTRY_UNCONFIRMED.
 */
KmtMatchEntry *kmt_match_table_add(KmtMatchTable *table, guint64 hash,
				   guint type, gint64 evict_from,
				   gint64 evict_to);

/*
 * Return whether an earlier entry of the same address was removed. e is a new
 * entry.
 */
gboolean kmt_match_table_was_evicted(const KmtMatchTable *table,
				     const KmtMatchEntry *e);

/*
 * Return a pointer to the index of the entry's ALLOC record in its file; NULL
 * without keep_indexes.
 */
static inline guint64 *kmt_match_table_alloc_index(const KmtMatchTable *table,
						   const KmtMatchEntry *e)
{
	const guintptr bytes =
		KMT_MATCH_ENTRY_BLOCK_ENTRIES * sizeof(KmtMatchEntry);
	guintptr block = (guintptr)e & ~(bytes - 1);

	/* The indexes follow the entries of the block. */
	return table->keep_indexes ? (guint64 *)(block + bytes) +
					     ((guintptr)e - block) / sizeof(*e)
				   : NULL;
}

#endif
