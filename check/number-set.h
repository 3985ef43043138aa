/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A set of 32-bit numbers, which always contains 0. */
#ifndef KMEMTRACE_CHECK_NUMBER_SET_H
#define KMEMTRACE_CHECK_NUMBER_SET_H

#include <glib.h>

/* Open addressing with linear probing; at most half of the slots are used. */
typedef struct {
	guint32 *slots; /* 0: unused */
	guint shift;	/* 64 less log2 of the number of slots */
	guint n_used;
	guint64 seed; /* odd hash seed */
} KmtNumberSet;

void kmt_number_set_init(KmtNumberSet *set);
void kmt_number_set_clear(KmtNumberSet *set);

/* Add a number that the set does not contain. */
void kmt_number_set_add(KmtNumberSet *set, guint32 number);

/* Return the slot of a number, or the unused slot where it belongs. */
static inline guint32 *kmt_number_set_slot(const KmtNumberSet *set,
					   guint32 number)
{
	guint64 i = number * set->seed >> set->shift;

	while (set->slots[i] != number && set->slots[i])
		i = (i + 1) & (G_MAXUINT64 >> set->shift);
	return &set->slots[i];
}

static inline gboolean kmt_number_set_contains(const KmtNumberSet *set,
					       guint32 number)
{
	return *kmt_number_set_slot(set, number) == number;
}

#endif
