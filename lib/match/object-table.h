/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash table of addresses: all live addresses, and the closed addresses
 * (without a live object) until their entries are removed.
 *
 * The table has 24-byte entries and open addressing. A search for an address
 * starts at its home, a place that the hash gives, and ends at the first unused
 * place. An entry is removed only by another that takes its place, or when all
 * entries are placed anew, so no search meets a gap. The size of a large table
 * is on average at most 48 bytes per live address, without keep_indexes: when
 * the table is 17/20 full, closed entries are removed, or the table grows by
 * half.
 *
 * The order of the homes is that of the hashes, so a table grows in place: each
 * entry moves only towards the end. Copying the entries to other memory would
 * touch three times as many pages in total as growth in place, and page faults
 * took a quarter of the time of a report on a virtual machine.
 *
 * Entries move. A pointer to an entry is valid until the next call of
 * kmt_match_table_at() or kmt_match_table_add().
 */
#ifndef KMEMTRACE_MATCH_OBJECT_TABLE_H
#define KMEMTRACE_MATCH_OBJECT_TABLE_H

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
	/* The object is live unless a FREE that was attributed to another
	 * object freed it. */
	KMT_MATCH_ENTRY_MAYBE_FREED = 1 << 4,
	/*
	 * The object is live, and the last ALLOC or FREE of the address is not
	 * its ALLOC; see save_allocation() in ambiguous.c.
	 */
	KMT_MATCH_ENTRY_ALLOC_SAVED = 1 << 5,
	/* The object is live and deferred; its side entry has the DEFER. */
	KMT_MATCH_ENTRY_DEFERRED = 1 << 6,

	/* With MAYBE_LIVE or MAYBE_FREE: another CPU may have used the address
	 * within the clock tolerance. Without this flag, cross-uses.h has no
	 * time of such an address. */
	KMT_MATCH_ENTRY_CROSSED = 1 << 7,

	/* An entry with one of these flags has a side entry. */
	KMT_MATCH_ENTRY_SIDE = KMT_MATCH_ENTRY_PENDING |
			       KMT_MATCH_ENTRY_ALLOC_SAVED |
			       KMT_MATCH_ENTRY_DEFERRED,
};

/*
 * The state of an address. Besides the allocation class of the object, an entry
 * has the time and CPU of the address's last ALLOC or FREE. This and
 * cross-uses.h suffice to decide whether skewed clocks may have changed the
 * order of two records.
 */
typedef struct {
	guint64 hash;	/* hash of the address and its namespace; hash and type
			 * determine both, so the address is not stored: see
			 * kmt_match_entry_address() */
	gint64 last_ts; /* merged time of the last ALLOC or FREE in ns */
	union {
		guint32 class_id; /* allocation class; see lib/match/keys.h */
		guint32 side;	  /* with KMT_MATCH_ENTRY_SIDE instead: index
				   * of the side entry, which has the class */
	};
	union {
		struct {
			guint16 last_file;
			guint8 flags;
			guint8 kind; /* lower half: type + 1; upper half: see
				      * kmt_match_entry_unconfirmed() */
		};
		guint32 state; /* all three fields, laid out as in
				* KmtMatchEvent; 0: the place is unused */
	};
} KmtMatchEntry;
G_STATIC_ASSERT(sizeof(KmtMatchEntry) == 24);
G_STATIC_ASSERT(KMEMTRACE_TYPE_VMALLOC + 1 < 16);

/* Return the enum kmemtrace_type_id of an entry. */
static inline guint8 kmt_match_entry_type(const KmtMatchEntry *e)
{
	return (guint8)((e->kind & 15) - 1);
}

static inline void kmt_match_entry_set_type(KmtMatchEntry *e, guint type)
{
	e->kind = (guint8)((e->kind & 0xf0) | (type + 1));
}

/*
 * Return 0 if the guess about the time before the first record is confirmed or
 * certain. Otherwise the state of MAYBE_LIVE or MAYBE_FREE is possible only if
 * another CPU used the address within the clock tolerance, and no record has
 * shown that yet; the result is then the number of records since that state,
 * plus 1.
 */
static inline guint kmt_match_entry_unconfirmed(const KmtMatchEntry *e)
{
	return e->kind >> 4;
}

static inline void kmt_match_entry_set_unconfirmed(KmtMatchEntry *e, guint n)
{
	e->kind = (guint8)((e->kind & 15) | n << 4);
}

/*
 * A table has n homes and a few more places, for entries whose homes are near
 * the end. The last place is never used, so a search needs no other limit.
 */
