// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/object-table.h"

/*
 * Initial number of groups in the first segment of a small table; see
 * kmt_match_table_init(). match-dump-small, report-small and the fuzzers use
 * fewer, so that groups become full and segments grow early.
 */
#ifndef KMT_MATCH_FIRST_GROUPS
#define KMT_MATCH_FIRST_GROUPS 32
#endif

/* A table with at least this value of min_entries starts with more groups. */
#define MORE_GROUPS_FROM (1u << 16)

/*
 * Number of entries that a search for a removable entry examines. If none of
 * them is removable, the next search in the segment starts only after the same
 * number of entries has been added to the segment.
 */
#define MAX_EVICT_SEARCH 64

KmtMatchEntry kmt_match_no_entry = {.flags = G_MAXUINT8};

static void new_groups(KmtMatchSegment *s, guint32 n)
{
	s->groups = g_aligned_alloc0(n, sizeof(KmtMatchSlotGroup),
				     sizeof(KmtMatchSlotGroup));
	s->n_groups = n;
	s->n_slots = 0;
}

/*
 * Return the inverse of odd modulo 2^64, by Newton's iteration. Each step
 * doubles the number of correct lower bits, which is 3 at the start.
 */
static guint64 inverse(guint64 odd)
{
	guint64 x = odd;
	guint i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

void kmt_match_table_init(KmtMatchTable *table, guint64 seed,
			  guint64 min_entries, gboolean keep_indexes)
{
	guint32 n = KMT_MATCH_FIRST_GROUPS, i;

	memset(table, 0, sizeof(*table));
	g_assert(!seed || seed & 1);
	table->seed = seed ? seed : kmt_hash_odd_seed();
	table->seed_inverse = inverse(table->seed);
	table->min_entries = min_entries;
	/* Start with four times as many groups. A large table then reaches the
	 * same sizes with fewer doublings. */
	if (min_entries >= MORE_GROUPS_FROM)
		n *= 4;
	table->keep_indexes = keep_indexes;
	table->blocks = g_ptr_array_new_with_free_func(g_aligned_free);
	for (i = 0; i < G_N_ELEMENTS(table->cache); i++)
		table->cache[i] = &kmt_match_no_entry;
	table->evicted[KMT_INPUT_NAMESPACE_SLAB] = kmt_match_address_set_new(3);
	table->evicted[KMT_INPUT_NAMESPACE_PAGES] =
		kmt_match_address_set_new(12);
	table->evicted[KMT_INPUT_NAMESPACE_PERCPU] =
		kmt_match_address_set_new(3);
	table->evicted[KMT_INPUT_NAMESPACE_VMALLOC] =
		kmt_match_address_set_new(12);
	for (i = 0; i < KMT_MATCH_SEGMENTS; i++)
		/* Sizes from n to nearly 2n, so that segments double at
		 * different times; see object-table.h. */
		new_groups(&table->segments[i], n + n * i / KMT_MATCH_SEGMENTS);
}

void kmt_match_table_clear(KmtMatchTable *table)
{
	guint i;

	for (i = 0; i < KMT_MATCH_SEGMENTS; i++) {
		g_aligned_free(table->segments[i].groups);
		g_free(table->segments[i].chunks);
	}
	g_ptr_array_unref(table->blocks);
	for (i = 0; i < KMT_INPUT_N_NAMESPACES; i++)
		kmt_match_address_set_free(table->evicted[i]);
}

static void put_slot(KmtMatchSegment *s, guint64 hash, guint32 number)
{
	guint32 i = kmt_match_segment_group(s, hash);
	guint unused, gone;
	guint32 *slot;

	for (;; i = kmt_match_segment_next_group(s, i)) {
		unused = kmt_match_group_equal_slots(&s->groups[i], G_MAXUINT32,
						     0);
		gone = kmt_match_group_equal_slots(&s->groups[i], G_MAXUINT32,
						   KMT_MATCH_SLOT_TOMBSTONE);
		if (unused | gone)
			break;
	}
	slot = &s->groups[i].slots[__builtin_ctz(gone ? gone : unused)];
	s->n_slots += *slot == 0;
	*slot = kmt_match_hash_tag(hash) | (number + 1);
}

static void remove_slot(KmtMatchSegment *s, guint64 hash, guint32 number)
{
	guint32 i = kmt_match_segment_group(s, hash);
	guint found;
	guint32 *slot;

	while (!(found = kmt_match_group_equal_slots(&s->groups[i], G_MAXUINT32,
						     kmt_match_hash_tag(hash) |
							     (number + 1))))
		i = kmt_match_segment_next_group(s, i);
	slot = &s->groups[i].slots[__builtin_ctz(found)];
	/* If the group has an unused slot, no search continues beyond the
	 * group, so the slot of the removed entry can become unused. */
	if (kmt_match_group_equal_slots(&s->groups[i], G_MAXUINT32, 0)) {
		*slot = 0;
		s->n_slots--;
	} else {
		*slot = KMT_MATCH_SLOT_TOMBSTONE;
	}
}

/* Grow the slots so that at most 4/5 are in use, including tombstones. */
static void reserve_slots(KmtMatchSegment *s)
{
	guint32 i, n = s->n_groups;

	if (((guint64)s->n_slots + 1) * 5 <=
	    (guint64)n * KMT_MATCH_SLOTS_PER_GROUP * 4)
		return;
	/* If enough slots are tombstones, rehashing at the same size suffices.
	 */
	while (((guint64)s->n_entries + 1) * 10 >
	       (guint64)n * KMT_MATCH_SLOTS_PER_GROUP * 7)
		n *= 2;
	g_aligned_free(s->groups);
	new_groups(s, n);
	for (i = 0; i < s->n_entries; i++)
		put_slot(s, kmt_match_segment_entry(s, i)->hash, i);
}

/*
 * Allocate a chunk of entries. A block is large, but the kernel provides its
 * pages only when they are used.
 */
static KmtMatchEntry *new_chunk(KmtMatchTable *table)
{
	const guint32 chunks =
		KMT_MATCH_ENTRY_BLOCK_ENTRIES / KMT_MATCH_CHUNK_ENTRIES;
	const gsize bytes =
		KMT_MATCH_ENTRY_BLOCK_ENTRIES * sizeof(KmtMatchEntry);
	gsize more = table->keep_indexes
			     ? KMT_MATCH_ENTRY_BLOCK_ENTRIES * sizeof(guint64)
			     : 0;
	KmtMatchEntry *block;

	if (!table->blocks->len || table->n_block == chunks) {
		/* With keep_indexes, align the block so that an entry's address
		 * gives its block. */
		g_ptr_array_add(
			table->blocks,
			g_aligned_alloc(1, bytes + more,
					more ? bytes
					     : sizeof(KmtMatchSlotGroup)));
		table->n_block = 0;
	}
	block = table->blocks->pdata[table->blocks->len - 1];
	return block + KMT_MATCH_CHUNK_ENTRIES * table->n_block++;
}

static KmtMatchEntry *add_entry(KmtMatchTable *table, KmtMatchSegment *s)
{
	guint32 i = s->n_entries++;
	guint32 chunk = i >> KMT_MATCH_CHUNK_BITS;

	if (i >= KMT_MATCH_SLOT_NUMBER_MASK - 1)
		g_error("more than %u live objects",
			KMT_MATCH_SLOT_NUMBER_MASK * KMT_MATCH_SEGMENTS);
	if (chunk == s->n_chunks) {
		s->n_chunks = MAX(8, 2 * s->n_chunks);
		s->chunks = g_renew(KmtMatchEntry *, s->chunks, s->n_chunks);
	}
	if (i % KMT_MATCH_CHUNK_ENTRIES == 0)
		s->chunks[chunk] = new_chunk(table);
	table->n_entries++;
	table->n_closed++;
	return kmt_match_segment_entry(s, i);
}

static gboolean may_evict(const KmtMatchEntry *e, gint64 from, gint64 to)
{
	/* A confirmed MAYBE_LIVE, one without UNCONFIRMED, may explain a FREE
	 * at any later time, so its entry is never removed. */
	if ((e->flags &
	     (KMT_MATCH_ENTRY_MAYBE_LIVE | KMT_MATCH_ENTRY_UNCONFIRMED)) ==
	    KMT_MATCH_ENTRY_MAYBE_LIVE)
		return FALSE;
	return !(e->flags & (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_PENDING)) &&
	       e->last_ts >= from && e->last_ts < to;
}

/*
 * Find the next entry that may be removed, clear its slot, and return it.
 * Return NULL if none of the next MAX_EVICT_SEARCH entries may be removed.
 */
static KmtMatchEntry *evict_one(KmtMatchTable *table, KmtMatchSegment *s,
				gint64 from, gint64 to)
{
	guint n;

	for (n = 0; n < MAX_EVICT_SEARCH; n++) {
		KmtMatchEntry *e;

		if (s->clock_hand >= s->n_entries)
			s->clock_hand = 0;
		e = kmt_match_segment_entry(s, s->clock_hand++);
		if (!may_evict(e, from, to))
			continue;
		kmt_match_address_set_add(
			table->evicted[kmt_input_namespace_of(e->type)],
			kmt_match_entry_address(table, e));
		remove_slot(s, e->hash, s->clock_hand - 1);
		return e;
	}
	s->evict_backoff = MAX_EVICT_SEARCH;
	return NULL;
}

KmtMatchEntry *kmt_match_table_add(KmtMatchTable *table, guint64 hash,
				   guint type, gint64 evict_from,
				   gint64 evict_to)
{
	KmtMatchSegment *s = kmt_match_table_segment(table, hash);
	KmtMatchEntry *e = NULL;
	guint32 number;

	reserve_slots(s);
	if (s->evict_backoff)
		s->evict_backoff--;
	else if (s->n_entries && table->n_closed &&
		 table->n_entries >= table->min_entries &&
		 table->n_closed >= (table->n_entries - table->n_closed) / 10)
		e = evict_one(table, s, evict_from, evict_to);
	/* The removed entry is the one before the clock hand. */
	number = e ? s->clock_hand - 1 : s->n_entries;
	if (!e)
		e = add_entry(table, s);
	put_slot(s, hash, number);
	memset(e, 0, sizeof(*e));
	e->hash = hash;
	e->type = type;
	e->other_delta_ns = KMT_MATCH_DELTA_NONE;
	return e;
}

gboolean kmt_match_table_was_evicted(const KmtMatchTable *table,
				     const KmtMatchEntry *e)
{
	return kmt_match_address_set_contains(
		table->evicted[kmt_input_namespace_of(e->type)],
		kmt_match_entry_address(table, e));
}
