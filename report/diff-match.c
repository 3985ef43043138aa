// SPDX-License-Identifier: GPL-2.0-or-later
/* Combines the rows of all captures to lines. */
#include "config.h"

#include "lib/base/hash.h"
#include "report/diff-private.h"
#include "report/index.h"

#include <string.h>

/* A key of the lines: a kind and values, where a location has the same code in
 * all builds. */
typedef struct {
	const KmtDiffRow *row;		/* the first row with the key */
	KmtDiffLineState *first, *last; /* the lines with the key */
	/* The line of the last row with the key, and the row's capture. */
	KmtDiffLineState *used;
	guint capture;
} Key;

typedef struct {
	KmtIndex index;
	GArray *keys; /* Key */
	guint64 seed; /* of the hashes */
} LineIndex;

/* Return a number that is equal for equal values of a dimension. Equal texts
 * are the same string, so their address serves as the number. */
static guint64 number_of_value(const KmtDiffRow *row, guint i)
{
	return row->locations[i]
		       ? kmt_diff_location_whole(row->locations[i])->code
		       : (guintptr)row->texts[i];
}

static guint64 hash_of_row(const LineIndex *index, const KmtDiffRow *row)
{
	guint64 hash = index->seed ^ row->kind;
	guint i;

	for (i = 0; i < row->n; i++)
		hash = kmt_hash(hash, number_of_value(row, i));
	return hash;
}

static guint64 key_hash(gconstpointer user, guint32 number)
{
	const LineIndex *index = user;

	return hash_of_row(index, g_array_index(index->keys, Key, number).row);
}

static gboolean key_equal(gconstpointer user, guint32 number, gconstpointer key)
{
	const LineIndex *index = user;
	const KmtDiffRow *a = g_array_index(index->keys, Key, number).row;
	const KmtDiffRow *b = key;
	guint i;

	if (a->kind != b->kind)
		return FALSE;
	for (i = 0; i < a->n; i++)
		if (number_of_value(a, i) != number_of_value(b, i))
			return FALSE;
	return TRUE;
}

/* Create a line with the figures of captures that do not have it. */
static KmtDiffLineState *add_line(const KmtDiffRows *rows, KmtKind kind)
{
	KmtDiff *diff = rows->diff;
	guint n_fields = diff->fields->len, n = diff->captures->len, i, j;
	KmtDiffLineState *state = kmt_arena_alloc0(diff->arena, sizeof(*state));
	KmtFigure *values = kmt_arena_alloc0(
		diff->arena, (gsize)n_fields * n * sizeof(*values));

	for (i = 0; i < n; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];
		const KmtFigure *absent = rows->absent->pdata[i];

		for (j = 0; j < n_fields && capture->kinds[kind]; j++)
			values[(gsize)j * n + i] = absent[j];
	}
	state->values = values;
	state->line.kind = kind;
	g_ptr_array_add(diff->lines, state);
	return state;
}

/* Return the key of a row, adding the key if it is new. */
static Key *key_of(LineIndex *index, const KmtDiffRow *row)
{
	guint64 hash = hash_of_row(index, row);
	guint32 number = kmt_index_find(&index->index, index, hash, row);
	const Key new = {.row = row};

	if (number == KMT_INDEX_NONE) {
		number = index->keys->len;
		g_array_append_val(index->keys, new);
		kmt_index_add(&index->index, index, hash);
	}
	return &g_array_index(index->keys, Key, number);
}

/*
 * Return the first line with the key of a row that its capture does not have
 * yet. Rows of one capture may be equal, such as the same code of a module that
 * was loaded twice.
 */
static KmtDiffLineState *line_of(const KmtDiffRows *rows, LineIndex *index,
				 const KmtDiffRow *row)
{
	Key *key = key_of(index, row);
	KmtDiffLineState *state = key->first;

	/* The capture has the lines before that of its last row. */
	if (key->used && key->capture == row->capture)
		state = key->used;
	while (state && state->next_capture == row->capture + 1)
		state = state->next_equal;
	if (!state) {
		state = add_line(rows, row->kind);
		if (key->last)
			key->last->next_equal = state;
		else
			key->first = state;
		key->last = state;
	}
	key->used = state;
	key->capture = row->capture;
	return state;
}

