// SPDX-License-Identifier: GPL-2.0-or-later
/* Statistics of the lines of a comparison, and lists of lines. */
#include "config.h"

#include "report/diff-private.h"
#include "report/figure-arithmetic.h"

#include <math.h>
#include <string.h>

gboolean kmt_diff_is_divided(const KmtDiff *diff, guint field)
{
	const KmtReportField *f = diff->fields->pdata[field];

	return diff->plan->diff.per != KMT_DIFF_PER_NONE &&
	       kmt_report_field_is_count(f) && !kmt_report_field_is_state(f);
}

const char *kmt_diff_match_name(KmtDiffMatch match)
{
	static const char *const names[] = {
		[KMT_DIFF_SAME] = "same",
		[KMT_DIFF_ALIGNED] = "aligned",
		[KMT_DIFF_REMOVED] = "removed",
		[KMT_DIFF_ADDED] = "added",
	};

	return names[match];
}

/* ---- cells ---- */

/* Return the values as doubles, or NULL if one of them is NONE. The caller
 * frees the array. */
static double *reals_of(const KmtFigure *values, guint n)
{
	g_autofree double *reals = g_new(double, n);
	guint i;

	for (i = 0; i < n; i++) {
		if (values[i].type == KMT_FIGURE_NONE)
			return NULL;
		reals[i] = kmt_figure_real(&values[i]);
	}
	return g_steal_pointer(&reals);
}

static double spread_of(const KmtFigure *values, guint n)
{
	g_autofree double *reals = n > 1 ? reals_of(values, n) : NULL;

	return reals ? kmt_noise_spread(reals, n) : 0;
}

static gboolean all_equal(const KmtFigure *values, guint n)
{
	guint i;

	for (i = 1; i < n; i++)
		if (kmt_figure_compare(&values[0], &values[i]) != 0)
			return FALSE;
	return TRUE;
}

/* Return whether the figures may exceed noise: all are known, and they are not
 * all equal. */
static gboolean vary(const KmtFigure *values, guint n)
{
	guint i;

	for (i = 0; i < n; i++)
		if (values[i].type == KMT_FIGURE_NONE)
			return FALSE;
	return !all_equal(values, n);
}

/* Test whether the difference exceeds noise. */
static void judge_noise(const KmtDiff *diff, KmtDiffCell *cell)
{
	guint n = diff->captures->len;
	g_autofree double *reals = NULL;

	cell->noise = KMT_NOISE_UNKNOWN;
	cell->p = NAN;
	if (diff->n_base < 2 || diff->n_new < 2)
		return;
	reals = reals_of(cell->values, n);
	if (!reals)
		return;
	cell->p = all_equal(cell->values, n)
			  ? 1
			  : kmt_noise_p_value(diff->splits, reals);
	cell->noise = kmt_noise_judge(diff->splits, cell->p,
				      diff->plan->diff.error_rate);
	if (cell->noise == KMT_NOISE_UNKNOWN)
		cell->p = NAN;
}

/* Compute all members of @cell, except the doubts, from its values. */
static void compute_cell(const KmtDiff *diff, KmtDiffCell *cell)
{
	const KmtFigure *base = cell->values;
	const KmtFigure *new = cell->values + diff->n_base;
	double divisor;

	cell->base = kmt_figure_median(base, diff->n_base);
	cell->new = kmt_figure_median(new, diff->n_new);
	cell->base_spread = spread_of(base, diff->n_base);
	cell->new_spread = spread_of(new, diff->n_new);
	cell->difference = kmt_figure_difference(&cell->new, &cell->base);
	divisor = kmt_figure_real(&cell->base);
	cell->ratio = cell->difference.type == KMT_FIGURE_NONE ||
				      !kmt_figure_is_nonzero(&cell->base)
			      ? NAN
			      : kmt_figure_real(&cell->new) / divisor;
	judge_noise(diff, cell);
}

static gboolean is_doubtful(const KmtDiff *diff, guint from, guint n,
			    guint field)
{
	guint i;

	for (i = from; i < from + n; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		if (capture->doubtful[field])
			return TRUE;
	}
	return FALSE;
}

