// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/object-table.h"

/*
 * Initial number of homes. match-dump-small, report-small and the fuzzers use
 * fewer, so that the table grows early.
 */
#ifndef KMT_MATCH_FIRST_HOMES
#define KMT_MATCH_FIRST_HOMES 4096
#endif

/* Tables below this number of homes double; larger ones grow by half, which
 * leaves fewer places unused. */
#define DOUBLE_BELOW 131072

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

static gboolean is_full(const KmtMatchTable *table)
{
	return table->n_entries * 20 >= table->n * 17;
}

/*
 * Return whether entries are to be replaced rather than unused places taken.
 * This begins before the table is full, because the search for a replaceable
 * entry is short and may fail.
 */
static gboolean is_nearly_full(const KmtMatchTable *table)
{
	return table->n_entries * 5 >= table->n * 4 &&
	       table->n_entries >= table->min_entries;
}

/* Set table->limit for the number of homes. */
static void set_limit(KmtMatchTable *table)
{
	const guint64 nearly_full = table->n * 4 / 5;

	table->limit =
		MIN(table->n * 17 / 20, MAX(nearly_full, table->min_entries));
	if (table->keep_indexes)
		table->limit = 0;
}

void kmt_match_table_init(KmtMatchTable *table, guint64 seed,
			  guint64 min_entries, gboolean keep_indexes)
{
	memset(table, 0, sizeof(*table));
	g_assert(!seed || seed & 1);
	table->seed = seed ? seed : kmt_hash_odd_seed();
	table->seed_inverse = inverse(table->seed);
	table->min_entries = min_entries;
	table->keep_indexes = keep_indexes;
	table->n = KMT_MATCH_FIRST_HOMES;
	table->entries = g_new0(KmtMatchEntry, kmt_match_table_places(table));
	if (keep_indexes)
		table->indexes = g_new(guint64, kmt_match_table_places(table));
	set_limit(table);
	table->evicted[KMT_INPUT_NAMESPACE_SLAB] = kmt_match_address_set_new(3);
	table->evicted[KMT_INPUT_NAMESPACE_PAGES] =
		kmt_match_address_set_new(12);
	table->evicted[KMT_INPUT_NAMESPACE_PERCPU] =
		kmt_match_address_set_new(3);
	table->evicted[KMT_INPUT_NAMESPACE_VMALLOC] =
		kmt_match_address_set_new(12);
}

void kmt_match_table_clear(KmtMatchTable *table)
{
	guint i;

	g_free(table->entries);
	g_free(table->indexes);
	for (i = 0; i < KMT_INPUT_N_NAMESPACES; i++)
		kmt_match_address_set_free(table->evicted[i]);
}

guint64 kmt_match_table_bytes(const KmtMatchTable *table)
{
	return kmt_match_table_places(table) *
	       (sizeof(KmtMatchEntry) + (table->indexes ? sizeof(guint64) : 0));
}

/* ---- search ---- */

/* Copy an entry, with its index, to another place. */
static void copy_entry(const KmtMatchTable *table, KmtMatchEntry *to,
		       const KmtMatchEntry *e)
{
	*to = *e;
	if (table->indexes)
		table->indexes[to - table->entries] =
			table->indexes[e - table->entries];
}

/*
 * Exchange the entry at home with the entry e, which has this home. All places
 * between the two are used, so a search still finds the entry that was at home.
 */
static void exchange(const KmtMatchTable *table, KmtMatchEntry *home,
		     KmtMatchEntry *e)
{
	const KmtMatchEntry entry = *e;
	guint64 *a, *b, index;

	*e = *home;
	*home = entry;
	if (!table->indexes)
		return;
	a = &table->indexes[home - table->entries];
	b = &table->indexes[e - table->entries];
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
	exchange(table, home, e);
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
	table->n_evicted++;
	kmt_match_address_set_add(
		table->evicted[kmt_input_namespace_of(kmt_match_entry_type(e))],
		kmt_match_entry_address(table, e));
}

/*
 * Place all entries anew, which are in order in the places from first on. The
 * places before are unused. An entry is never placed behind its former place:
 * first additional homes move a home by at most first places, and the former
 * place itself is unused now. So each step changes only places that were
 * already visited.
 */
