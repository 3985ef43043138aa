// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "check/number-set.h"
#include "lib/base/hash.h"

/* log2 of the initial number of slots. */
#define FIRST_BITS 4

static guint32 *new_slots(const KmtNumberSet *set)
{
	return g_new0(guint32, (gsize)1 << (64 - set->shift));
}

void kmt_number_set_init(KmtNumberSet *set)
{
	set->shift = 64 - FIRST_BITS;
	set->n_used = 0;
	set->seed = kmt_hash_odd_seed();
	set->slots = new_slots(set);
}

void kmt_number_set_clear(KmtNumberSet *set)
{
	g_clear_pointer(&set->slots, g_free);
}

static void grow(KmtNumberSet *set)
{
	g_autofree guint32 *old = g_steal_pointer(&set->slots);
	const gsize n_old = (gsize)1 << (64 - set->shift);
	gsize i;

	set->shift--;
	set->slots = new_slots(set);
	for (i = 0; i < n_old; i++) {
		if (old[i])
			*kmt_number_set_slot(set, old[i]) = old[i];
	}
}

void kmt_number_set_add(KmtNumberSet *set, guint32 number)
{
	if (set->n_used >= (gsize)1 << (63 - set->shift))
		grow(set);
	set->n_used++;
	*kmt_number_set_slot(set, number) = number;
}
