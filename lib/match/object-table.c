// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/object-table.h"

/*
 * Initial number of homes in the first segment; see kmt_match_table_init().
 * match-dump-small, report-small and the fuzzers use fewer, so that segments
 * grow early.
 */
#ifndef KMT_MATCH_FIRST_HOMES
#define KMT_MATCH_FIRST_HOMES 64
#endif

/* Segments below this number of homes double; larger ones grow by half, which
 * leaves fewer places unused. */
#define DOUBLE_BELOW 2048

/* Largest number of homes in a segment, for kmt_match_table_home(). */
#define MAX_HOMES (G_MAXUINT32 >> KMT_MATCH_SEGMENT_BITS)

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

/* Give a segment n homes and no entries. */
static void segment_init(KmtMatchTable *table, guint number, guint32 n)
{
	KmtMatchSegment *s = &table->segments[number];

	s->n = n;
	s->n_used = 0;
	s->entries = g_new0(KmtMatchEntry, kmt_match_segment_places(s));
	if (table->keep_indexes)
		s->indexes = g_new(guint64, kmt_match_segment_places(s));
	table->homes[number] = (guint64)n << KMT_MATCH_SEGMENT_BITS;
	table->origins[number] = (guintptr)s->entries -
				 (guintptr)number * n * sizeof(KmtMatchEntry);
}

static void segment_clear(KmtMatchSegment *s)
{
	g_free(s->entries);
	g_free(s->indexes);
}

void kmt_match_table_init(KmtMatchTable *table, guint64 seed,
			  guint64 min_entries, gboolean keep_indexes)
{
	const guint32 n = KMT_MATCH_FIRST_HOMES;
	guint i;

	memset(table, 0, sizeof(*table));
	g_assert(!seed || seed & 1);
	table->seed = seed ? seed : kmt_hash_odd_seed();
	table->seed_inverse = inverse(table->seed);
	table->min_entries = min_entries;
	table->keep_indexes = keep_indexes;
	table->retired = g_ptr_array_new_with_free_func(g_free);
	table->evicted[KMT_INPUT_NAMESPACE_SLAB] = kmt_match_address_set_new(3);
	table->evicted[KMT_INPUT_NAMESPACE_PAGES] =
		kmt_match_address_set_new(12);
	table->evicted[KMT_INPUT_NAMESPACE_PERCPU] =
		kmt_match_address_set_new(3);
	table->evicted[KMT_INPUT_NAMESPACE_VMALLOC] =
		kmt_match_address_set_new(12);
	for (i = 0; i < KMT_MATCH_SEGMENTS; i++)
		/* Sizes from n to nearly 3n/2, so that segments grow at
		 * different times; see object-table.h. */
		segment_init(table, i, n + n * i / (2 * KMT_MATCH_SEGMENTS));
}

void kmt_match_table_clear(KmtMatchTable *table)
{
	guint i;

	for (i = 0; i < KMT_MATCH_SEGMENTS; i++)
		segment_clear(&table->segments[i]);
	g_ptr_array_unref(table->retired);
	for (i = 0; i < KMT_INPUT_N_NAMESPACES; i++)
		kmt_match_address_set_free(table->evicted[i]);
}

guint64 kmt_match_table_bytes(const KmtMatchTable *table)
{
	guint64 places = 0;
	guint i;

	for (i = 0; i < KMT_MATCH_SEGMENTS; i++)
		places += kmt_match_segment_places(&table->segments[i]);
	return places * (sizeof(KmtMatchEntry) +
			 (table->keep_indexes ? sizeof(guint64) : 0));
}

void kmt_match_table_reclaim(KmtMatchTable *table)
{
	if (table->retired->len)
		g_ptr_array_set_size(table->retired, 0);
}

/* ---- search ---- */

/* Copy an entry of a segment, with its index, to a place of the same or another
 * segment. */
static void copy_entry(const KmtMatchSegment *to_segment, KmtMatchEntry *to,
		       const KmtMatchSegment *segment, const KmtMatchEntry *e)
{
	*to = *e;
	if (segment->indexes)
		to_segment->indexes[to - to_segment->entries] =
			segment->indexes[e - segment->entries];
}

