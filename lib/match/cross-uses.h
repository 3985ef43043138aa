/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses that two CPUs used within the clock tolerance: for each such
 * address, the merged time of the last ALLOC or FREE on another CPU than that
 * of its last ALLOC or FREE. A time is forgotten after the tolerance, because
 * it is without effect then.
 *
 * Not thread-safe; each shard has its own.
 */
#ifndef KMEMTRACE_MATCH_CROSS_USES_H
#define KMEMTRACE_MATCH_CROSS_USES_H

#include "lib/input/namespace.h"

typedef struct {
	guint64 hash; /* hash of the address and its namespace */
	gint64 time;  /* merged time of the use by another CPU in ns */
	guint8 space; /* KmtInputNamespace + 1; 0: unused */
} KmtMatchCrossUse;

/* An open-addressing hash table, in which the time of an address replaces one
 * that is out of date. */
typedef struct {
	KmtMatchCrossUse *uses;
	guint bits; /* log2 of the number of places at which a search starts */
	guint64 tolerance; /* clock tolerance in ns */
} KmtMatchCrossUses;

void kmt_match_cross_uses_init(KmtMatchCrossUses *uses, guint64 tolerance);
void kmt_match_cross_uses_clear(KmtMatchCrossUses *uses);

/* Set the time of an address. now is the merged time; it never decreases. */
void kmt_match_cross_uses_set(KmtMatchCrossUses *uses, guint64 hash,
			      KmtInputNamespace space, gint64 time, gint64 now);

/* Return whether the time of an address is within the clock tolerance before
 * now. */
gboolean kmt_match_cross_uses_has(const KmtMatchCrossUses *uses, guint64 hash,
				  KmtInputNamespace space, gint64 now);

#endif
