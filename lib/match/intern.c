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

KmtMatchIntern *kmt_match_intern_new(void)
{
	KmtMatchIntern *intern = g_new0(KmtMatchIntern, 1);

	intern->seed = kmt_hash_seed();
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

/* Return the slot of a pair, or the empty slot where it belongs. */
static guint32 *find_slot(const KmtMatchIntern *intern, guint64 a, guint64 b)
{
	guint64 hash = kmt_hash(kmt_hash(intern->seed, a), b);
	guint32 i = (guint32)hash & intern->mask;

	for (;; i = (i + 1) & intern->mask) {
		guint32 *slot = &intern->slots[i];
		const KmtMatchPair *pair;

		if (!*slot)
			return slot;
		pair = kmt_match_intern_pair(intern, *slot - 1);
		if (pair->word[0] == a && pair->word[1] == b)
			return slot;
	}
}

static void grow(KmtMatchIntern *intern)
{
	guint32 number;

	g_free(intern->slots);
	intern->mask = intern->mask * 2 + 1;
	intern->slots = g_new0(guint32, (gsize)intern->mask + 1);
	for (number = 0; number < intern->n; number++) {
		const KmtMatchPair *pair =
			kmt_match_intern_pair(intern, number);

		*find_slot(intern, pair->word[0], pair->word[1]) = number + 1;
	}
}

static guint32 add(KmtMatchIntern *intern, guint64 a, guint64 b)
{
	guint32 number = intern->n;
	KmtMatchPair **chunk =
		&intern->chunks[number >> KMT_MATCH_INTERN_CHUNK_BITS];

	if (number == KMT_MATCH_INTERN_MAX)
		g_error("more than %u call sites or sizes", number);
	if (!*chunk)
		*chunk = g_new(KmtMatchPair, KMT_MATCH_INTERN_CHUNK);
	(*chunk)[number % KMT_MATCH_INTERN_CHUNK] = (KmtMatchPair){{a, b}};
	intern->n++;
	return number;
}

guint32 kmt_match_intern_get(KmtMatchIntern *intern, guint64 a, guint64 b)
{
	guint32 *slot = find_slot(intern, a, b);

	if (*slot)
		return *slot - 1;
	*slot = add(intern, a, b) + 1;
	/* Keep at most three quarters of the slots in use, so that probe
	 * sequences are short. */
	if (intern->n > intern->mask / 4 * 3 && intern->mask < G_MAXUINT32)
		grow(intern);
	return intern->n - 1;
}