static void place_all(KmtMatchTable *table, guint64 first)
{
	const KmtMatchEntry *end =
		table->entries + kmt_match_table_places(table);
	KmtMatchEntry *e = table->entries + first;

	for (; e < end; e++) {
		const KmtMatchEntry entry = *e;
		KmtMatchEntry *to;

		if (!entry.state)
			continue;
		e->state = 0;
		for (to = kmt_match_table_home(table, entry.hash); to->state;)
			to++;
		*to = entry;
		if (table->indexes)
			table->indexes[to - table->entries] =
				table->indexes[e - table->entries];
	}
}

/* Enlarge the table in place: move all entries to the end of the new places,
 * and place them anew from there. */
static void grow(KmtMatchTable *table)
{
	const guint64 n_former = kmt_match_table_places(table);
	guint64 n_places, n_new, i;

	table->n += table->n < DOUBLE_BELOW ? table->n : table->n / 2;
	if (table->n > G_MAXUINT32)
		g_error("more than %u live objects", G_MAXUINT32);
	n_places = kmt_match_table_places(table);
	n_new = n_places - n_former;
	table->entries = g_renew(KmtMatchEntry, table->entries, n_places);
	memmove(table->entries + n_new, table->entries,
		n_former * sizeof(KmtMatchEntry));
	/* An unused place needs no other field. */
	for (i = 0; i < n_new; i++)
		table->entries[i].state = 0;
	if (table->indexes) {
		table->indexes = g_renew(guint64, table->indexes, n_places);
		memmove(table->indexes + n_new, table->indexes,
			n_former * sizeof(guint64));
	}
	place_all(table, n_new);
	set_limit(table);
	table->moved = TRUE;
}

/* Return the number of entries that may be removed. With remove, also make
 * their places unused; all entries must then be placed anew. */
static guint64 evict_all(KmtMatchTable *table, gint64 from, gint64 to,
			 gboolean remove)
{
	KmtMatchEntry *e = table->entries;
	const KmtMatchEntry *end = e + kmt_match_table_places(table);
	guint64 n = 0;

	for (; e < end; e++) {
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

/*
 * Make room in a table that is full, or whose last place a search has reached.
 * If at least 3/10 of the homes are then free, removing entries suffices.
 */
static void make_room(KmtMatchTable *table, gint64 evict_from, gint64 evict_to)
{
	guint64 n_needed = table->n_entries;

	if (table->n_entries >= table->min_entries)
		n_needed -= evict_all(table, evict_from, evict_to, FALSE);
	if (!is_full(table) || n_needed * 10 >= table->n * 7) {
		grow(table);
		return;
	}
	evict_all(table, evict_from, evict_to, TRUE);
	place_all(table, 0);
}

/*
 * Return a place for a new entry of hash, which is unused, or whose entry was
 * removed. Return NULL if the table has no room.
 */
static KmtMatchEntry *free_place(KmtMatchTable *table, guint64 hash,
				 gint64 evict_from, gint64 evict_to)
{
	KmtMatchEntry *e = kmt_match_table_home(table, hash);

	if (is_nearly_full(table)) {
		for (; e->state; e++) {
			if (!may_evict(e, evict_from, evict_to))
				continue;
			remember_evicted(table, e);
			return e;
		}
	}
	while (e->state)
		e++;
	if (is_full(table) ||
	    e == table->entries + kmt_match_table_places(table) - 1)
		return NULL;
	table->n_entries++;
	return e;
}

KmtMatchEntry *kmt_match_table_add(KmtMatchTable *table, guint64 hash,
				   guint type, gint64 evict_from,
				   gint64 evict_to)
{
	KmtMatchEntry *home, *e;

	while (!(e = free_place(table, hash, evict_from, evict_to)))
		make_room(table, evict_from, evict_to);
	/*
	 * Put the new entry at its home, where the next record of the address
	 * finds it at once. The former entry of that place moves to e. A search
	 * still finds the former entry, because all places up to e are used.
	 */
	home = kmt_match_table_home(table, hash);
	if (e != home)
		copy_entry(table, e, home);
	*home = (KmtMatchEntry){.hash = hash};
	kmt_match_entry_set_type(home, type);
	return home;
}

gboolean kmt_match_table_has_evicted(const KmtMatchTable *table,
				     const KmtMatchEntry *e)
{
	return kmt_match_address_set_contains(
		table->evicted[kmt_input_namespace_of(kmt_match_entry_type(e))],
		kmt_match_entry_address(table, e));
}
