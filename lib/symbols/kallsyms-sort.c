// SPDX-License-Identifier: GPL-2.0-or-later
/* Sort the symbols of a kallsyms file by address. */
#include "config.h"

#include "lib/symbols/kallsyms-private.h"

/* Return the number of entries at the start of the array that are in order. */
static guint count_sorted(const KmtSymTableEntry *entries, guint n)
{
	guint i;

	for (i = 1; i < n; i++)
		if (entries[i - 1].address > entries[i].address)
			return i;
	return n;
}

/*
 * Counting sort: copy n entries to @to, ordered by the address byte at @shift.
 * Entries with equal bytes keep their order.
 */
static void sort_by_byte(const KmtSymTableEntry *from, KmtSymTableEntry *to,
			 guint n, guint shift)
{
	guint offsets[256] = {0};
	guint i, count, sum = 0;

	for (i = 0; i < n; i++)
		offsets[from[i].address >> shift & 0xff]++;
	for (i = 0; i < G_N_ELEMENTS(offsets); i++) {
		count = offsets[i];
		offsets[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[offsets[from[i].address >> shift & 0xff]++] = from[i];
}

/*
 * Radix sort. Both @entries and @scratch have room for n entries.
 * Return the array that holds the result.
 */
static KmtSymTableEntry *sort_part(KmtSymTableEntry *entries,
				   KmtSymTableEntry *scratch, guint n)
{
	guint64 varying = 0;
	guint i, shift;

	for (i = 1; i < n; i++)
		varying |= entries[i].address ^ entries[0].address;
	for (shift = 0; shift < 64; shift += 8) {
		KmtSymTableEntry *from = entries;

		if (!(varying >> shift & 0xff))
			continue;
		sort_by_byte(from, scratch, n, shift);
		entries = scratch;
		scratch = from;
	}
	return entries;
}

/*
 * Merge two sorted arrays. Of entries with equal addresses, those of @a are
 * first.
 */
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
 * The kernel's own symbols are in order, the symbols of modules are not. Only
 * the entries after the ordered start of the array are sorted, by a radix sort:
 * qsort() would take longer than all other steps of kmt_sym_table_load().
 */
void kmt_sym_table_sort(KmtSymTable *symbols)
{
	KmtSymTableEntry *entries = symbols->entries, *scratch, *rest, *sorted;
	guint n_sorted = count_sorted(entries, symbols->n_entries);
	guint n_rest = symbols->n_entries - n_sorted;

	if (!n_rest)
		return;
	scratch = g_new(KmtSymTableEntry, n_rest);
	rest = sort_part(entries + n_sorted, scratch, n_rest);
	sorted = g_new(KmtSymTableEntry, symbols->n_entries);
	merge(entries, n_sorted, rest, n_rest, sorted);
	g_free(scratch);
	g_free(entries);
	symbols->entries = sorted;
	symbols->n_allocated = symbols->n_entries;
}
