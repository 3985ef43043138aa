// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/match/cross-uses.h"

/* Number of places that a search examines. */
#define SEARCH 8

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

/*
 * Return the first place of a search. The factor is odd. Without the shift, the
 * result would be linear in the address, and a place could be that of many
 * addresses of equal distances.
 */
static KmtMatchCrossUse *first_place(const KmtMatchCrossUses *uses,
				     guint64 hash)
{
	guint64 mixed =
		(hash ^ hash >> 32) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	return &uses->uses[mixed >> (64 - uses->bits)];
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

/* Return the place of an address, or else one without a current time, or else
 * NULL. */
static KmtMatchCrossUse *place_for(const KmtMatchCrossUses *uses, guint64 hash,
				   KmtInputNamespace space, gint64 now)
{
	KmtMatchCrossUse *use = first_place(uses, hash), *place = NULL;
	guint i;

	for (i = 0; i < SEARCH; i++, use++) {
		if (is_of(use, hash, space))
			return use;
		if (!place && !is_current(uses, use, now))
			place = use;
	}
	return place;
}

/* Double the number of places until each current time has one. */
static void grow(KmtMatchCrossUses *uses, gint64 now)
{
	KmtMatchCrossUse *former = uses->uses, *place;
	gsize n = n_places(uses->bits), i;

	do {
		if (uses->uses != former)
			g_free(uses->uses);
		uses->bits++;
		uses->uses = g_new0(KmtMatchCrossUse, n_places(uses->bits));
		for (i = 0; i < n; i++) {
			if (!is_current(uses, &former[i], now))
				continue;
			place = place_for(uses, former[i].hash,
					  former[i].space - 1u, now);
			if (!place)
				break;
			*place = former[i];
		}
	} while (i < n);
	g_free(former);
}

void kmt_match_cross_uses_set(KmtMatchCrossUses *uses, guint64 hash,
			      KmtInputNamespace space, gint64 time, gint64 now)
{
	KmtMatchCrossUse *place;

	while (!(place = place_for(uses, hash, space, now)))
		grow(uses, now);
	*place = (KmtMatchCrossUse){
		.hash = hash, .time = time, .space = (guint8)(space + 1)};
}

gboolean kmt_match_cross_uses_has(const KmtMatchCrossUses *uses, guint64 hash,
				  KmtInputNamespace space, gint64 now)
{
	const KmtMatchCrossUse *use = first_place(uses, hash);
	guint i;

	for (i = 0; i < SEARCH && use->space; i++, use++)
		if (is_of(use, hash, space))
			return is_current(uses, use, now);
	return FALSE;
}
