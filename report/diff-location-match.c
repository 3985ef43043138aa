// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the locations that are the same code in several builds. */
#include "config.h"

#include "report/diff-align.h"
#include "report/diff-location.h"

#include <stdlib.h>
#include <string.h>

/* Weights of the properties of two locations in their similarity. */
#define SIZE_WEIGHT	0.4
#define COUNT_WEIGHT	0.25
#define POSITION_WEIGHT 0.35
/* Weight of a known source line against all other properties. */
#define SOURCE_WEIGHT 0.6
/* Similarity of locations that have nothing else in common. Such a pair is
 * better than none: the size and the count may be what changed. */
#define LEAST_SIMILARITY 0.02
/* Similarity from which locations match in another order. */
#define EXCHANGED_SIMILARITY 0.25

/* Return the first kind of a location. */
static guint kind_of(const KmtDiffBuildLocation *location)
{
	return location->traits.kinds & -location->traits.kinds;
}

/* Compare the suffixes that the compiler added to the functions, and then the
 * addresses. Parts that the compiler moved to another section are last. */
static int compare_order(const KmtDiffBuildLocation *a,
			 const KmtDiffBuildLocation *b)
{
	const KmtDiffFrame *x = a->location.frames, *y = b->location.frames;
	int order = g_strcmp0(x->function, y->function);
	guint i;

	if (!order && a->start != b->start)
		return a->start < b->start ? -1 : 1;
	for (i = 0; !order && i < a->location.n; i++) {
		if (x[i].position != y[i].position)
			return x[i].position < y[i].position ? -1 : 1;
		order = g_strcmp0(x[i].function, y[i].function);
	}
	return order;
}

static gboolean same_code_name(const KmtDiffBuildLocation *a,
			       const KmtDiffBuildLocation *b, gboolean by_kind)
{
	return a->name_number == b->name_number &&
	       (!by_kind || kind_of(a) == kind_of(b));
}

/* Sort by names and kind, then by build, then by the order within the build. */
static gint compare_locations(gconstpointer a, gconstpointer b,
			      gpointer by_kind)
{
	const KmtDiffBuildLocation *x = *(KmtDiffBuildLocation *const *)a;
	const KmtDiffBuildLocation *y = *(KmtDiffBuildLocation *const *)b;

	if (x->name_number != y->name_number)
		return x->name_number < y->name_number ? -1 : 1;
	if (by_kind && kind_of(x) != kind_of(y))
		return kind_of(x) < kind_of(y) ? -1 : 1;
	if (x->build != y->build)
		return x->build < y->build ? -1 : 1;
	return compare_order(x, y);
}

/* ---- similarity ---- */

/* Compare the offsets. Code that did not change keeps them. */
static double position_ratio(const KmtDiffLocation *a, const KmtDiffLocation *b)
{
	double sum = 0;
	guint i;

	for (i = 0; i < a->n; i++) {
		guint64 x = a->frames[i].position, y = b->frames[i].position;

		sum += x == y ? 1 : 0.5 * (double)MIN(x, y) / (double)MAX(x, y);
	}
	return sum / a->n;
}

/*
 * Return the similarity of two source locations from 0 to 1, or a negative
 * value if one of them is unknown. Lines move when other lines are inserted.
 */
static double source_ratio(const KmtDiffLocation *a, const KmtDiffLocation *b)
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
 * Return the file of a source location without its folder, and set *length to
 * that of its name; NULL if the location is unknown or the file is not one of
 * C. The location may be in an inlined function of a header.
 */
static const char *file_of(const KmtDiffLocation *location, gsize *length)
{
	const char *source = location->frames[0].source;
	const char *slash = source ? strrchr(source, '/') : NULL;
	const char *file = slash ? slash + 1 : source;
	const char *colon = file ? strrchr(file, ':') : NULL;

	if (!colon || colon - file < 3 || strncmp(colon - 2, ".c", 2) != 0)
		return NULL;
	*length = (gsize)(colon - file);
	return file;
}