static void compute_line(const KmtDiff *diff, KmtDiffLine *line)
{
	guint i;

	for (i = 0; i < diff->fields->len; i++) {
		KmtDiffCell *cell = &line->cells[i];

		compute_cell(diff, cell);
		cell->doubtful_base = is_doubtful(diff, 0, diff->n_base, i);
		cell->doubtful_new =
			is_doubtful(diff, diff->n_base, diff->n_new, i);
	}
}

void kmt_diff_compute_cells(KmtDiff *diff)
{
	guint n = diff->captures->len, i, j;

	for (i = 0; i < diff->lines->len; i++) {
		KmtDiffLineState *state = diff->lines->pdata[i];
		KmtDiffCell *cells = kmt_arena_alloc0(
			diff->arena, diff->fields->len * sizeof(*cells));

		for (j = 0; j < diff->fields->len; j++)
			cells[j].values = state->values + (gsize)j * n;
		state->line.cells = cells;
		compute_line(diff, &state->line);
	}
	for (i = 0; i < KMT_N_KINDS; i++)
		compute_line(diff, &diff->kinds[i]);
}

/* ---- lists ---- */

static gboolean has_figure(const KmtDiff *diff, const KmtDiffCell *cell)
{
	guint i;

	for (i = 0; i < diff->captures->len; i++)
		if (kmt_figure_is_nonzero(&cell->values[i]))
			return TRUE;
	return FALSE;
}

static KmtFigure magnitude_of(KmtFigure figure)
{
	figure.negative = FALSE;
	figure.real = fabs(figure.real);
	return figure;
}

/* Compare two magnitudes for ascending order. With --per or with medians, one
 * of them may be a RATE. */
static int compare_magnitudes(const KmtFigure *a, const KmtFigure *b)
{
	double x, y;

	if (a->type == b->type || !a->type || !b->type)
		return kmt_figure_compare(a, b);
	x = kmt_figure_real(a);
	y = kmt_figure_real(b);
	return x < y ? -1 : x > y;
}

/* Return the magnitude by which a line sorts in the list of a field. */
static KmtFigure weight_of(const KmtDiff *diff, guint field,
			   const KmtDiffLine *line)
{
	KmtFigure own = magnitude_of(line->cells[field].difference);
	KmtFigure objects, rest;

	if (!line->holds_objects)
		return own;
	objects = magnitude_of(
		diff->kinds[line->objects].cells[field].difference);
	rest = kmt_figure_difference(&own, &objects);
	if (rest.type == KMT_FIGURE_NONE)
		return own;
	if (rest.negative || rest.real < 0)
		return (KmtFigure){.type = rest.type};
	return rest;
}

/* A line with the values by which it sorts. */
typedef struct {
	KmtDiffLine *line;
	KmtFigure weight;
	double rounded; /* weight, which decides if it differs */
	gboolean exceeds;
	gboolean differs;
} SortedLine;

static gint compare_lines(gconstpointer a, gconstpointer b)
{
	const SortedLine *x = a, *y = b;
	int result;

	if (x->exceeds != y->exceeds)
		return x->exceeds ? -1 : 1;
	if (x->rounded != y->rounded)
		return x->rounded > y->rounded ? -1 : 1;
	result = -compare_magnitudes(&x->weight, &y->weight);
	/* Lines that differ are before lines that do not. */
	return result ? result : y->differs - x->differs;
}

/* Add a line to the sums of its kind. */
static void add_to_rest(const KmtDiff *diff, KmtDiffList *list,
			const KmtDiffLine *line, guint field)
{
	KmtKind kind = kmt_kind_layer(line->kind);
	guint n = diff->captures->len, i;

	list->n_rest[kind]++;
	for (i = 0; i < n; i++) {
		KmtFigure *sum = &list->rest_values[(guint)kind * n + i];

		*sum = kmt_figure_add(sum, &line->cells[field].values[i]);
	}
}

