/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Captures come from other people too: with a hash that can be foreseen, one
 * could be made whose addresses all fall on one slot, and reading it would take
 * days.  So each table has a seed of its own.  What is printed does not depend
 * on it.
 */
#ifndef KMEMTRACE_BASE_HASH_H
#define KMEMTRACE_BASE_HASH_H

#include <glib.h>

static inline guint64 kmt_hash_seed(void)
{
	return (guint64)g_random_int() << 32 | g_random_int();
}

/* To multiply by. */
static inline guint64 kmt_hash_odd_seed(void)
{
	return kmt_hash_seed() | 1;
}

/* All bits are good. */
static inline guint64 kmt_hash(guint64 seed, guint64 key)
{
	guint64 h = (key ^ seed) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32) * G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

/* Instead of g_str_hash(), for texts of captures; any thread. */
guint kmt_str_hash(gconstpointer text);

#endif