/*
 * Return whether two locations are in source files of different names: static
 * functions of one name, or code that moved. The folders may differ, because
 * those of a module contain the version or the machine of its build.
 */
static gboolean are_in_different_files(const KmtDiffLocation *a,
				       const KmtDiffLocation *b)
{
	gsize n, m;
	const char *x = file_of(a, &n), *y = file_of(b, &m);

	return x && y && (n != m || strncmp(x, y, n) != 0);
}

/* Return the similarity of two locations with the same names; 0 if they do not
 * match. */
static double similarity_of(const KmtDiffBuildLocation *a,
			    const KmtDiffBuildLocation *b)
{
	double source = source_ratio(&a->location, &b->location);
	double size = kmt_diff_traits_size_ratio(&a->traits, &b->traits);
	double count = kmt_diff_traits_count_ratio(&a->traits, &b->traits);
	double other =
		SIZE_WEIGHT * size + COUNT_WEIGHT * count +
		POSITION_WEIGHT * position_ratio(&a->location, &b->location);

	if (are_in_different_files(&a->location, &b->location))
		return 0;
	/* One pair that agrees counts more than two that agree by half. */
	other = other * other * other;
	if (source >= 0)
		other = SOURCE_WEIGHT * source + (1 - SOURCE_WEIGHT) * other;
	return LEAST_SIMILARITY + (1 - LEAST_SIMILARITY) * other;
}

/* ---- alignment ---- */

/* The sequences of an alignment. */
typedef struct {
	KmtDiffBuildLocation **known; /* of earlier builds, with codes */
	KmtDiffBuildLocation **added; /* of one build */
	guint n, m;
	guint *pair; /* for each known location its partner, or UNPAIRED */
} LocationPair;

static double pair_similarity(gconstpointer user, guint i, guint j)
{
	const LocationPair *p = user;

	return similarity_of(p->known[i], p->added[j]);
}

/* The locations without a partner. */
typedef struct {
	const LocationPair *all;
	GArray *known, *added; /* guint: numbers in *all */
} LeftLocations;

static double left_similarity(gconstpointer user, guint i, guint j)
{
	const LeftLocations *left = user;
	double similarity =
		pair_similarity(left->all, g_array_index(left->known, guint, i),
				g_array_index(left->added, guint, j));

	return similarity >= EXCHANGED_SIMILARITY ? similarity : 0;
}

/* Collect the locations without a partner. */
static void collect_left(LeftLocations *left)
{
	const LocationPair *p = left->all;
	g_autofree gboolean *paired = g_new0(gboolean, p->m);
	guint i;

	g_array_set_size(left->known, 0);
	g_array_set_size(left->added, 0);
	for (i = 0; i < p->n; i++)
		if (p->pair[i] != KMT_DIFF_UNPAIRED)
			paired[p->pair[i]] = TRUE;
		else
			g_array_append_val(left->known, i);
	for (i = 0; i < p->m; i++)
		if (!paired[i])
			g_array_append_val(left->added, i);
}

/* Pair the locations that are left and are very similar, in their order. Return
 * whether there was any. */
static gboolean pair_left(LocationPair *p, LeftLocations *left)
{
	guint n, i;
	g_autofree guint *pair = NULL;
	gboolean any = FALSE;

	collect_left(left);
	n = left->known->len;
	pair = g_new(guint, MAX(n, 1));
	kmt_diff_align(n, left->added->len, left_similarity, left, pair);
	for (i = 0; i < n; i++) {
		if (pair[i] == KMT_DIFF_UNPAIRED)
			continue;
		p->pair[g_array_index(left->known, guint, i)] =
			g_array_index(left->added, guint, pair[i]);
		any = TRUE;
	}
	return any;
}

/* Return whether one of the sequences has no location without a partner. */
static gboolean is_paired(const LocationPair *p)
{
	guint n_pairs = 0, i;

	for (i = 0; i < p->n; i++)
		n_pairs += p->pair[i] != KMT_DIFF_UNPAIRED;
	return n_pairs == MIN(p->n, p->m);
}

/* Pair locations that the compiler exchanged: each further alignment of the
 * locations that are left finds another block of code. */
