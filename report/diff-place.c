// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/diff-align.h"
#include "report/diff-key.h"
#include "report/diff-place.h"

#include <stdlib.h>
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

KmtDiffPlaces *kmt_diff_places_new(GStringChunk *strings, GPtrArray *memory)
{
	KmtDiffPlaces *places = g_new0(KmtDiffPlaces, 1);

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

/* ---- matching ---- */

/* Compare the suffixes that the compiler added to the functions, and then the
 * addresses. Parts that the compiler moved to another section are last. */
static int compare_order(const KmtDiffBuildPlace *a, const KmtDiffBuildPlace *b)
{
	const KmtDiffFrame *x = a->place.frames, *y = b->place.frames;
	int order = g_strcmp0(x->function, y->function);
	guint i;

	if (!order && a->start != b->start)
		return a->start < b->start ? -1 : 1;
	for (i = 0; !order && i < a->place.n; i++) {
		if (x[i].position != y[i].position)
			return x[i].position < y[i].position ? -1 : 1;
		order = g_strcmp0(x[i].function, y[i].function);
	}
	return order;
}

/* Sort by names, then by build, then by the order within the build. */
static int compare_places(const void *a, const void *b)
{
	const KmtDiffBuildPlace *x = *(KmtDiffBuildPlace *const *)a;
	const KmtDiffBuildPlace *y = *(KmtDiffBuildPlace *const *)b;
	int order = strcmp(x->names, y->names);

	if (order)
		return order;
	if (x->build != y->build)
		return x->build < y->build ? -1 : 1;
	return compare_order(x, y);
}

/* The two sequences of an alignment. */
typedef struct {
	KmtDiffBuildPlace *const *known; /* of the builds before */
	KmtDiffBuildPlace *const *added; /* of one build */
} PlacePair;

static double position_ratio(const KmtDiffPlace *a, const KmtDiffPlace *b)
{
	double sum = 0;
	guint i;

	for (i = 0; i < a->n; i++) {
		guint64 x = a->frames[i].position, y = b->frames[i].position;

		sum += x == y ? 1 : ratio_of((double)x, (double)y) * 0.9;
	}
	return sum / a->n;
}

/*
 * Return the similarity of two source locations from 0 to 1, or a negative
 * value if one of them is unknown. Lines move when other lines are inserted.
 */
static double source_ratio(const KmtDiffPlace *a, const KmtDiffPlace *b)
{
	const char *x = a->frames[0].source, *y = b->frames[0].source;
	const char *colon;
	guint64 line, other;

	if (!x || !y)
		return -1;
	colon = strrchr(x, ':');
	if (!colon || strncmp(x, y, (gsize)(colon - x) + 1) != 0)
		return 0;
	line = g_ascii_strtoull(colon + 1, NULL, 10);
	other = g_ascii_strtoull(y + (colon - x) + 1, NULL, 10);
	return 1 /
	       (1 + (double)(line > other ? line - other : other - line) / 20);
}

/*
 * Return the similarity of two places with the same names. Code that allocates
 * memory of other kinds never matches. A pair that is similar in nothing else
 * is better than none: a size or a count may be what changed.
 */
static double similarity_of(gconstpointer user, guint i, guint j)
{
	const PlacePair *pair = user;
	const KmtDiffBuildPlace *a = pair->known[i], *b = pair->added[j];
	double source = source_ratio(&a->place, &b->place);
	gboolean same_name = g_strcmp0(a->place.frames[0].function,
				       b->place.frames[0].function) == 0;
	double other;

	if (!(a->traits.kinds & b->traits.kinds))
		return 0;
	other = 0.35 * kmt_diff_traits_size_ratio(&a->traits, &b->traits) +
		0.25 * kmt_diff_traits_count_ratio(&a->traits, &b->traits) +
		0.25 * position_ratio(&a->place, &b->place) + 0.15 * same_name;
	return 0.1 + 0.9 * (source < 0 ? other : 0.6 * source + 0.4 * other);
}

/* Return the number of places from @begin on that compare equal in @names and,
 * if @build is not NULL, in the build. */
static guint run_length(KmtDiffBuildPlace **begin, KmtDiffBuildPlace **end,
			gboolean same_build)
{
	guint n = 1;

	while (begin + n < end &&
	       strcmp(begin[n]->names, (*begin)->names) == 0 &&
	       (!same_build || begin[n]->build == (*begin)->build))
		n++;
	return n;
}

/*
 * Align the @m places of one build with the @n known places, which have a code
 * each. Give a new code to a place without a partner, and merge it into the
 * known places. Return their new number. @known has room for n + m.
 */
static guint align_build(KmtDiffBuildPlace **known, guint n,
			 KmtDiffBuildPlace **added, guint m, guint32 *n_codes)
{
	g_autofree KmtDiffBuildPlace **before =
		g_memdup2(known, n * sizeof(*known));
	g_autofree guint *pair = g_new(guint, MAX(n, 1));
	PlacePair sequences = {before, added};
	guint i, j = 0, total = 0;

	kmt_diff_align(n, m, similarity_of, &sequences, pair);
	for (i = 0; i <= n; i++) {
		guint stop = i == n ? m : pair[i];

		for (; stop != KMT_DIFF_UNPAIRED && j < stop; j++) {
			added[j]->code = (*n_codes)++;
			known[total++] = added[j];
		}
		if (i == n)
			break;
		if (stop != KMT_DIFF_UNPAIRED)
			added[j++]->code = before[i]->code;
		known[total++] = before[i];
	}
	return total;
}

/* Set the codes of the places from @begin to @end, which have the same names.
 */
static void match_names(KmtDiffBuildPlace **begin, KmtDiffBuildPlace **end,
			guint32 *n_codes)
{
	g_autofree KmtDiffBuildPlace **known =
		g_new(KmtDiffBuildPlace *, (gsize)(end - begin));
	guint n = 0, m;

	for (; begin < end; begin += m) {
		m = run_length(begin, end, TRUE);
		n = align_build(known, n, begin, m, n_codes);
	}
}

void kmt_diff_places_match(KmtDiffPlaces *places)
{
	guint n = places->places->len, m;
	g_autofree KmtDiffBuildPlace **sorted =
		g_new(KmtDiffBuildPlace *, MAX(n, 1));
	KmtDiffBuildPlace **at = sorted, **end = sorted + n;
	guint32 n_codes = 0;
	guint i;

	for (i = 0; i < n; i++)
		sorted[i] = places->places->pdata[i];
	qsort(sorted, n, sizeof(KmtDiffBuildPlace *), compare_places);
	for (; at < end; at += m) {
		m = run_length(at, end, FALSE);
		match_names(at, at + m, &n_codes);
	}
}
