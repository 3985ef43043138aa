// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/object-table.h"

/* The tests take few, to make it forget often. */
#ifndef OBJ_FIRST_GROUPS
#define OBJ_FIRST_GROUPS 32
#endif

/* One of the few tables that remember as many begins with more groups. */
#define KEEP_FOR_MORE (1u << 16)

/* So many entries are looked at for one to forget, and if there is none so many
 * are added before the next attempt. */
#define MAX_SEARCH 64

KmtEntry kmt_obj_none = {.flags = G_MAXUINT8};

static void new_groups(KmtObjSegment *s, guint32 n)
{
	s->groups =
		g_aligned_alloc0(n, sizeof(KmtSlotGroup), sizeof(KmtSlotGroup));
	s->n_groups = n;
	s->n_slots = 0;
}

/* Each step doubles the lower bits that are right, of which it has 3. */
static guint64 inverse(guint64 odd)
{
	guint64 x = odd;
	guint i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

void kmt_obj_table_init(KmtObjTable *table, guint64 seed, guint64 keep,
			gboolean keep_indexes)
{
	guint32 n = OBJ_FIRST_GROUPS, i;

	memset(table, 0, sizeof(*table));
	g_assert(!seed || seed & 1);
	table->seed = seed ? seed : kmt_hash_odd_seed();
	table->inverse = inverse(table->seed);
	table->keep = keep;
	/* It doubles at the same sizes, but at fewer. */
	if (keep >= KEEP_FOR_MORE)
		n *= 4;
	table->keep_indexes = keep_indexes;
	table->blocks = g_ptr_array_new_with_free_func(g_aligned_free);
	for (i = 0; i < G_N_ELEMENTS(table->front); i++)
		table->front[i] = &kmt_obj_none;
	table->seen[KMT_SPACE_SLAB] = kmt_addr_set_new(3);
	table->seen[KMT_SPACE_PAGES] = kmt_addr_set_new(12);
	table->seen[KMT_SPACE_PERCPU] = kmt_addr_set_new(3);
	table->seen[KMT_SPACE_VMALLOC] = kmt_addr_set_new(12);
	for (i = 0; i < KMT_OBJ_SEGMENTS; i++)
		/* From n to nearly 2n, as each doubles; see the header. */
		new_groups(&table->segments[i], n + n * i / KMT_OBJ_SEGMENTS);
}

void kmt_obj_table_clear(KmtObjTable *table)
{
	guint i;

	for (i = 0; i < KMT_OBJ_SEGMENTS; i++) {
		g_aligned_free(table->segments[i].groups);
		g_free(table->segments[i].chunks);
	}
	g_ptr_array_unref(table->blocks);
	for (i = 0; i < KMT_N_SPACES; i++)
		kmt_addr_set_free(table->seen[i]);
}

static void put_slot(KmtObjSegment *s, guint64 hash, guint32 number)
{
	guint32 i = kmt_obj_group(s, hash);
	guint unused, gone;
	guint32 *slot;

	for (;; i = kmt_obj_next_group(s, i)) {
		unused = kmt_obj_equal(&s->groups[i], G_MAXUINT32, 0);
		gone = kmt_obj_equal(&s->groups[i], G_MAXUINT32, KMT_SLOT_GONE);
		if (unused | gone)
			break;
	}
	slot = &s->groups[i].slots[__builtin_ctz(gone ? gone : unused)];
	s->n_slots += *slot == 0;
	*slot = kmt_obj_tag(hash) | (number + 1);
}

static void remove_slot(KmtObjSegment *s, guint64 hash, guint32 number)
{
	guint32 i = kmt_obj_group(s, hash);
	guint found;
	guint32 *slot;

	while (!(found = kmt_obj_equal(&s->groups[i], G_MAXUINT32,
				       kmt_obj_tag(hash) | (number + 1))))
		i = kmt_obj_next_group(s, i);
	slot = &s->groups[i].slots[__builtin_ctz(found)];
	/* Is nothing beyond this group because of it? */
	if (kmt_obj_equal(&s->groups[i], G_MAXUINT32, 0)) {
		*slot = 0;
		s->n_slots--;
	} else {
		*slot = KMT_SLOT_GONE;
	}
}

/* Slots that are at most 4/5 full, counting the ones that are gone. */
static void make_slots(KmtObjSegment *s)
{
	guint32 i, n = s->n_groups;

	if (((guint64)s->n_slots + 1) * 5 <= (guint64)n * KMT_SLOT_GROUP * 4)
		return;
	/* As many again will do if enough of the slots are gone. */
	while (((guint64)s->n_entries + 1) * 10 >
	       (guint64)n * KMT_SLOT_GROUP * 7)
		n *= 2;
	g_aligned_free(s->groups);
	new_groups(s, n);
	for (i = 0; i < s->n_entries; i++)
		put_slot(s, kmt_obj_entry(s, i)->hash, i);
}

/* Memory that is not used yet is not there yet, so it may be plenty. */
static KmtEntry *new_chunk(KmtObjTable *table)
{
	const guint32 chunks = KMT_OBJ_BLOCK / KMT_OBJ_CHUNK;
	const gsize bytes = KMT_OBJ_BLOCK * sizeof(KmtEntry);
	gsize more = table->keep_indexes ? KMT_OBJ_BLOCK * sizeof(guint64) : 0;
	KmtEntry *block;

	if (!table->blocks->len || table->n_block == chunks) {
		/* With indexes so aligned that an entry knows its block. */
		g_ptr_array_add(
			table->blocks,
			g_aligned_alloc(1, bytes + more,
					more ? bytes : sizeof(KmtSlotGroup)));
		table->n_block = 0;
	}
	block = table->blocks->pdata[table->blocks->len - 1];
	return block + KMT_OBJ_CHUNK * table->n_block++;
}

static KmtEntry *add_entry(KmtObjTable *table, KmtObjSegment *s)
{
	guint32 i = s->n_entries++;
	guint32 chunk = i >> KMT_OBJ_CHUNK_BITS;

	if (i >= KMT_SLOT_NUMBER_MASK - 1)
		g_error("more than %u live objects",
			KMT_SLOT_NUMBER_MASK * KMT_OBJ_SEGMENTS);
	if (chunk == s->n_chunks) {
		s->n_chunks = MAX(8, 2 * s->n_chunks);
		s->chunks = g_renew(KmtEntry *, s->chunks, s->n_chunks);
	}
	if (i % KMT_OBJ_CHUNK == 0)
		s->chunks[chunk] = new_chunk(table);
	table->n_entries++;
	table->n_closed++;
	return kmt_obj_entry(s, i);
}

static gboolean may_forget(const KmtEntry *e, gint64 from, gint64 to)
{
	/* A doubt about what was before the first record lasts for ever, one
	 * that nothing confirmed does not. */
	if ((e->flags & (KMT_ENTRY_MAYBE_LIVE | KMT_ENTRY_UNCONFIRMED)) ==
	    KMT_ENTRY_MAYBE_LIVE)
		return FALSE;
	return !(e->flags & (KMT_ENTRY_LIVE | KMT_ENTRY_PENDING)) &&
	       e->last_ts >= from && e->last_ts < to;
}

/* The next entry that may be forgotten, out of its slot; or NULL. */
static KmtEntry *forget_one(KmtObjTable *table, KmtObjSegment *s, gint64 from,
			    gint64 to)
{
	guint n;

	for (n = 0; n < MAX_SEARCH; n++) {
		KmtEntry *e;

		if (s->hand >= s->n_entries)
			s->hand = 0;
		e = kmt_obj_entry(s, s->hand++);
		if (!may_forget(e, from, to))
			continue;
		kmt_addr_set_add(table->seen[kmt_space_of(e->type)],
				 kmt_obj_ptr(table, e));
		remove_slot(s, e->hash, s->hand - 1);
		return e;
	}
	s->patience = MAX_SEARCH;
	return NULL;
}

KmtEntry *kmt_obj_add(KmtObjTable *table, guint64 hash, guint type,
		      gint64 forget_from, gint64 forget_to)
{
	KmtObjSegment *s = kmt_obj_segment(table, hash);
	KmtEntry *e = NULL;
	guint32 number;

	make_slots(s);
	if (s->patience)
		s->patience--;
	else if (s->n_entries && table->n_closed &&
		 table->n_entries >= table->keep &&
		 table->n_closed >= (table->n_entries - table->n_closed) / 10)
		e = forget_one(table, s, forget_from, forget_to);
	/* What was forgotten is the one before the hand. */
	number = e ? s->hand - 1 : s->n_entries;
	if (!e)
		e = add_entry(table, s);
	put_slot(s, hash, number);
	memset(e, 0, sizeof(*e));
	e->hash = hash;
	e->type = type;
	e->other_delta_ns = KMT_DELTA_NONE;
	return e;
}

gboolean kmt_obj_was_forgotten(const KmtObjTable *table, const KmtEntry *e)
{
	return kmt_addr_set_contains(table->seen[kmt_space_of(e->type)],
				     kmt_obj_ptr(table, e));
}
