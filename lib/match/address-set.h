/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of addresses of one address space, for "has this address been seen
 * before".  An address that has neighbours costs a bit or two: addresses whose
 * slot is near are bits of one block.  Exact for every 64-bit value.
 * Not thread-safe; one set per shard.
 */
#ifndef KMEMTRACE_MATCH_ADDRESS_SET_H
#define KMEMTRACE_MATCH_ADDRESS_SET_H

#include <glib.h>

typedef struct KmtMatchAddressSet KmtMatchAddressSet;

/* granule_shift: log2 of the usual distance of addresses: 3 for objects, 12 for
 * pages.  Others are exact too, only less compact. */
KmtMatchAddressSet *kmt_match_address_set_new(guint granule_shift);
void kmt_match_address_set_free(KmtMatchAddressSet *set);

void kmt_match_address_set_add(KmtMatchAddressSet *set, guint64 address);

gboolean kmt_match_address_set_contains(const KmtMatchAddressSet *set,
					guint64 address);

#endif
