/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of addresses of one address namespace. The object table uses the set to
 * remember which addresses it has removed. The set is exact for every 64-bit
 * value. Addresses close to each other share a block of bits, so each of these
 * addresses needs only a few bits of memory.
 *
 * Not thread-safe; each shard has its own sets.
 */
#ifndef KMEMTRACE_MATCH_ADDRESS_SET_H
#define KMEMTRACE_MATCH_ADDRESS_SET_H

#include <glib.h>

typedef struct KmtMatchAddressSet KmtMatchAddressSet;

/*
 * granule_shift is log2 of the usual distance of addresses: 3 for slab objects
 * and per-CPU memory, 12 for pages and vmalloc. It must be from 1 to 63. Other
 * addresses are stored exactly too, but need more memory.
 */
KmtMatchAddressSet *kmt_match_address_set_new(guint granule_shift);
/* Free a set; NULL is allowed. */
void kmt_match_address_set_free(KmtMatchAddressSet *set);

/*
 * Add an address to the set; an address that is in the set already is ignored.
 */
void kmt_match_address_set_add(KmtMatchAddressSet *set, guint64 address);

/* Return whether kmt_match_address_set_add() has added the address. */
gboolean kmt_match_address_set_contains(const KmtMatchAddressSet *set,
					guint64 address);

#endif