/*
 * Exchange the entry at home with the entry e, which has this home. All places
 * between the two are used, so a search still finds the entry that was at home.
 */
static void exchange(const KmtMatchSegment *s, KmtMatchEntry *home,
		     KmtMatchEntry *e)
{
	const KmtMatchEntry entry = *e;
	guint64 *a, *b, index;

	*e = *home;
	*home = entry;
	if (!s->indexes)
		return;
	a = &s->indexes[home - s->entries];
	b = &s->indexes[e - s->entries];
	index = *b;
	*b = *a;
	*a = index;
}

KmtMatchEntry *kmt_match_table_move_home(KmtMatchTable *table, guint64 hash)
{
	KmtMatchEntry *home = kmt_match_table_home(table, hash), *e;

	for (e = home; e->hash != hash; e++)
		if (!e->state)
			return e;
	if (e == home || !e->state)
		return e;
	exchange(&table->segments[kmt_match_segment_number(hash)], home, e);
	return home;
}

KmtMatchEntry *kmt_match_table_find(const KmtMatchTable *table, guint64 hash,
				    KmtInputNamespace space)
{
	KmtMatchEntry *e = kmt_match_table_home(table, hash);

	for (; e->state; e++)
		if (kmt_match_entry_is(e, hash, space))
			return e;
	return NULL;
}

/* ---- removal and growth ---- */

static gboolean may_evict(const KmtMatchEntry *e, gint64 from, gint64 to)
{
	/* A confirmed MAYBE_LIVE may explain a FREE at any later time, so its
	 * entry is never removed. */
	if (e->flags & KMT_MATCH_ENTRY_MAYBE_LIVE &&
	    !kmt_match_entry_unconfirmed(e))
		return FALSE;
	return !(e->flags & (KMT_MATCH_ENTRY_LIVE | KMT_MATCH_ENTRY_PENDING)) &&
	       e->last_ts >= from && e->last_ts < to;
}

static void remember_evicted(KmtMatchTable *table, const KmtMatchEntry *e)
{
	kmt_match_address_set_add(
		table->evicted[kmt_input_namespace_of(kmt_match_entry_type(e))],
		kmt_match_entry_address(table, e));
}

/* Copy all entries of a former segment to the one that replaces it. Return
 * FALSE if there is no place for one of them. */
static gboolean copy_all(KmtMatchTable *table, guint number,
			 const KmtMatchSegment *former)
{
	KmtMatchSegment *s = &table->segments[number];
	const KmtMatchEntry *last =
		s->entries + kmt_match_segment_places(s) - 1;
	const KmtMatchEntry *e = former->entries,
			    *end = e + kmt_match_segment_places(former);

	for (; e < end; e++) {
		KmtMatchEntry *to;

		if (!e->state)
			continue;
		for (to = kmt_match_table_home(table, e->hash); to->state;)
			to++;
		if (to == last)
			return FALSE;
		copy_entry(s, to, former, e);
		s->n_used++;
	}
	return TRUE;
}

/* Return the number of homes after n. */
static guint32 next_size(guint32 n)
{
	return n + (n < DOUBLE_BELOW ? n : n / 2);
}

/* Replace the places of a segment by those of n homes, or of more if an entry
 * has no place then. */
static void rebuild(KmtMatchTable *table, guint number, guint32 n)
{
	KmtMatchSegment *s = &table->segments[number];
	const KmtMatchSegment former = *s;
	guint32 i;

	for (;; n = next_size(n)) {
		if (n > MAX_HOMES)
			g_error("more than %u live objects", G_MAXUINT32);
		segment_init(table, number, n);
		if (copy_all(table, number, &former))
			break;
		segment_clear(s);
	}
	for (i = 0; i < kmt_match_segment_places(&former); i++)
		former.entries[i].state = 0;
	g_ptr_array_add(table->retired, former.entries);
	g_free(former.indexes);
}

