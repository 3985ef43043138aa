// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/printable.h"
#include "lib/symbols/call-site-tags.h"

struct KmtSymTags {
	GArray *tags;	       /* KmtSymTag elements, sorted by address */
	GStringChunk *strings; /* each different string once */
};

static const char *keep(KmtSymTags *tags, const char *text)
{
	g_autofree char *printable = kmt_printable(text);

	return g_string_chunk_insert_const(tags->strings, printable);
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

const KmtSymTag *kmt_sym_tags_lookup(const KmtSymTags *tags, guint64 address)
{
	guint low = 0, high = tags ? tags->tags->len : 0;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		const KmtSymTag *tag =
			&g_array_index(tags->tags, KmtSymTag, middle);

		if (tag->address == address)
			return tag;
		if (tag->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
