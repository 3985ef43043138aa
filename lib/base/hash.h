/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hash functions with a random seed, for tables whose keys come from a file.
 * A capture, for example, may come from another person. With a known hash
 * function, somebody could construct a capture whose keys all collide, and
 * reading it would take days. The results of the programs do not depend on the
 * seed.
 */
#ifndef KMEMTRACE_BASE_HASH_H
#define KMEMTRACE_BASE_HASH_H

#include <glib.h>

/* Return a random 64-bit seed. */
static inline guint64 kmt_hash_seed(void)
{
	return (guint64)g_random_int() << 32 | g_random_int();
}

/* Return a random odd number, which is a seed that is never 0. */
static inline guint64 kmt_hash_odd_seed(void)
{
	return kmt_hash_seed() | 1;
}

/* Return a hash of key in which all bits are well mixed. */
static inline guint64 kmt_hash(guint64 seed, guint64 key)
{
	guint64 h = (key ^ seed) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32) * G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

/*
 * Return a hash of two words: both halves of their product, combined. The
 * caller combines each word with a random seed first, for example by an
 * exclusive or; then all bits are well mixed. One multiplication of a 64-bit
 * machine hashes two words.
 */
static inline guint64 kmt_hash_product(guint64 a, guint64 b)
{
#ifdef __SIZEOF_INT128__
	/* A union, because gcc 12 shifts a product by way of the stack. */
	const union {
		__extension__ unsigned __int128 whole;
		guint64 half[2];
	} product = {.whole = (unsigned __int128)a * b};

	return product.half[0] ^ product.half[1];
#else
	return kmt_hash(kmt_hash(0, a), b);
#endif
}

/*
 * Hash function for strings. Use this function instead of g_str_hash() for a
 * hash table whose keys come from a file. Any thread may call this function.
 */
guint kmt_str_hash(gconstpointer text);

#endif
