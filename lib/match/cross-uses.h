/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that two CPUs used within the clock tolerance. A use is an ALLOC or
 * FREE. For each such address, the table stores the merged time of the last use
 * by any CPU other than the CPU of the most recent use. A stored time has no
 * effect after the tolerance, so another time may replace it.
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
