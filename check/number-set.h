/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of 32-bit numbers, which always contains 0. */
#ifndef KMEMTRACE_CHECK_NUMBER_SET_H
#define KMEMTRACE_CHECK_NUMBER_SET_H

#include <glib.h>

/*
 * Open addressing with linear probing; at most half of the slots are used. The
 * hash is one multiplication, because kmt_hash() takes 10 instructions more for
 * each record.
 */
typedef struct {
	guint32 *slots; /* 0: unused */
	guint shift;	/* 64 less log2 of the number of slots */
	gsize n_used;
	guint64 seed; /* odd factor of the hash */
} KmtNumberSet;

void kmt_number_set_init(KmtNumberSet *set);
void kmt_number_set_clear(KmtNumberSet *set);

/* Add a number that the set does not contain. */
void kmt_number_set_add(KmtNumberSet *set, guint32 number);

/* Return the index of the slot at which the search for a number begins. */
static inline gsize kmt_number_set_first(const KmtNumberSet *set,
					 guint32 number)
{
	return (gsize)(number * set->seed >> set->shift);
}

/* Return the index of the slot after slot i. */
static inline gsize kmt_number_set_next(const KmtNumberSet *set, gsize i)
{
	return (i + 1) & (gsize)(G_MAXUINT64 >> set->shift);
}

static inline gboolean kmt_number_set_contains(const KmtNumberSet *set,
					       guint32 number)
{
	gsize i = kmt_number_set_first(set, number);

	while (set->slots[i] != number && set->slots[i])
		i = kmt_number_set_next(set, i);
	return set->slots[i] == number;
}

#endif
