// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "check/number-set.h"
#include "lib/base/hash.h"

/* log2 of the initial number of slots. */
#define FIRST_BITS 4

/*
 * Number of random seeds that grow() tries. With one seed, the hashes of
 * consecutive numbers are sometimes close together, and a search visits up to
 * 16 slots on average. With the best of 4 seeds, a search visited 1.5 slots at
 * most.
 */
#define N_SEEDS 4

static gsize n_slots(const KmtNumberSet *set)
{
	return (gsize)1 << (64 - set->shift);
}

void kmt_number_set_init(KmtNumberSet *set)
{
	set->shift = 64 - FIRST_BITS;
	set->n_used = 0;
	set->seed = kmt_hash_odd_seed();
	set->slots = g_new0(guint32, n_slots(set));
}

void kmt_number_set_clear(KmtNumberSet *set)
{
	g_clear_pointer(&set->slots, g_free);
}

/* Store a number. Return the number of used slots that a search for the number
 * visits first. */
static gsize insert(KmtNumberSet *set, guint32 number)
{
	gsize i = kmt_number_set_first(set, number), n = 0;

	for (; set->slots[i]; n++)
		i = kmt_number_set_next(set, i);
	set->slots[i] = number;
	return n;
}

/* Fill the slots with the numbers of old, by this seed. Return the sum of the
 * results of insert(). */
static gsize refill(KmtNumberSet *set, const guint32 *old, gsize n_old,
		    guint64 seed)
{
	gsize i, sum = 0;

	set->seed = seed;
	memset(set->slots, 0, n_slots(set) * sizeof(*set->slots));
	for (i = 0; i < n_old; i++) {
		if (old[i])
			sum += insert(set, old[i]);
	}
	return sum;
}

static void grow(KmtNumberSet *set)
{
	g_autofree guint32 *old = g_steal_pointer(&set->slots);
	const gsize n_old = n_slots(set);
	gsize least = G_MAXSIZE;
	guint64 best = 1;
	guint i;

	set->shift--;
	set->slots = g_new(guint32, n_slots(set));
	for (i = 0; i < N_SEEDS; i++) {
		guint64 seed = kmt_hash_odd_seed();
		gsize sum = refill(set, old, n_old, seed);

		if (sum < least) {
			least = sum;
			best = seed;
		}
	}
	refill(set, old, n_old, best);
}

void kmt_number_set_add(KmtNumberSet *set, guint32 number)
{
	if (set->n_used >= n_slots(set) / 2)
		grow(set);
	set->n_used++;
	insert(set, number);
}
