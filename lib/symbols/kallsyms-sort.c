// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the symbols of a kallsyms. */
#include "config.h"

#include "lib/symbols/kallsyms-private.h"

/* How many entries are in order, from the first one on. */
static guint count_sorted(const KmtSymTableEntry *entries, guint n)
{
	guint i;

	for (i = 1; i < n; i++)
		if (entries[i - 1].address > entries[i].address)
			return i;
	return n;
}

/* Sorts from[n] by a byte of the addresses into to, keeping their order. */
static void sort_by_byte(const KmtSymTableEntry *from, KmtSymTableEntry *to,
			 guint n, guint shift)
{
	guint places[256] = {0};
	guint i, count, sum = 0;

	for (i = 0; i < n; i++)
		places[from[i].address >> shift & 0xff]++;
	for (i = 0; i < G_N_ELEMENTS(places); i++) {
		count = places[i];
		places[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[places[from[i].address >> shift & 0xff]++] = from[i];
}

/* A radix sort.  Both have room for n; which of them has the result. */
static KmtSymTableEntry *sort_part(KmtSymTableEntry *entries,
				   KmtSymTableEntry *other, guint n)
{
	guint64 varying = 0;
	guint i, shift;

	for (i = 1; i < n; i++)
		varying |= entries[i].address ^ entries[0].address;
	for (shift = 0; shift < 64; shift += 8) {
		KmtSymTableEntry *from = entries;

		if (!(varying >> shift & 0xff))
			continue;
		sort_by_byte(from, other, n, shift);
		entries = other;
		other = from;
	}
	return entries;
}

/* Of equal ones those of a come first. */
static void merge(const KmtSymTableEntry *a, guint n_a,
		  const KmtSymTableEntry *b, guint n_b, KmtSymTableEntry *to)
{
	const KmtSymTableEntry *end_a = a + n_a, *end_b = b + n_b;

	while (a < end_a && b < end_b)
		*to++ = b->address < a->address ? *b++ : *a++;
	while (a < end_a)
		*to++ = *a++;
	while (b < end_b)
		*to++ = *b++;
}

/*
 * By address, then by place in the file.  The kernel's own are in order, the
 * modules' are not; qsort() would take longer than all the rest.
 */
void kmt_sym_table_sort(KmtSymTable *symbols)
{
	KmtSymTableEntry *entries = symbols->entries, *other, *rest, *sorted;
	guint n_sorted = count_sorted(entries, symbols->n_entries);
	guint n_rest = symbols->n_entries - n_sorted;

	if (!n_rest)
		return;
	other = g_new(KmtSymTableEntry, n_rest);
	rest = sort_part(entries + n_sorted, other, n_rest);
	sorted = g_new(KmtSymTableEntry, symbols->n_entries);
	merge(entries, n_sorted, rest, n_rest, sorted);
	g_free(other);
	g_free(entries);
	symbols->entries = sorted;
	symbols->n_allocated = symbols->n_entries;
}
