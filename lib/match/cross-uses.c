// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/cross-uses.h"

/* Maximum number of places that a search examines. With 8, a table of 10^6
 * current times would have four times as many places. */
#define SEARCH 32

/* log2 of the initial number of places. */
#define FIRST_BITS 6

static gsize n_places(guint bits)
{
	return ((gsize)1 << bits) + SEARCH;
}

void kmt_match_cross_uses_init(KmtMatchCrossUses *uses, guint64 tolerance)
{
	uses->bits = FIRST_BITS;
	uses->uses = g_new0(KmtMatchCrossUse, n_places(uses->bits));
	uses->tolerance = tolerance;
}

void kmt_match_cross_uses_clear(KmtMatchCrossUses *uses)
{
	g_free(uses->uses);
}

static KmtMatchCrossUse *first_place(const KmtMatchCrossUses *uses,
				     guint64 hash)
{
	return &uses->uses[hash >> (64 - uses->bits)];
}

static gboolean is_current(const KmtMatchCrossUses *uses,
			   const KmtMatchCrossUse *use, gint64 now)
{
	return use->space &&
	       (guint64)now - (guint64)use->time <= uses->tolerance;
}

static gboolean is_of(const KmtMatchCrossUse *use, guint64 hash,
		      KmtInputNamespace space)
{
	return use->hash == hash && use->space == space + 1;
}

/*
 * Store the time of an address in the first place that has an older time of it,
 * or no current time. Return FALSE if there is no such place. The address may
 * have an older time in a later place, which is without effect.
 */
static gboolean store(const KmtMatchCrossUses *uses, guint64 hash,
		      KmtInputNamespace space, gint64 time, gint64 now)
{
	KmtMatchCrossUse *use = first_place(uses, hash);
	guint i;

	for (i = 0; i < SEARCH; i++, use++) {
		if (is_of(use, hash, space)) {
			use->time = MAX(use->time, time);
			return TRUE;
		}
		if (is_current(uses, use, now))
			continue;
		use->hash = hash;
		use->time = time;
		use->space = (guint8)(space + 1);
		return TRUE;
	}
	return FALSE;
}

/* Double the number of places until each current time has one. */
static void grow(KmtMatchCrossUses *uses, gint64 now)
{
	KmtMatchCrossUse *former = uses->uses;
	gsize n = n_places(uses->bits), i;

	do {
		if (uses->uses != former)
			g_free(uses->uses);
		uses->bits++;
		uses->uses = g_new0(KmtMatchCrossUse, n_places(uses->bits));
		for (i = 0; i < n; i++)
			if (is_current(uses, &former[i], now) &&
			    !store(uses, former[i].hash, former[i].space - 1u,
				   former[i].time, now))
				break;
	} while (i < n);
	g_free(former);
}

void kmt_match_cross_uses_set(KmtMatchCrossUses *uses, guint64 hash,
			      KmtInputNamespace space, gint64 time, gint64 now)
{
	while (!store(uses, hash, space, time, now))
		grow(uses, now);
}

gboolean kmt_match_cross_uses_has(const KmtMatchCrossUses *uses, guint64 hash,
				  KmtInputNamespace space, gint64 now)
{
	const KmtMatchCrossUse *use = first_place(uses, hash);
	guint i;

	/* A used place stays used, and store() takes the first unused one. */
	for (i = 0; i < SEARCH && use->space; i++, use++)
		if (is_of(use, hash, space) && is_current(uses, use, now))
			return TRUE;
	return FALSE;
}
