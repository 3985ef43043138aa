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

typedef struct KmtAddrSet KmtAddrSet;

/* granule_shift: log2 of the usual distance of addresses: 3 for objects, 12 for
 * pages.  Others are exact too, only less compact. */
KmtAddrSet *kmt_addr_set_new(guint granule_shift);
void kmt_addr_set_free(KmtAddrSet *set);

void kmt_addr_set_add(KmtAddrSet *set, guint64 address);

gboolean kmt_addr_set_contains(const KmtAddrSet *set, guint64 address);

#endif
