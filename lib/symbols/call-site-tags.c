// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/printable.h"
#include "lib/symbols/call-site-tags.h"

struct KmtSymTags {
	GArray *tags; /* KmtSymTag elements, sorted by address and went */
	GStringChunk *strings; /* each different string once */
};

static const char *keep(KmtSymTags *tags, const char *text)
{
	g_autofree char *printable = kmt_printable(text);

	return g_string_chunk_insert_const(tags->strings, printable);
}

static int compare_pointers(gconstpointer a, gconstpointer b)
{
	return a < b ? -1 : a > b;
}

/*
 * Compare two tags without went. Equal strings are the same string of the
 * chunk.
 */
static int compare_names(const KmtSymTag *a, const KmtSymTag *b)
{
	int order = a->address < b->address ? -1 : a->address > b->address;

	if (!order)
		order = compare_pointers(a->function, b->function);
	if (!order)
		order = compare_pointers(a->module, b->module);
	if (!order)
		order = compare_pointers(a->file, b->file);
	return order ? order : a->line < b->line ? -1 : a->line > b->line;
}

static gint compare_tags(gconstpointer a, gconstpointer b)
{
	const KmtSymTag *x = *(const KmtSymTag *const *)a;
	const KmtSymTag *y = *(const KmtSymTag *const *)b;
	int order = compare_names(x, y);

	return order ? order : compare_pointers(x, y);
}

/* Set the member first of each tag. */
static void find_equal_tags(GArray *tags)
{
	g_autoptr(GPtrArray) order = g_ptr_array_sized_new(tags->len);
	const KmtSymTag *first = NULL;
	guint i;

	for (i = 0; i < tags->len; i++)
		g_ptr_array_add(order, &g_array_index(tags, KmtSymTag, i));
	g_ptr_array_sort(order, compare_tags);
	for (i = 0; i < order->len; i++) {
		KmtSymTag *tag = order->pdata[i];

		if (!first || compare_names(tag, first) != 0)
			first = tag;
		tag->first = first;
	}
}

KmtSymTags *kmt_sym_tags_new(const KmtSymTag *from, guint n)
{
	KmtSymTags *tags = g_new0(KmtSymTags, 1);
	guint i;

	tags->tags = g_array_sized_new(FALSE, FALSE, sizeof(KmtSymTag), n);
	tags->strings = g_string_chunk_new(4096);
	for (i = 0; i < n; i++) {
		g_autofree char *directory = g_path_get_dirname(from[i].file);
		KmtSymTag tag = from[i];

		tag.function = keep(tags, tag.function);
		tag.module = tag.module ? keep(tags, tag.module) : NULL;
		tag.file = keep(tags, tag.file);
		tag.directory = keep(tags, directory);
		g_array_append_val(tags->tags, tag);
	}
	find_equal_tags(tags->tags);
	return tags;
}

void kmt_sym_tags_free(KmtSymTags *tags)
{
	if (!tags)
		return;
	g_array_unref(tags->tags);
	g_string_chunk_free(tags->strings);
	g_free(tags);
}

const KmtSymTag *kmt_sym_tags_lookup(const KmtSymTags *tags, guint64 address,
				     gint64 time)
{
	guint low = 0, high = tags ? tags->tags->len : 0;
	const KmtSymTag *found = NULL;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const KmtSymTag *tag =
			&g_array_index(tags->tags, KmtSymTag, middle);

		if (tag->address < address ||
		    (tag->address == address && tag->went < time)) {
			low = middle + 1;
		} else {
			high = middle;
			found = tag;
		}
	}
	return found && found->address == address ? found->first : NULL;
}

const KmtSymTag *kmt_sym_tags_get(const KmtSymTags *tags, guint *n)
{
	*n = tags ? tags->tags->len : 0;
	return tags ? (const KmtSymTag *)(void *)tags->tags->data : NULL;
}