/* Add a row to its line. The first row of each side sets the values. */
static void add_row(const KmtDiffRows *rows, KmtDiffLineState *state,
		    const KmtDiffRow *row)
{
	KmtDiff *diff = rows->diff;
	KmtDiffLine *line = &state->line;
	guint n = diff->captures->len, i;

	state->next_capture = row->capture + 1;
	if (row->holds_objects) {
		line->holds_objects = TRUE;
		line->objects = row->objects;
	}
	for (i = 0; i < diff->fields->len; i++)
		state->values[(gsize)i * n + row->capture] = row->figures[i];
	if (row->capture < diff->n_base) {
		kmt_diff_traits_add(&state->base, &row->traits, row->capture);
		line->base_leaks += row->is_leak ? 1 : 0;
		if (line->base_texts)
			return;
		line->base_texts = row->texts;
		line->base_locations = row->locations;
	} else {
		kmt_diff_traits_add(&state->new, &row->traits, row->capture);
		line->new_leaks += row->is_leak ? 1 : 0;
		if (line->texts)
			return;
		line->texts = row->texts;
		line->new_locations = row->locations;
	}
}

static KmtDiffMatch match_of(const KmtDiff *diff, const KmtDiffLine *line)
{
	guint i;

	if (!line->new_locations)
		return KMT_DIFF_REMOVED;
	if (!line->base_locations)
		return KMT_DIFF_ADDED;
	for (i = 0; i < diff->by->n; i++) {
		KmtDimension dimension = diff->by->dimensions[i];

		if (dimension == KMT_BY_FUNCTION || dimension == KMT_BY_OWNER
			    ? strcmp(line->texts[i], line->base_texts[i]) != 0
			    : line->new_locations[i] != line->base_locations[i])
			return KMT_DIFF_ALIGNED;
	}
	return KMT_DIFF_SAME;
}

/* Compare numbers by value and other texts by their bytes. */
static int compare_texts(const char *a, const char *b)
{
	guint64 x, y;

	/* g_ascii_string_to_unsigned() makes an error for other texts. */
	if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b) &&
	    g_ascii_string_to_unsigned(a, 10, 0, G_MAXUINT64, &x, NULL) &&
	    g_ascii_string_to_unsigned(b, 10, 0, G_MAXUINT64, &y, NULL))
		return x < y ? -1 : x > y;
	return strcmp(a, b);
}

static gint compare_lines(gconstpointer a, gconstpointer b, gpointer user)
{
	const KmtDiffLine *x = *(const KmtDiffLine *const *)a;
	const KmtDiffLine *y = *(const KmtDiffLine *const *)b;
	const KmtDiff *diff = user;
	gint order = (gint)x->kind - (gint)y->kind;
	guint i;

	for (i = 0; !order && i < diff->by->n; i++)
		order = compare_texts(x->texts[i], y->texts[i]);
	for (i = 0; !order && i < diff->by->n; i++)
		order = compare_texts(x->base_texts[i], y->base_texts[i]);
	return order;
}

void kmt_diff_match_rows(KmtDiffRows *rows)
{
	KmtDiff *diff = rows->diff;
	LineIndex index = {.seed = kmt_hash_seed()};
	guint i;

	index.keys = g_array_new(FALSE, FALSE, sizeof(Key));
	kmt_index_init(&index.index, key_hash, key_equal);

	for (i = 0; i < diff->by->n; i++)
		if (rows->locations[i])
			kmt_diff_locations_match(rows->locations[i]);
	for (i = 0; i < rows->rows->len; i++) {
		const KmtDiffRow *row =
			&g_array_index(rows->rows, KmtDiffRow, i);

		add_row(rows, line_of(rows, &index, row), row);
	}
	kmt_index_clear(&index.index);
	g_array_unref(index.keys);
	for (i = 0; i < diff->lines->len; i++) {
		KmtDiffLine *line = diff->lines->pdata[i];

		line->match = match_of(diff, line);
		diff->n_matches[line->match]++;
		if (!line->texts)
			line->texts = line->base_texts;
		if (!line->base_texts)
			line->base_texts = line->texts;
	}
	g_ptr_array_sort_with_data(diff->lines, compare_lines, diff);
}
