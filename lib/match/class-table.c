// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/class-table.h"

/* log2 of the initial number of slots. The fuzzers use a smaller number. */
#ifndef KMT_MATCH_CLASS_FIRST_BITS
#define KMT_MATCH_CLASS_FIRST_BITS 10
#endif

static const KmtMatchClass no_class = {.word = KMT_MATCH_CLASS_NO_WORD};

static void allocate_slots(KmtMatchClassTable *table, guint bits)
{
	guint64 i;

	table->mask = (G_GUINT64_CONSTANT(1) << bits) - 1;
	table->shift = 64 - bits;
	table->slots = g_new(const KmtMatchClass *, table->mask + 1);
	for (i = 0; i <= table->mask; i++)
		table->slots[i] = &no_class;
}

KmtMatchClassTable *kmt_match_class_table_new(void)
{
	KmtMatchClassTable *table = g_new0(KmtMatchClassTable, 1);
	guint word;

	table->word_seed = kmt_hash_seed();
	table->req_seed = kmt_hash_seed();
	table->factor = kmt_hash_odd_seed();
	for (word = 0; word < G_N_ELEMENTS(table->short_words); word++)
		table->short_words[word] = kmt_hash(table->word_seed, word);
	allocate_slots(table, KMT_MATCH_CLASS_FIRST_BITS);
	return table;
}

void kmt_match_class_table_free(KmtMatchClassTable *table)
{
	guint32 i;

	if (!table)
		return;
	for (i = 0; i < G_N_ELEMENTS(table->chunks) && table->chunks[i]; i++)
		g_free(table->chunks[i]);
	g_free(table->slots);
	g_free(table);
}

/* Double the slots. */
static void grow(KmtMatchClassTable *table)
{
	guint32 number;

	g_free(table->slots);
	allocate_slots(table, (guint)(65 - table->shift));
	for (number = 0; number < table->n; number++) {
		const KmtMatchClass *class =
			kmt_match_class_of_number(table, number);
		guint64 word_hash = kmt_hash(table->word_seed, class->word);
		guint64 i = kmt_match_class_hash(
				    table, word_hash, class->call_site,
				    class->seeded_req, class->bytes_alloc) >>
			    table->shift;

		while (table->slots[i] != &no_class)
			i = (i + 1) & table->mask;
		table->slots[i] = class;
	}
}

/* Append a class; return its place for the properties. */
static KmtMatchClass *add(KmtMatchClassTable *table)
{
	guint32 number = table->n;
	KmtMatchClass **chunk =
		&table->chunks[number >> KMT_MATCH_CLASS_CHUNK_BITS];

	if (number == KMT_MATCH_CLASS_MAX)
		g_error("more than %u call sites or sizes", number);
	if (!*chunk)
		*chunk = g_new(KmtMatchClass, KMT_MATCH_CLASS_CHUNK);
	table->n++;
	return &(*chunk)[number % KMT_MATCH_CLASS_CHUNK];
}

guint32 kmt_match_class_table_find_from(KmtMatchClassTable *table,
					guint64 first, guint64 word,
					guint64 call_site, guint64 seeded_req,
					guint64 bytes_alloc)
{
	KmtMatchClass *new;
	guint64 i;

	for (i = first; table->slots[i] != &no_class;
	     i = (i + 1) & table->mask) {
		const KmtMatchClass *class = table->slots[i];

		if (class->call_site == call_site &&
		    class->seeded_req == seeded_req &&
		    class->bytes_alloc == bytes_alloc && class->word == word) {
			/*
			 * Swap the class into the first slot, where frequent
			 * classes then stay. Both classes stay in reach of
			 * their lookups, because no slot becomes empty. On the
			 * capture of a boot, this reduces the lookups that read
			 * a second slot from 17 % to 0.2 %.
			 */
			table->slots[i] = table->slots[first];
			table->slots[first] = class;
			return class->number;
		}
	}
	new = add(table);
	*new = (KmtMatchClass){.call_site = call_site,
			       .word = word,
			       .seeded_req = seeded_req,
			       .bytes_alloc = bytes_alloc,
			       .number = table->n - 1};
	table->slots[i] = new;
	/* Keep at most half of the slots in use, so that most lookups read one
	 * slot. */
	if (table->n > table->mask / 2)
		grow(table);
	return new->number;
}
