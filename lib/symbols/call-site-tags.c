// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/address-search.h"
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
	const KmtSymTag *tag;
	guint n;

	if (!tags)
		return NULL;
	n = kmt_count_addresses_to(tags->tags->data, tags->tags->len,
				   sizeof(*tag), address);
	if (n == 0)
		return NULL;
	tag = &g_array_index(tags->tags, KmtSymTag, n - 1);
	return tag->address == address ? tag : NULL;
}
