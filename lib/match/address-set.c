// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/address-set.h"
#include "lib/base/hash.h"

/* Small, as objects that lie far apart have a block each. */
#define BLOCK_BITS 64

typedef struct {
	guint64 key; /* block number + 1; 0: this slot is empty */
	guint64 bits;
} BitBlock;

/* Open addressing with linear probing; nothing is ever removed. */
struct KmtMatchAddressSet {
	guint granule_shift;
	guint64 seed; /* of the hash */
	guint64 mask; /* slots - 1 */
	guint64 used;
	BitBlock *blocks;
};

/* A power of two; the tests take a small one. */
#ifndef FIRST_SLOTS
#define FIRST_SLOTS 64
#endif

KmtMatchAddressSet *kmt_match_address_set_new(guint granule_shift)
{
	KmtMatchAddressSet *set = g_new0(KmtMatchAddressSet, 1);

	set->granule_shift = granule_shift;
	set->seed = kmt_hash_seed();
	set->mask = FIRST_SLOTS - 1;
	set->blocks = g_new0(BitBlock, FIRST_SLOTS);
	return set;
}

void kmt_match_address_set_free(KmtMatchAddressSet *set)
{
	if (!set)
		return;
	g_free(set->blocks);
	g_free(set);
}

/*
 * The slot of a key, or the empty one where it would go.  Keys are block
 * numbers + 1 and so at most 2^58.
 */
static BitBlock *find(BitBlock *blocks, guint64 mask, guint64 seed, guint64 key)
{
	guint64 i = kmt_hash(seed, key) & mask;

	while (blocks[i].key != key && blocks[i].key != 0)
		i = (i + 1) & mask;
	return &blocks[i];
}

/*
 * Numbers addresses so that those a granule apart are neighbours: a rotation,
 * hence no two addresses share a number.
 */
static guint64 number(const KmtMatchAddressSet *set, guint64 address)
{
	return address >> set->granule_shift |
	       address << (64 - set->granule_shift);
}

static void grow(KmtMatchAddressSet *set)
{
	guint64 mask = set->mask * 2 + 1;
	BitBlock *blocks = g_new0(BitBlock, mask + 1);
	guint64 i;

	for (i = 0; i <= set->mask; i++) {
		if (set->blocks[i].key)
			*find(blocks, mask, set->seed, set->blocks[i].key) =
				set->blocks[i];
	}
	g_free(set->blocks);
	set->blocks = blocks;
	set->mask = mask;
}

void kmt_match_address_set_add(KmtMatchAddressSet *set, guint64 address)
{
	guint64 n = number(set, address);
	guint64 key = n / BLOCK_BITS + 1;
	guint64 bit = G_GUINT64_CONSTANT(1) << n % BLOCK_BITS;
	BitBlock *block = find(set->blocks, set->mask, set->seed, key);
	if (block->key == 0) {
		if ((set->used + 1) * 4 > set->mask * 3) {
			grow(set);
			block = find(set->blocks, set->mask, set->seed, key);
		}
		block->key = key;
		set->used++;
	}
	block->bits |= bit;
}

gboolean kmt_match_address_set_contains(const KmtMatchAddressSet *set,
					guint64 address)
{
	guint64 n = number(set, address);
	const BitBlock *block;

	if (!set->used)
		return FALSE;
	block = find(set->blocks, set->mask, set->seed, n / BLOCK_BITS + 1);
	return block->bits >> n % BLOCK_BITS & 1;
}
