// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Guesses which removed line and which added line may be the same code: a
 * function that was renamed or moved to a module, or code that allocates
 * objects of the same size as often as before.
 */
#include "config.h"

#include "report/diff-private.h"

#include <string.h>

/* Only the lines with the most allocated bytes are compared with each other. */
#define MAX_LINES 200
/* Smallest number of allocations that is evidence: many call sites have fewer.
 */
#define MIN_ALLOCS 10

typedef struct {
	KmtDiffLineState *removed, *added;
	double score;
	const char *reason;
} Guess;

/* Return the only dimension in which two lines differ, or G_MAXUINT. */
static guint differing_dimension(const KmtDiff *diff, const KmtDiffLine *a,
				 const KmtDiffLine *b)
{
	guint found = G_MAXUINT, i;

	for (i = 0; i < diff->by->n; i++) {
		if (strcmp(a->texts[i], b->texts[i]) == 0)
			continue;
		if (found != G_MAXUINT)
			return G_MAXUINT;
		found = i;
	}
	return found;
}

/* Return whether values of the dimension are names that a change may rename. */
static gboolean has_names(KmtDimension dimension)
{
	switch (dimension) {
	case KMT_BY_CALLSITE:
	case KMT_BY_FUNCTION:
	case KMT_BY_OWNER:
	case KMT_BY_STACK:
	case KMT_BY_MODULE:
	case KMT_BY_DIRECTORY:
	case KMT_BY_CACHE:
	case KMT_BY_COMM:
	case KMT_BY_CGROUP:
		return TRUE;
	default:
		return FALSE;
	}
}

static gboolean has_prefix(const char *name, gsize length, const char *prefix,
			   gsize prefix_length)
{
	return length > prefix_length &&
	       strncmp(name, prefix, prefix_length) == 0;
}

static gboolean has_suffix(const char *name, gsize length, const char *suffix,
			   gsize suffix_length)
{
	return length > suffix_length && strncmp(name + length - suffix_length,
						 suffix, suffix_length) == 0;
}

/* Return whether one function's name is that of the other with a prefix or
 * suffix, as in "alloc_noprof" and "__alloc". */
static gboolean are_variants(const char *a, const char *b)
{
	gsize n = kmt_diff_name_length(a), m = kmt_diff_name_length(b);

	/* Short names such as "get" are part of many others. */
	if (MIN(n, m) < 6)
		return FALSE;
	return has_prefix(a, n, b, m) || has_suffix(a, n, b, m) ||
	       has_prefix(b, m, a, n) || has_suffix(b, m, a, n);
}

/* Set the score and the reason of a guess from the first functions of both
 * locations. */
static void compare_functions(Guess *guess, const KmtDiffLocation *a,
			      const KmtDiffLocation *b, gboolean same_size)
{
	const KmtDiffFrame *x = a->frames, *y = b->frames;
	gsize n;

	if (!x->function || !y->function || a->n != b->n)
		return;
	if (x->source && g_strcmp0(x->source, y->source) == 0) {
		guess->score = 3;
		guess->reason = "the same source line";
		return;
	}
	n = kmt_diff_name_length(x->function);
	if (n == kmt_diff_name_length(y->function) &&
	    strncmp(x->function, y->function, n) == 0) {
		guess->score = 2;
		guess->reason = g_strcmp0(x->module, y->module) == 0
					? "the same function"
					: "the function is in another module";
	} else if (same_size && g_strcmp0(x->module, y->module) == 0 &&
		   are_variants(x->function, y->function)) {
		guess->score = 1;
		guess->reason = "a similar name and equal sizes";
	}
}

/* Set the score of a guess to 0 if there is no evidence. */
static void rate(const KmtDiff *diff, Guess *guess)
{
	const KmtDiffLineState *a = guess->removed, *b = guess->added;
	guint i = differing_dimension(diff, &a->line, &b->line);
	double size = kmt_diff_traits_size_ratio(&a->base, &b->new);
	double count = kmt_diff_traits_count_ratio(&a->base, &b->new);
	gboolean same_size = size > 0.99;

	guess->score = 0;
	if (a->line.kind != b->line.kind || i == G_MAXUINT ||
	    !has_names(diff->by->dimensions[i]))
		return;
	if (a->line.base_locations[i] && b->line.new_locations[i]) {
		/* Code of one build did not move. */
		if (kmt_diff_location_whole(a->line.base_locations[i])->build ==
		    kmt_diff_location_whole(b->line.new_locations[i])->build)
			return;
		compare_functions(guess, a->line.base_locations[i],
				  b->line.new_locations[i], same_size);
	}
	if (guess->score == 0 && same_size && count > 0.9 &&
	    MIN(a->base.allocs, b->new.allocs) >= MIN_ALLOCS) {
		guess->score = 0.1;
		guess->reason = "equal sizes and similar counts";
	}
	if (guess->score > 0)
		guess->score += (size + count) / 3;
}

static gint compare_bytes(gconstpointer a, gconstpointer b)
{
	const KmtDiffLineState *x = *(KmtDiffLineState *const *)a;
	const KmtDiffLineState *y = *(KmtDiffLineState *const *)b;
	guint64 m = x->base.bytes_alloc + x->new.bytes_alloc;
	guint64 n = y->base.bytes_alloc + y->new.bytes_alloc;

	return m > n ? -1 : m < n;
}

/* Return the lines with this match that have the most allocated bytes. */
static GPtrArray *largest_lines(const KmtDiff *diff, KmtDiffMatch match)
{
	GPtrArray *lines = g_ptr_array_new();
	guint i;

	for (i = 0; i < diff->lines->len; i++) {
		KmtDiffLine *line = diff->lines->pdata[i];

		if (line->match == match)
			g_ptr_array_add(lines, line);
	}
	g_ptr_array_sort(lines, compare_bytes);
	if (lines->len > MAX_LINES)
		g_ptr_array_set_size(lines, MAX_LINES);
	return lines;
}

static gint compare_scores(gconstpointer a, gconstpointer b)
{
	const Guess *x = a, *y = b;

	return x->score > y->score ? -1 : x->score < y->score;
}

void kmt_diff_guess(KmtDiff *diff)
{
	g_autoptr(GPtrArray) removed = largest_lines(diff, KMT_DIFF_REMOVED);
	g_autoptr(GPtrArray) added = largest_lines(diff, KMT_DIFF_ADDED);
	g_autoptr(GArray) guesses = g_array_new(FALSE, FALSE, sizeof(Guess));
	guint i, j;

	for (i = 0; i < removed->len; i++)
		for (j = 0; j < added->len; j++) {
			Guess guess = {.removed = removed->pdata[i],
				       .added = added->pdata[j]};

			rate(diff, &guess);
			if (guess.score > 0)
				g_array_append_val(guesses, guess);
		}
	/* The sort is stable, so that the result is the same in each run. */
	g_array_sort(guesses, compare_scores);
	for (i = 0; i < guesses->len; i++) {
		const Guess *guess = &g_array_index(guesses, Guess, i);
		KmtDiffLine *a = &guess->removed->line;
		KmtDiffLine *b = &guess->added->line;

		if (a->guess || b->guess)
			continue;
		a->guess = b;
		b->guess = a;
		a->guess_reason = b->guess_reason = guess->reason;
	}
}
