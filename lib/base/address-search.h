/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Binary search in an array that is sorted by address. */
#ifndef KMEMTRACE_BASE_ADDRESS_SEARCH_H
#define KMEMTRACE_BASE_ADDRESS_SEARCH_H

#include <glib.h>

/*
 * Return how many of the @n elements have an address of at most @address. Each
 * element has @size bytes and begins with its address, a guint64. The elements
 * are sorted by address.
 */
static inline guint kmt_count_addresses_to(gconstpointer elements, guint n,
					   gsize size, guint64 address)
{
	guint low = 0, high = n;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const guint64 *at = (gconstpointer)((const guint8 *)elements +
						    middle * size);

		if (*at <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