void kmt_diff_list_limit(const KmtDiff *diff, KmtDiffList *list, guint field,
			 guint max_lines)
{
	guint n = diff->captures->len, i;

	list->n_shown = MIN(max_lines, list->lines->len);
	memset(list->n_rest, 0, sizeof(list->n_rest));
	g_free(list->rest_values);
	list->rest_values = g_new0(KmtFigure, KMT_N_KINDS * n);
	for (i = list->n_shown; i < list->lines->len; i++)
		add_to_rest(diff, list, list->lines->pdata[i], field);
	/* The sum of peaks is no figure. */
	if (!kmt_report_field_has_sum(diff->fields->pdata[field]))
		memset(list->rest_values, 0,
		       KMT_N_KINDS * n * sizeof(KmtFigure));
	for (i = 0; i < KMT_N_KINDS; i++) {
		list->rest[i] = diff->kinds[i].cells[field];
		list->rest[i].values = list->rest_values + (gsize)i * n;
		compute_cell(diff, &list->rest[i]);
	}
}

/* The lines of a list, in three parts that follow one another. Only the first
 * part must be sorted, and it is small if the captures are similar. */
typedef struct {
	GArray *sorted;	    /* SortedLine: other lines */
	GPtrArray *equal;   /* lines without a difference */
	GPtrArray *unknown; /* lines whose difference is NONE */
} ListParts;

static void add_to_part(const KmtDiff *diff, ListParts *parts, guint field,
			KmtDiffLine *line)
{
	const KmtDiffCell *cell = &line->cells[field];
	SortedLine entry = {.line = line,
			    .exceeds = cell->noise == KMT_NOISE_EXCEEDS,
			    .differs =
				    kmt_figure_is_nonzero(&cell->difference)};

	if (!entry.exceeds && !entry.differs) {
		g_ptr_array_add(cell->difference.type == KMT_FIGURE_NONE
					? parts->unknown
					: parts->equal,
				line);
		return;
	}
	entry.weight = weight_of(diff, field, line);
	entry.rounded = kmt_figure_real(&entry.weight);
	g_array_append_val(parts->sorted, entry);
}

/* Return the lines that have a figure, in the order of the list. */
static GPtrArray *list_lines(const KmtDiff *diff, guint field)
{
	ListParts parts = {g_array_new(FALSE, FALSE, sizeof(SortedLine)),
			   g_ptr_array_new(), g_ptr_array_new()};
	GPtrArray *lines = g_ptr_array_sized_new(diff->lines->len);
	guint i;

	for (i = 0; i < diff->lines->len; i++) {
		KmtDiffLine *line = diff->lines->pdata[i];

		if (has_figure(diff, &line->cells[field]))
			add_to_part(diff, &parts, field, line);
	}
	/* The sort is stable: other lines keep the order of diff->lines. */
	g_array_sort(parts.sorted, compare_lines);
	for (i = 0; i < parts.sorted->len; i++)
		g_ptr_array_add(
			lines, g_array_index(parts.sorted, SortedLine, i).line);
	g_array_unref(parts.sorted);
	g_ptr_array_extend_and_steal(lines, parts.equal);
	g_ptr_array_extend_and_steal(lines, parts.unknown);
	return lines;
}

KmtDiffList *kmt_diff_list_new(const KmtDiff *diff, guint field,
			       guint64 max_lines)
{
	KmtDiffList *list = g_new0(KmtDiffList, 1);
	guint i;

	list->lines = list_lines(diff, field);
	for (i = 0; i < list->lines->len; i++) {
		const KmtDiffLine *line = list->lines->pdata[i];
		const KmtDiffCell *cell = &line->cells[field];

		list->n_exceeds += cell->noise == KMT_NOISE_EXCEEDS;
		list->n_varying += vary(cell->values, diff->captures->len);
	}
	kmt_diff_list_limit(diff, list, field,
			    max_lines ? (guint)MIN(max_lines, G_MAXUINT)
				      : G_MAXUINT);
	return list;
}

void kmt_diff_list_free(KmtDiffList *list)
{
	if (!list)
		return;
	g_ptr_array_unref(list->lines);
	g_free(list->rest_values);
	g_free(list);
}
