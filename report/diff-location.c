// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/base/hash.h"
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

/* ---- the indexes ---- */

/* Equal strings are the same string, so the hashes and the comparisons of both
 * indexes use the pointers: texts as keys took 2300 instructions for each row
 * of a comparison. */
static guint64 hash_string(guint64 hash, const char *string)
{
	return kmt_hash(hash, (guintptr)string);
}

static guint64 hash_of_location(const KmtDiffLocations *locations,
				const KmtDiffBuildLocation *l)
{
	guint64 hash = kmt_hash(locations->seed ^ l->build, l->start);
	guint i;

	for (i = 0; i < l->location.n; i++) {
		const KmtDiffFrame *frame = &l->location.frames[i];

		hash = hash_string(hash, frame->function);
		hash = hash_string(hash, frame->module);
		hash = kmt_hash(hash, frame->position);
	}
	return hash;
}

static guint64 location_hash(gconstpointer user, guint32 number)
{
	const KmtDiffLocations *locations = user;

	return hash_of_location(locations, locations->locations->pdata[number]);
}

static gboolean location_equal(gconstpointer user, guint32 number,
			       gconstpointer key)
{
	const KmtDiffLocations *locations = user;
	const KmtDiffBuildLocation *a = locations->locations->pdata[number];
	const KmtDiffBuildLocation *b = key;
	guint i;

	if (a->build != b->build || a->start != b->start ||
	    a->location.n != b->location.n)
		return FALSE;
	for (i = 0; i < a->location.n; i++) {
		const KmtDiffFrame *x = &a->location.frames[i];
		const KmtDiffFrame *y = &b->location.frames[i];

		if (x->function != y->function || x->module != y->module ||
		    x->position != y->position)
			return FALSE;
	}
	return TRUE;
}

static guint64 hash_of_names(const KmtDiffLocations *locations,
			     const KmtDiffBuildLocation *l)
{
	guint64 hash = locations->seed;
	guint i;

	for (i = 0; i < l->location.n; i++) {
		const KmtDiffFrame *frame = &l->location.frames[i];

		hash = hash_string(hash, l->names[i]);
		hash = hash_string(hash, frame->module);
		if (!l->names[i])
			hash = kmt_hash(hash ^ l->build, frame->position);
	}
	return hash;
}

static guint64 name_hash(gconstpointer user, guint32 number)
{
	const KmtDiffLocations *locations = user;

	return hash_of_names(locations, locations->named->pdata[number]);
}

/* Return whether two locations have the same names. An unknown function has no
 * name in other builds, and its address is its name in its own build. */
static gboolean name_equal(gconstpointer user, guint32 number,
			   gconstpointer key)
{
	const KmtDiffLocations *locations = user;
	const KmtDiffBuildLocation *a = locations->named->pdata[number];
	const KmtDiffBuildLocation *b = key;
	guint i;

	if (a->location.n != b->location.n)
		return FALSE;
	for (i = 0; i < a->location.n; i++) {
		const KmtDiffFrame *x = &a->location.frames[i];
		const KmtDiffFrame *y = &b->location.frames[i];

		if (a->names[i] != b->names[i] || x->module != y->module)
			return FALSE;
		if (!a->names[i] &&
		    (a->build != b->build || x->position != y->position))
			return FALSE;
	}
	return TRUE;
}

/* ---- the locations ---- */

KmtDiffLocations *kmt_diff_locations_new(gboolean by_kind, KmtArena *arena,
					 GStringChunk *strings)
{
	KmtDiffLocations *locations = g_new0(KmtDiffLocations, 1);

	locations->by_kind = by_kind;
	locations->locations = g_ptr_array_new();
	locations->named = g_ptr_array_new();
	locations->arena = arena;
	locations->strings = strings;
	locations->seed = kmt_hash_seed();
	kmt_index_init(&locations->index, location_hash, location_equal);
	kmt_index_init(&locations->name_index, name_hash, name_equal);
	return locations;
}

void kmt_diff_locations_free(KmtDiffLocations *locations)
{
	if (!locations)
		return;
	kmt_index_clear(&locations->index);
	kmt_index_clear(&locations->name_index);
	g_ptr_array_unref(locations->locations);
	g_ptr_array_unref(locations->named);
	g_free(locations);
}

/* Return the string of a function's name without suffixes of the compiler. */
static const char *intern_name(const KmtDiffLocations *locations,
			       const char *function)
{
	g_autofree char *name = NULL;
	gsize length = kmt_diff_name_length(function);

	if (!function[length])
		return function;
	name = g_strndup(function, length);
	return g_string_chunk_insert_const(locations->strings, name);
}

/* Set the names of a new location and their number. */
static void set_names(KmtDiffLocations *locations, KmtDiffBuildLocation *l)
{
	guint64 hash;
	guint i;

	for (i = 0; i < l->location.n; i++) {
		const char *function = l->location.frames[i].function;

		l->names[i] =
			function ? intern_name(locations, function) : NULL;
	}
	hash = hash_of_names(locations, l);
	l->name_number =
		kmt_index_find(&locations->name_index, locations, hash, l);
	if (l->name_number != KMT_INDEX_NONE)
		return;
	l->name_number = locations->named->len;
	g_ptr_array_add(locations->named, l);
	kmt_index_add(&locations->name_index, locations, hash);
}

KmtDiffBuildLocation *kmt_diff_locations_add(KmtDiffLocations *locations,
					     guint build,
					     const KmtDiffFrame *frames,
					     guint n, guint64 start)
{
	KmtDiffBuildLocation *location;
	KmtDiffBuildLocation key = {.location = {.n = n, .frames = frames},
				    .build = build,
				    .start = start};
	guint64 hash = hash_of_location(locations, &key);
	guint32 number =
		kmt_index_find(&locations->index, locations, hash, &key);

	if (number != KMT_INDEX_NONE)
		return locations->locations->pdata[number];
	/* The frames and the names follow the location. */
	location = kmt_arena_alloc0(
		locations->arena,
		sizeof(*location) +
			n * (sizeof(*frames) + sizeof(*location->names)));
	*location = key;
	location->location.frames =
		memcpy(location + 1, frames, n * sizeof(*frames));
	location->names = (void *)(location->location.frames + n);
	set_names(locations, location);
	g_ptr_array_add(locations->locations, location);
	kmt_index_add(&locations->index, locations, hash);
	return location;
}
