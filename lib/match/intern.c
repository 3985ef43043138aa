// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/intern.h"

/*
 * Initial number of slots, a power of two. The fuzzers use a smaller number.
 */
#ifndef FIRST_SLOTS
#define FIRST_SLOTS 1024
#endif

/* A word of an entry, whose fields may be smaller. */
typedef guint64 Word __attribute__((may_alias));

KmtMatchIntern *kmt_match_intern_new(guint n_words)
{
	KmtMatchIntern *intern = g_new0(KmtMatchIntern, 1);

	intern->n_words = n_words;
	intern->seed = kmt_hash_seed();
	intern->second_seed = kmt_hash_seed();
	intern->mask = FIRST_SLOTS - 1;
	intern->slots = g_new0(guint32, FIRST_SLOTS);
	return intern;
}

void kmt_match_intern_free(KmtMatchIntern *intern)
{
	guint32 i;

	if (!intern)
		return;
	for (i = 0; i < G_N_ELEMENTS(intern->chunks) && intern->chunks[i]; i++)
		g_free(intern->chunks[i]);
	g_free(intern->slots);
	g_free(intern);
}

static gsize entry_size(const KmtMatchIntern *intern)
{
	return intern->n_words * sizeof(guint64);
}

static guint64 hash_of(const KmtMatchIntern *intern, const Word *words)
{
	const guint n = intern->n_words;
	guint64 hash = intern->seed;
	guint i;

	for (i = 0; i + 1 < n; i += 2)
		hash = kmt_hash_product(hash ^ words[i],
					intern->second_seed ^ words[i + 1]);
	return n % 2 ? kmt_hash(hash, words[n - 1]) : hash;
}

static gboolean equals(const Word *a, const Word *b, guint n)
{
	guint i = 0;

	while (i < n && a[i] == b[i])
		i++;
	return i == n;
}

/* Return the slot of an entry, or the empty slot where it belongs. */
static guint32 *find_slot(const KmtMatchIntern *intern, gconstpointer entry)
{
	guint32 i = (guint32)hash_of(intern, entry) & intern->mask;

	for (;; i = (i + 1) & intern->mask) {
		guint32 *slot = &intern->slots[i];

		if (!*slot || equals(kmt_match_intern_entry(intern, *slot - 1),
				     entry, intern->n_words))
			return slot;
	}
}

static void grow(KmtMatchIntern *intern)
{
	guint32 number;

	g_free(intern->slots);
	intern->mask = intern->mask * 2 + 1;
	intern->slots = g_new0(guint32, (gsize)intern->mask + 1);
	for (number = 0; number < intern->n; number++)
		*find_slot(intern, kmt_match_intern_entry(intern, number)) =
			number + 1;
}

static guint32 add(KmtMatchIntern *intern, gconstpointer entry)
{
	guint32 number = intern->n;
	guint64 **chunk =
		&intern->chunks[number >> KMT_MATCH_INTERN_CHUNK_BITS];

	if (number == KMT_MATCH_INTERN_MAX)
		g_error("more than %u call sites or sizes", number);
	if (!*chunk)
		*chunk = g_malloc_n(KMT_MATCH_INTERN_CHUNK, entry_size(intern));
	memcpy(*chunk + (gsize)(number % KMT_MATCH_INTERN_CHUNK) *
				intern->n_words,
	       entry, entry_size(intern));
	intern->n++;
	return number;
}

guint32 kmt_match_intern_get(KmtMatchIntern *intern, gconstpointer entry)
{
	guint32 *slot = find_slot(intern, entry);

	if (*slot)
		return *slot - 1;
	*slot = add(intern, entry) + 1;
	/* Keep at most three quarters of the slots in use, so that probe
	 * sequences are short. */
	if (intern->n > intern->mask / 4 * 3 && intern->mask < G_MAXUINT32)
		grow(intern);
	return intern->n - 1;
}
