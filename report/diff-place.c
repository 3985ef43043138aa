// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-key.h"
#include "report/diff-place.h"

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

KmtDiffPlaces *kmt_diff_places_new(gboolean by_kind, GStringChunk *strings,
				   GPtrArray *memory)
{
	KmtDiffPlaces *places = g_new0(KmtDiffPlaces, 1);

	places->by_kind = by_kind;
	places->places = g_ptr_array_new();
	places->index =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	places->strings = strings;
	places->memory = memory;
	return places;
}

void kmt_diff_places_free(KmtDiffPlaces *places)
{
	if (!places)
		return;
	g_hash_table_unref(places->index);
	g_ptr_array_unref(places->places);
	g_free(places);
}

gboolean kmt_diff_place_is_unnamed(const KmtDiffPlace *place)
{
	guint i;

	for (i = 0; i < place->n; i++)
		if (!place->frames[i].function)
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

/* Return the key of a place in its build. The caller frees the string. */
static char *key_of(guint build, const KmtDiffFrame *frames, guint n,
		    guint64 start)
{
	GString *key = g_string_new(NULL);
	guint i;

	kmt_diff_key_number(key, build);
	kmt_diff_key_number(key, start);
	for (i = 0; i < n; i++) {
		kmt_diff_key_text(key, frames[i].function);
		kmt_diff_key_text(key, frames[i].module);
		kmt_diff_key_number(key, frames[i].position);
	}
	return g_string_free(key, FALSE);
}

/*
 * Return the names that places of other builds must have. An unknown function
 * has no name in other builds, so its place only has the names of its own
 * build. The caller frees the string.
 */
static char *names_of(guint build, const KmtDiffFrame *frames, guint n)
{
	GString *names = g_string_new(NULL);
	guint i;

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
	return g_string_free(names, FALSE);
}

guint32 kmt_diff_places_add(KmtDiffPlaces *places, guint build,
			    const KmtDiffFrame *frames, guint n, guint64 start,
			    const char *text)
{
	char *key = key_of(build, frames, n, start);
	gpointer found = g_hash_table_lookup(places->index, key);
	g_autofree char *names = NULL;
	KmtDiffBuildPlace *place;
	KmtDiffFrame *copy;

	if (found) {
		g_free(key);
		return GPOINTER_TO_UINT(found) - 1;
	}
	names = names_of(build, frames, n);
	copy = g_memdup2(frames, n * sizeof(*frames));
	g_ptr_array_add(places->memory, copy);
	place = g_new0(KmtDiffBuildPlace, 1);
	g_ptr_array_add(places->memory, place);
	place->build = build;
	place->start = start;
	place->names = g_string_chunk_insert(places->strings, names);
	place->place.n = n;
	place->place.frames = copy;
	place->place.text = text;
	g_ptr_array_add(places->places, place);
	g_hash_table_insert(places->index, key,
			    GUINT_TO_POINTER(places->places->len));
	return places->places->len - 1;
}
