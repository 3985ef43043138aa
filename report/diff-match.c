// SPDX-License-Identifier: GPL-2.0-or-later
/* Combines the rows of all captures to lines. */
#include "config.h"

#include "report/diff-key.h"
#include "report/diff-private.h"

#include <string.h>

/*
 * Set @key to the key of a row in all captures: its kind and its values, where
 * a location has the same code in all builds. @ordinal distinguishes rows of
 * one capture that are equal otherwise, such as the same code of a module that
 * was loaded twice.
 */
static void set_key(GString *key, const KmtDiffRows *rows,
		    const KmtDiffRow *row, guint ordinal)
{
	guint i;

	g_string_truncate(key, 0);
	kmt_diff_key_number(key, ordinal);
	kmt_diff_key_number(key, row->kind);
	for (i = 0; i < rows->diff->by->n; i++) {
		if (rows->locations[i])
			kmt_diff_key_number(
				key, kmt_diff_locations_at(rows->locations[i],
							   row->locations[i])
					     ->code);
		else
			kmt_diff_key_text(key, row->texts[i]);
	}
}

/* Create a line with the figures of captures that do not have it. */
static KmtDiffLineState *add_line(const KmtDiffRows *rows, KmtKind kind)
{
	KmtDiff *diff = rows->diff;
	guint n_fields = diff->fields->len, n = diff->captures->len, i, j;
	KmtDiffLineState *state = g_new0(KmtDiffLineState, 1);
	KmtFigure *values = g_new0(KmtFigure, (gsize)n_fields * n);

	for (i = 0; i < n; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];
		const KmtFigure *absent = rows->absent->pdata[i];

		for (j = 0; j < n_fields && capture->kinds[kind]; j++)
			values[(gsize)j * n + i] = absent[j];
	}
	state->values = values;
	state->line.kind = kind;
	g_ptr_array_add(diff->memory, values);
	g_ptr_array_add(diff->lines, state);
	return state;
}

/* Return the line of a row. @key is a buffer. */
static KmtDiffLineState *line_of(const KmtDiffRows *rows, GHashTable *index,
				 GString *key, const KmtDiffRow *row)
{
	KmtDiffLineState *state;
	guint ordinal;

	for (ordinal = 0;; ordinal++) {
		set_key(key, rows, row, ordinal);
		state = g_hash_table_lookup(index, key->str);
		if (!state) {
			state = add_line(rows, row->kind);
			g_hash_table_insert(index, g_strdup(key->str), state);
			return state;
		}
		if (state->next_capture != row->capture + 1)
			return state;
	}
}

/* Return the locations of a row, or NULL for a dimension that has none. */
static const KmtDiffLocation *const *locations_of(const KmtDiffRows *rows,
						  const KmtDiffRow *row)
{
	guint n = rows->diff->by->n, i;
	const KmtDiffLocation **locations = g_new0(const KmtDiffLocation *, n);

	for (i = 0; i < n; i++)
		if (rows->locations[i])
			locations[i] =
				&kmt_diff_locations_at(rows->locations[i],
						       row->locations[i])
					 ->location;
	g_ptr_array_add(rows->diff->memory, locations);
	return locations;
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
		line->base_locations = locations_of(rows, row);
	} else {
		kmt_diff_traits_add(&state->new, &row->traits, row->capture);
		line->new_leaks += row->is_leak ? 1 : 0;
		if (line->texts)
			return;
		line->texts = row->texts;
		line->new_locations = locations_of(rows, row);
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
	g_autoptr(GHashTable) index =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GString) key = g_string_new(NULL);
	guint i;

	for (i = 0; i < diff->by->n; i++)
		if (rows->locations[i])
			kmt_diff_locations_match(rows->locations[i]);
	for (i = 0; i < rows->rows->len; i++) {
		const KmtDiffRow *row =
			&g_array_index(rows->rows, KmtDiffRow, i);

		add_row(rows, line_of(rows, index, key, row), row);
	}
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
