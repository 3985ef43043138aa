// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/address-search.h"
#include "lib/symbols/address-ranges.h"

/*
 * Address range of a compile unit or a function, start inclusive, end
 * exclusive. @index selects the unit or the function in its array. One function
 * may have several ranges, because compilers place cold code apart from hot
 * code.
 */
typedef struct {
	guint64 start;
	guint64 end;
	guint index;
} AddressRange;

GArray *kmt_sym_address_ranges_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(AddressRange));
}

void kmt_sym_address_ranges_add(GArray *ranges, Dwarf_Die *die, guint index)
{
	AddressRange range = {.index = index};
	Dwarf_Addr base;
	ptrdiff_t offset = 0;

	while ((offset = dwarf_ranges(die, offset, &base, &range.start,
				      &range.end)) > 0)
		if (range.start < range.end)
			g_array_append_val(ranges, range);
}

static gint compare_ranges(gconstpointer a, gconstpointer b)
{
	const AddressRange *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void kmt_sym_address_ranges_sort(GArray *ranges)
{
	g_array_sort(ranges, compare_ranges);
}

gboolean kmt_sym_address_ranges_find(const GArray *sorted, guint64 address,
				     guint *index)
{
	const AddressRange *ranges =
		(const AddressRange *)(const void *)sorted->data;
	guint n = kmt_count_addresses_to(ranges, sorted->len, sizeof(*ranges),
					 address);

	if (n == 0 || address >= ranges[n - 1].end)
		return FALSE;
	*index = ranges[n - 1].index;
	return TRUE;
}
