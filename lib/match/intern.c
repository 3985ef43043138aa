// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/intern.h"

/* A power of two; the tests take a small one. */
#ifndef FIRST_SLOTS
#define FIRST_SLOTS 1024
#endif

KmtIntern *kmt_intern_new(void)
{
	KmtIntern *intern = g_new0(KmtIntern, 1);

	intern->seed = kmt_hash_seed();
	intern->mask = FIRST_SLOTS - 1;
	intern->slots = g_new0(guint32, FIRST_SLOTS);
	return intern;
}

void kmt_intern_free(KmtIntern *intern)
{
	guint32 i;

	if (!intern)
		return;
	for (i = 0; i < G_N_ELEMENTS(intern->chunks) && intern->chunks[i]; i++)
		g_free(intern->chunks[i]);
	g_free(intern->slots);
	g_free(intern);
}

/* The slot of a pair, or the empty one where it would go. */
static guint32 *find_slot(const KmtIntern *intern, guint64 a, guint64 b)
{
	guint64 hash = kmt_hash(kmt_hash(intern->seed, a), b);
	guint32 i = (guint32)hash & intern->mask;

	for (;; i = (i + 1) & intern->mask) {
		guint32 *slot = &intern->slots[i];
		const KmtPair *pair;

		if (!*slot)
			return slot;
		pair = kmt_intern_at(intern, *slot - 1);
		if (pair->word[0] == a && pair->word[1] == b)
			return slot;
	}
}

static void grow(KmtIntern *intern)
{
	guint32 number;

	g_free(intern->slots);
	intern->mask = intern->mask * 2 + 1;
	intern->slots = g_new0(guint32, (gsize)intern->mask + 1);
	for (number = 0; number < intern->n; number++) {
		const KmtPair *pair = kmt_intern_at(intern, number);

		*find_slot(intern, pair->word[0], pair->word[1]) = number + 1;
	}
}

static guint32 add(KmtIntern *intern, guint64 a, guint64 b)
{
	guint32 number = intern->n;
	KmtPair **chunk = &intern->chunks[number >> KMT_INTERN_CHUNK_BITS];

	if (number == KMT_INTERN_MAX)
		g_error("more than %u call sites or sizes", number);
	if (!*chunk)
		*chunk = g_new(KmtPair, KMT_INTERN_CHUNK);
	(*chunk)[number % KMT_INTERN_CHUNK] = (KmtPair){{a, b}};
	intern->n++;
	return number;
}

guint32 kmt_intern_get(KmtIntern *intern, guint64 a, guint64 b)
{
	guint32 *slot = find_slot(intern, a, b);

	if (*slot)
		return *slot - 1;
	*slot = add(intern, a, b) + 1;
	/* At most three quarters full, which keeps the runs short. */
	if (intern->n > intern->mask / 4 * 3 && intern->mask < G_MAXUINT32)
		grow(intern);
	return intern->n - 1;
}
