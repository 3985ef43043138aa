// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "lib/match/address-set.h"
#include "lib/base/hash.h"

/*
 * Number of bits in a block. The number is small, because an address that is
 * far from all others needs a block of its own.
 */
#define BLOCK_BITS 64

typedef struct {
	guint64 key; /* block number + 1; 0: empty slot */
	guint64 bits;
} BitBlock;

/* Open addressing with linear probing. Elements are never removed. */
struct KmtMatchAddressSet {
	guint granule_shift;
	guint64 seed; /* hash seed */
	guint64 mask; /* number of slots - 1 */
	guint64 used;
	BitBlock *blocks;
};

/*
 * Initial number of slots, a power of two. The fuzzers use a smaller number.
 */
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
 * Return the slot of a key, or the empty slot where it belongs. A key is a
 * block number + 1, at most 2^58.
 */
static BitBlock *find(BitBlock *blocks, guint64 mask, guint64 seed, guint64 key)
{
	guint64 i = kmt_hash(seed, key) & mask;

	while (blocks[i].key != key && blocks[i].key != 0)
		i = (i + 1) & mask;
	return &blocks[i];
}

/*
 * Map addresses to numbers so that addresses one granule apart have consecutive
 * numbers. The map is a rotation and therefore one to one.
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