static void pair_exchanged(LocationPair *p)
{
	LeftLocations left;

	if (is_paired(p))
		return;
	left = (LeftLocations){p, g_array_new(FALSE, FALSE, sizeof(guint)),
			       g_array_new(FALSE, FALSE, sizeof(guint))};
	while (pair_left(p, &left))
		;
	g_array_unref(left.known);
	g_array_unref(left.added);
}

/* The state of kmt_diff_locations_match(). All names share the arrays, because
 * most names have one location in each build, and the arrays of their own took
 * half of the instructions of the matching. */
typedef struct {
	KmtDiffBuildLocation **known, **before;
	guint *pair;
	gboolean *paired;
	guint32 n_codes;
} Matching;

/*
 * Give each added location the code of its partner, or else a new code. Store
 * the known locations in matching->known, and those without a partner after the
 * locations that precede them. Return the new number of known locations.
 */
static guint merge_added(const LocationPair *p, Matching *matching)
{
	KmtDiffBuildLocation **known = matching->known;
	gboolean *paired = matching->paired;
	guint i, j = 0, total = 0;

	memset(paired, 0, p->m * sizeof(*paired));
	for (i = 0; i < p->n; i++) {
		if (p->pair[i] == KMT_DIFF_UNPAIRED)
			continue;
		p->added[p->pair[i]]->code = p->known[i]->code;
		paired[p->pair[i]] = TRUE;
	}
	for (i = 0; i <= p->n; i++) {
		guint stop = i == p->n ? p->m : p->pair[i];

		for (; stop != KMT_DIFF_UNPAIRED && j < stop; j++) {
			if (paired[j])
				continue;
			p->added[j]->code = matching->n_codes++;
			known[total++] = p->added[j];
		}
		if (i < p->n)
			known[total++] = p->known[i];
	}
	return total;
}

/* Set the codes of the locations from @begin to @end, which have the same names
 * and are sorted by build. */
static void match_names(Matching *matching, KmtDiffBuildLocation **begin,
			KmtDiffBuildLocation **end)
{
	guint n = 0;

	while (begin < end) {
		LocationPair p = {matching->known, begin, n, 0, matching->pair};

		matching->known = matching->before;
		matching->before = p.known;
		while (begin + p.m < end &&
		       begin[p.m]->build == (*begin)->build)
			p.m++;
		if (n) {
			kmt_diff_align(n, p.m, pair_similarity, &p, p.pair);
			pair_exchanged(&p);
		}
		n = merge_added(&p, matching);
		begin += p.m;
	}
}

/* Return the locations sorted by names, kind, build, and order. The caller
 * frees the array. */
static KmtDiffBuildLocation **sort_locations(const KmtDiffLocations *locations)
{
	guint n = locations->locations->len;
	KmtDiffBuildLocation **sorted =
		g_new(KmtDiffBuildLocation *, MAX(n, 1));
	guint i;

	for (i = 0; i < n; i++)
		sorted[i] = locations->locations->pdata[i];
	g_qsort_with_data(sorted, (gint)n, sizeof(*sorted), compare_locations,
			  GINT_TO_POINTER(locations->by_kind));
	return sorted;
}

void kmt_diff_locations_match(KmtDiffLocations *locations)
{
	guint n = locations->locations->len, m;
	g_autofree KmtDiffBuildLocation **sorted = sort_locations(locations);
	g_autofree KmtDiffBuildLocation **known =
		g_new(KmtDiffBuildLocation *, 2 * (gsize)MAX(n, 1));
	g_autofree guint *pair = g_new(guint, MAX(n, 1));
	g_autofree gboolean *paired = g_new(gboolean, MAX(n, 1));
	KmtDiffBuildLocation **at = sorted, **end = sorted + n;
	Matching matching = {known, known + n, pair, paired, 0};

	for (; at < end; at += m) {
		for (m = 1; at + m < end; m++)
			if (!same_code_name(*at, at[m], locations->by_kind))
				break;
		match_names(&matching, at, at + m);
	}
}
