/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays of the address ranges of compile units and functions. */
#ifndef KMEMTRACE_SYMBOLS_ADDRESS_RANGES_H
#define KMEMTRACE_SYMBOLS_ADDRESS_RANGES_H

#include <elfutils/libdw.h>
#include <glib.h>

/* Create an empty array of ranges.  The caller frees it by g_array_unref(). */
GArray *kmt_sym_address_ranges_new(void);

/*
 * Append the address ranges of a unit or function.  @index selects the unit or
 * the function in the caller's array.
 */
void kmt_sym_address_ranges_add(GArray *ranges, Dwarf_Die *die, guint index);

/* Sort the ranges by start address, as kmt_sym_address_ranges_find() needs. */
void kmt_sym_address_ranges_sort(GArray *ranges);

/*
 * Find the last range in a sorted array that starts at or before @address, and
 * set *index to the index of its unit or function.  Return FALSE if this range
 * does not contain @address.
 */
gboolean kmt_sym_address_ranges_find(const GArray *sorted, guint64 address,
				     guint *index);

#endif