typedef struct {
	KmtMatchEntry *entries;
	guint64 *indexes; /* with keep_indexes: for each place, the index of the
			   * ALLOC record */
	guint64 n;	  /* number of homes, below 2^32 */
	guint64 n_entries;
	guint64 limit; /* below this number of entries, an unused place is all
			* that a new entry without an index needs */
	guint64 n_evicted; /* number of entries that were removed */
	gboolean moved;	   /* set when the entries move to other memory, which
			    * makes results of kmt_match_table_prefetch() invalid;
			    * a caller that keeps such results resets the flag */
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
 * tables of all shards of a capture have KMT_MATCH_MIN_ENTRIES (3 MB) together.
 * keep_indexes reserves 8 bytes per entry for the index of an ALLOC record.
 */
void kmt_match_table_init(KmtMatchTable *table, guint64 seed,
			  guint64 min_entries, gboolean keep_indexes);
void kmt_match_table_clear(KmtMatchTable *table);

/* Return the size of the table in bytes, without the sets of addresses. */
guint64 kmt_match_table_bytes(const KmtMatchTable *table);

/* Return the address that has this hash in the namespace of type. */
static inline guint64 kmt_match_table_address(const KmtMatchTable *table,
					      guint64 hash, guint type)
{
	return (hash * table->seed_inverse) ^ kmt_input_namespace_bits(type);
}

static inline guint64 kmt_match_entry_address(const KmtMatchTable *table,
					      const KmtMatchEntry *e)
{
	return kmt_match_table_address(table, e->hash, kmt_match_entry_type(e));
}

/* Return the number of places. */
static inline guint64 kmt_match_table_places(const KmtMatchTable *table)
{
	return table->n + table->n / 64 + 16;
}

/*
 * Return the home of a hash. Only the upper 32 bits of the hash are used; the
 * rest is left for other users, such as the choice of the shard.
 */
static inline KmtMatchEntry *kmt_match_table_home(const KmtMatchTable *table,
						  guint64 hash)
{
	return table->entries + ((hash >> 32) * table->n >> 32);
}

/*
 * Prefetch and return the home of a hash that will be looked up soon by
 * kmt_match_table_at(). The result is valid until table->moved is set.
 */
static inline KmtMatchEntry *
kmt_match_table_prefetch(const KmtMatchTable *table, guint64 hash)
{
	KmtMatchEntry *home = kmt_match_table_home(table, hash);

	/* An entry may be in two cache lines. The second address is nearly
	 * always in the line of its end, or of the next entry. */
	__builtin_prefetch(home, 1);
	__builtin_prefetch((const char *)home + sizeof(*home) - 1, 1);
	return home;
}

/*
 * Return the entry of hash, and move it to its home, which is faster for the
 * next record of the address. Return an entry with state 0 if there is none.
 */
KmtMatchEntry *kmt_match_table_move_home(KmtMatchTable *table, guint64 hash);

/*
 * Return the entry of hash in any namespace, or an entry that
 * kmt_match_fast_path() refuses, such as one with state 0. home is the result
 * of kmt_match_table_prefetch() for the hash.
 */
static inline KmtMatchEntry *
kmt_match_table_at(KmtMatchTable *table, KmtMatchEntry *home, guint64 hash)
{
	if (G_LIKELY(home->hash == hash))
		return home;
	return kmt_match_table_move_home(table, hash);
}

/*
 * Return whether an entry belongs to a hash and namespace. Two addresses of
 * different namespaces may have equal hashes.
 */
static inline gboolean kmt_match_entry_is(const KmtMatchEntry *e, guint64 hash,
					  KmtInputNamespace space)
{
	return e->hash == hash && e->state &&
	       kmt_input_namespace_of(kmt_match_entry_type(e)) == space;
}

/* Return the entry of an address, or NULL if there is none. No entry moves. */
KmtMatchEntry *kmt_match_table_find(const KmtMatchTable *table, guint64 hash,
				    KmtInputNamespace space);

/*
 * Add a closed entry for an address that has none. The new entry may replace an
 * entry that is closed and has no pending records, if the merged time of the
 * last record of that entry is at least evict_from and less than evict_to, and
 * if that entry does not have KMT_MATCH_ENTRY_MAYBE_LIVE confirmed.
 */
KmtMatchEntry *kmt_match_table_add(KmtMatchTable *table, guint64 hash,
				   guint type, gint64 evict_from,
				   gint64 evict_to);

/*
 * kmt_match_table_add() for the usual case that the table has room; otherwise
 * return NULL. unused is the result of kmt_match_table_at() for the hash: the
 * unused place where the search has ended. An eighth of the records of a short
 * capture are the first ones of their address. The caller sets the type.
 */
static inline KmtMatchEntry *kmt_match_table_add_at(KmtMatchTable *table,
						    guint64 hash,
						    KmtMatchEntry *unused)
{
	KmtMatchEntry *home = kmt_match_table_home(table, hash);

	if (table->n_entries >= table->limit ||
	    unused == table->entries + kmt_match_table_places(table) - 1)
		return NULL;
	table->n_entries++;
	*unused = *home;
	*home = (KmtMatchEntry){.hash = hash};
	return home;
}

/* Private: kmt_match_table_was_evicted() for a table with removed entries. */
gboolean kmt_match_table_has_evicted(const KmtMatchTable *table,
				     const KmtMatchEntry *e);

/*
 * Return whether an earlier entry of the same address was removed. e is a new
 * entry. Most tables never remove an entry, and need no search.
 */
static inline gboolean kmt_match_table_was_evicted(const KmtMatchTable *table,
						   const KmtMatchEntry *e)
{
	return G_UNLIKELY(table->n_evicted) &&
	       kmt_match_table_has_evicted(table, e);
}

/*
 * Return a pointer to the index of the entry's ALLOC record in its file; NULL
 * without keep_indexes.
 */
static inline guint64 *kmt_match_table_alloc_index(const KmtMatchTable *table,
						   const KmtMatchEntry *e)
{
	return table->indexes ? table->indexes + (e - table->entries) : NULL;
}

#endif