/* Return the number of entries of a segment that may be removed. With remove,
 * also make their places unused; the segment must then be rebuilt. */
static guint32 evict_all(KmtMatchTable *table, const KmtMatchSegment *s,
			 gint64 from, gint64 to, gboolean remove)
{
	guint32 n = 0, i;

	for (i = 0; i < kmt_match_segment_places(s); i++) {
		KmtMatchEntry *e = &s->entries[i];

		if (!e->state || !may_evict(e, from, to))
			continue;
		n++;
		if (!remove)
			continue;
		remember_evicted(table, e);
		e->state = 0;
		table->n_entries--;
	}
	return n;
}

static gboolean is_full(const KmtMatchSegment *s)
{
	return (guint64)s->n_used * 20 >= (guint64)s->n * 17;
}

/*
 * Return whether entries of a segment are to be replaced rather than unused
 * places taken. This begins before the segment is full, because the search for
 * a replaceable entry is short and may fail.
 */
static gboolean is_nearly_full(const KmtMatchTable *table,
			       const KmtMatchSegment *s)
{
	return (guint64)s->n_used * 5 >= (guint64)s->n * 4 &&
	       table->n_entries >= table->min_entries;
}

/*
 * Make room in a segment that is full, or whose last place a search has
 * reached. If at least 3/10 of the homes are then free, removing entries
 * suffices.
 */
static void make_room(KmtMatchTable *table, guint number, gint64 evict_from,
		      gint64 evict_to)
{
	const KmtMatchSegment *s = &table->segments[number];
	const guint32 n = s->n;
	guint32 n_needed = s->n_used;

	if (table->n_entries >= table->min_entries)
		n_needed -= evict_all(table, s, evict_from, evict_to, FALSE);
	if (!is_full(s) || (guint64)n_needed * 10 >= (guint64)n * 7) {
		rebuild(table, number, next_size(n));
		return;
	}
	evict_all(table, s, evict_from, evict_to, TRUE);
	rebuild(table, number, n);
}

/*
 * Return a place for a new entry of hash, which is unused, or whose entry was
 * removed. Return NULL if the segment has no room.
 */
static KmtMatchEntry *free_place(KmtMatchTable *table, guint64 hash,
				 gint64 evict_from, gint64 evict_to)
{
	KmtMatchSegment *s = &table->segments[kmt_match_segment_number(hash)];
	KmtMatchEntry *e = kmt_match_table_home(table, hash);

	if (is_nearly_full(table, s)) {
		for (; e->state; e++) {
			if (!may_evict(e, evict_from, evict_to))
				continue;
			remember_evicted(table, e);
			return e;
		}
	}
	while (e->state)
		e++;
	if (is_full(s) || e == s->entries + kmt_match_segment_places(s) - 1)
		return NULL;
	s->n_used++;
	table->n_entries++;
	return e;
}

KmtMatchEntry *kmt_match_table_add(KmtMatchTable *table, guint64 hash,
				   guint type, gint64 evict_from,
				   gint64 evict_to)
{
	const guint number = kmt_match_segment_number(hash);
	const KmtMatchSegment *s = &table->segments[number];
	KmtMatchEntry *home, *e;

	while (!(e = free_place(table, hash, evict_from, evict_to)))
		make_room(table, number, evict_from, evict_to);
	/*
	 * Put the new entry at its home, where the next record of the address
	 * finds it at once. The former entry of that place moves to e. A search
	 * still finds the former entry, because all places up to e are used.
	 */
	home = kmt_match_table_home(table, hash);
	if (e != home)
		copy_entry(s, e, s, home);
	*home = (KmtMatchEntry){.hash = hash};
	kmt_match_entry_set_type(home, type);
	return home;
}

gboolean kmt_match_table_was_evicted(const KmtMatchTable *table,
				     const KmtMatchEntry *e)
{
	return kmt_match_address_set_contains(
		table->evicted[kmt_input_namespace_of(kmt_match_entry_type(e))],
		kmt_match_entry_address(table, e));
}
