// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-key.h"
#include "report/diff-location.h"

#include <string.h>

void kmt_diff_traits_add(KmtDiffTraits *traits, const KmtDiffTraits *other,
			 guint capture)
{
	traits->kinds |= other->kinds;
	traits->allocs += other->allocs;
	traits->bytes_req += other->bytes_req;
	traits->bytes_alloc += other->bytes_alloc;
	traits->captures += traits->next_capture != capture + 1;
	traits->next_capture = capture + 1;
}

static double ratio_of(double a, double b)
{
	return a > 0 && b > 0 ? MIN(a, b) / MAX(a, b) : 0;
}

double kmt_diff_traits_size_ratio(const KmtDiffTraits *a,
				  const KmtDiffTraits *b)
{
	if (!a->allocs || !b->allocs)
		return 0;
	return ratio_of((double)a->bytes_req / (double)a->allocs,
			(double)b->bytes_req / (double)b->allocs);
}

double kmt_diff_traits_count_ratio(const KmtDiffTraits *a,
				   const KmtDiffTraits *b)
{
	return ratio_of((double)a->allocs * b->captures,
			(double)b->allocs * a->captures);
}

KmtDiffLocations *kmt_diff_locations_new(gboolean by_kind,
					 GStringChunk *strings,
					 GPtrArray *memory)
{
	KmtDiffLocations *locations = g_new0(KmtDiffLocations, 1);

	locations->by_kind = by_kind;
	locations->locations = g_ptr_array_new();
	locations->index =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	locations->buffer = g_string_new(NULL);
	locations->strings = strings;
	locations->memory = memory;
	return locations;
}

void kmt_diff_locations_free(KmtDiffLocations *locations)
{
	if (!locations)
		return;
	g_hash_table_unref(locations->index);
	g_ptr_array_unref(locations->locations);
	g_string_free(locations->buffer, TRUE);
	g_free(locations);
}

gboolean kmt_diff_location_is_unnamed(const KmtDiffLocation *location)
{
	guint i;

	for (i = 0; i < location->n; i++)
		if (!location->frames[i].function)
			return TRUE;
	return FALSE;
}

gsize kmt_diff_name_length(const char *function)
{
	const char *dot = strchr(function, '.');

	/* A name that begins with a dot has no other part. */
	return dot && dot > function ? (gsize)(dot - function)
				     : strlen(function);
}

/* Set @key to the key of a location in its build. */
static void set_key(GString *key, guint build, const KmtDiffFrame *frames,
		    guint n, guint64 start)
{
	guint i;

	g_string_truncate(key, 0);
	kmt_diff_key_number(key, build);
	kmt_diff_key_number(key, start);
	for (i = 0; i < n; i++) {
		kmt_diff_key_text(key, frames[i].function);
		kmt_diff_key_text(key, frames[i].module);
		kmt_diff_key_number(key, frames[i].position);
	}
}

/*
 * Set @names to the names that locations of other builds must have. An unknown
 * function has no name in other builds, so its location only has the names of
 * its own build.
 */
static void set_names(GString *names, guint build, const KmtDiffFrame *frames,
		      guint n)
{
	guint i;

	g_string_truncate(names, 0);
	for (i = 0; i < n; i++) {
		const char *function = frames[i].function;

		if (function) {
			kmt_diff_key_bytes(names, function,
					   kmt_diff_name_length(function));
			kmt_diff_key_text(names, frames[i].module);
			continue;
		}
		/* The text is the name of no function. */
		kmt_diff_key_text(names, "[unknown]");
		kmt_diff_key_number(names, build);
		kmt_diff_key_number(names, frames[i].position);
	}
}

guint32 kmt_diff_locations_add(KmtDiffLocations *locations, guint build,
			       const KmtDiffFrame *frames, guint n,
			       guint64 start, const char *text)
{
	GString *buffer = locations->buffer;
	KmtDiffBuildLocation *location;
	KmtDiffFrame *copy;
	gpointer found;
	char *key;

	set_key(buffer, build, frames, n, start);
	found = g_hash_table_lookup(locations->index, buffer->str);
	if (found)
		return GPOINTER_TO_UINT(found) - 1;
	key = g_strdup(buffer->str);
	set_names(buffer, build, frames, n);
	/* The frames follow the location in one block. */
	location = g_malloc0(sizeof(*location) + n * sizeof(*frames));
	g_ptr_array_add(locations->memory, location);
	copy = (void *)(location + 1);
	memcpy(copy, frames, n * sizeof(*frames));
	location->build = build;
	location->start = start;
	location->names =
		g_string_chunk_insert(locations->strings, buffer->str);
	location->location.n = n;
	location->location.frames = copy;
	location->location.text = text;
	g_ptr_array_add(locations->locations, location);
	g_hash_table_insert(locations->index, key,
			    GUINT_TO_POINTER(locations->locations->len));
	return locations->locations->len - 1;
}
