// SPDX-License-Identifier: GPL-2.0-or-later
/* The lists of a comparison: a line for each group. */
#include "config.h"

#include "report/diff-text.h"
#include "report/figure-arithmetic.h"
#include "report/report-text.h"

#include <string.h>

/* Separates the functions of a stack in the text of its value. */
#define CALLER " < "

static gboolean has_kind(const KmtDiff *diff)
{
	return !kmt_by_has(diff->by, KMT_BY_KIND);
}

/* Return whether a line of the list is removed or added, so that the table
 * needs the column "match". */
static gboolean has_matches(const KmtDiff *diff)
{
	return diff->n_matches[KMT_DIFF_REMOVED] ||
	       diff->n_matches[KMT_DIFF_ADDED] ||
	       diff->n_matches[KMT_DIFF_ALIGNED];
}

/* Create a table with the columns @align and those of the values. */
static KmtColumns *new_columns(const KmtDiff *diff, const char *align)
{
	g_autoptr(GString) all = g_string_new(align);
	guint i, n = diff->by->n + has_kind(diff) + has_matches(diff);

	for (i = 0; i < n; i++)
		g_string_append_c(all, 'l');
	return kmt_columns_new(all->str, diff->plan->report.separators);
}

static void add_value_heads(const KmtDiff *diff, KmtColumns *columns)
{
	guint i;

	if (has_matches(diff))
		kmt_columns_add_text(columns, "match");
	if (has_kind(diff))
		kmt_columns_add_text(columns, "kind");
	for (i = 0; i < diff->by->n; i++)
		kmt_columns_add_text(
			columns, kmt_dimension_title(diff->by->dimensions[i]));
}

/* Fill the cells of the values. A stack begins with its innermost function. */
static void add_values(const KmtDiff *diff, KmtColumns *columns,
		       const KmtDiffLine *line)
{
	guint i;

	if (has_matches(diff))
		kmt_columns_add_text(
			columns, line->match == KMT_DIFF_SAME
					 ? ""
					 : kmt_diff_match_name(line->match));
	if (has_kind(diff))
		kmt_columns_add_text(columns, kmt_kind_name(line->kind));
	for (i = 0; i < diff->by->n; i++) {
		const char *end = strstr(line->texts[i], CALLER);
		g_autofree char *first = NULL;

		if (diff->by->dimensions[i] != KMT_BY_STACK || !end) {
			kmt_columns_add_text(columns, line->texts[i]);
			continue;
		}
		first = g_strndup(line->texts[i],
				  (gsize)(end - line->texts[i]));
		kmt_columns_add_text(columns, first);
	}
}

/* Fill a line that has only a text, in the column of value @i. */
static void add_text_line(const KmtDiff *diff, KmtColumns *columns,
			  guint before, guint i, const char *text)
{
	guint first = before + has_kind(diff) + has_matches(diff), j;

	for (j = 0; j < first + diff->by->n; j++)
		kmt_columns_add_text(columns, j == first + i ? text : "");
}

/* Describe the guess of a line. The caller frees the string. */
static char *guess_text(const KmtDiff *diff, const KmtDiffLine *line)
{
	GString *text = g_string_new("  possible match: ");
	guint i;

	for (i = 0; i < diff->by->n; i++)
		g_string_append_printf(text, "%s%s", i ? ", " : "",
				       line->guess->texts[i]);
	g_string_append_printf(text, " (%s)", line->guess_reason);
	return g_string_free(text, FALSE);
}

/* Fill the lines below a line: the callers of a stack, and the guess. */
static void add_lines_below(const KmtDiff *diff, KmtColumns *columns,
			    guint before, const KmtDiffLine *line)
{
	guint i, j;

	for (i = 0; i < diff->by->n; i++) {
		g_auto(GStrv) frames = NULL;

		if (diff->by->dimensions[i] != KMT_BY_STACK)
			continue;
		frames = g_strsplit(line->texts[i], CALLER, -1);
		for (j = 1; *frames && frames[j]; j++) {
			g_autofree char *text =
				g_strconcat("  < ", frames[j], NULL);

			add_text_line(diff, columns, before, i, text);
		}
	}
	if (line->holds_objects) {
		g_autofree char *text = g_strdup_printf(
			"  holds objects of %s", kmt_kind_name(line->objects));

		add_text_line(diff, columns, before, 0, text);
	}
	if (line->guess) {
		g_autofree char *text = guess_text(diff, line);

		add_text_line(diff, columns, before, 0, text);
	}
}

static void add_rest(const KmtDiff *diff, KmtColumns *columns,
		     const KmtDiffList *list, KmtKind kind)
{
	const KmtBy *by = diff->by;
	guint i;

	kmt_diff_text_add_cell(diff, columns, &list->rest[kind]);
	if (has_matches(diff))
		kmt_columns_add_text(columns, "");
	if (has_kind(diff))
		kmt_columns_add_text(columns, kmt_kind_name(kind));
	kmt_text_add_rest(
		&diff->plan->report, columns,
		by->n == 1 ? kmt_dimension_title(by->dimensions[0]) : "line",
		by->n == 1 ? kmt_dimension_plural(by->dimensions[0]) : "lines",
		list->n_rest[kind]);
	for (i = 1; i < by->n; i++)
		kmt_columns_add_text(columns, "");
}

/* Return the number of lines to show. Only --lines 0 shows lines that did not
 * change. */
static guint lines_to_show(const KmtDiff *diff, const KmtDiffList *all,
			   guint field)
{
	guint64 max = diff->plan->report.max_lines;
	guint i;

	if (!max)
		return all->lines->len;
	for (i = 0; i < all->lines->len && i < max; i++) {
		const KmtDiffLine *line = all->lines->pdata[i];

		if (!kmt_figure_is_nonzero(&line->cells[field].difference))
			break;
	}
	return i;
}

/* Print the heading, such as "ALLOCS PER SECOND BY CALL SITE". */
static void print_title(const KmtDiff *diff, guint field, FILE *out)
{
	const KmtDiffOptions *options = &diff->plan->diff;
	GString *title = g_string_new(
		kmt_report_field_title(diff->fields->pdata[field]));
	g_autofree char *upper = NULL;
	guint i;

	if (kmt_diff_is_divided(diff, field))
		g_string_append_printf(title, " per %s%s",
				       options->mark ? "mark " : "second",
				       options->mark ? options->mark : "");
	for (i = 0; i < diff->by->n; i++)
		g_string_append_printf(
			title, "%s%s",
			i == 0		      ? " by "
			: i + 1 < diff->by->n ? ", "
					      : " and ",
			kmt_dimension_title(diff->by->dimensions[i]));
	upper = g_ascii_strup(title->str, -1);
	g_string_free(title, TRUE);
	kmt_text_print_title(out, upper);
}

/* Print how many lines exceed noise, and how many are expected by chance. */
static void print_chance(const KmtDiff *diff, const KmtDiffList *list,
			 FILE *out)
{
	double chance = diff->plan->diff.error_rate * list->n_varying;
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (diff->n_base < 2 || diff->n_new < 2)
		return;
	g_ascii_formatd(text, sizeof(text), "%.1f", chance);
	fprintf(out,
		"%u of %u line%s that var%s exceed%s noise; by chance, %s or "
		"fewer are expected\n",
		list->n_exceeds, list->n_varying,
		list->n_varying == 1 ? "" : "s",
		list->n_varying == 1 ? "ies" : "y",
		list->n_exceeds == 1 ? "s" : "", text);
}

static void fill_list(const KmtDiff *diff, KmtColumns *columns,
		      const KmtDiffList *list, guint field)
{
	guint before = (guint)strlen(kmt_diff_text_align(diff)), i;

	kmt_diff_text_add_heads(diff, columns);
	add_value_heads(diff, columns);
	for (i = 0; i < list->n_shown; i++) {
		const KmtDiffLine *line = list->lines->pdata[i];

		kmt_diff_text_add_cell(diff, columns, &line->cells[field]);
		add_values(diff, columns, line);
		add_lines_below(diff, columns, before, line);
	}
	for (i = 0; i < KMT_N_LAYERS; i++)
		if (list->n_rest[kmt_layers[i]])
			add_rest(diff, columns, list, kmt_layers[i]);
}

void kmt_diff_text_list(const KmtDiff *diff, guint field, FILE *out)
{
	g_autoptr(KmtDiffList) list = kmt_diff_list_new(diff, field, 0);
	g_autoptr(KmtColumns) columns = NULL;

	print_title(diff, field, out);
	if (!list->lines->len) {
		fputs("none\n", out);
		return;
	}
	kmt_diff_list_limit(diff, list, field,
			    lines_to_show(diff, list, field));
	if (!list->n_shown) {
		fprintf(out, "no difference in %u line%s\n", list->lines->len,
			list->lines->len == 1 ? "" : "s");
		return;
	}
	columns = new_columns(diff, kmt_diff_text_align(diff));
	while (kmt_columns_next_pass(columns, out))
		fill_list(diff, columns, list, field);
	print_chance(diff, list, out);
}

/* ---- leak candidates ---- */

static void add_count(KmtColumns *columns, guint count, guint n)
{
	g_autofree char *text = g_strdup_printf("%u of %u", count, n);

	kmt_columns_add_text(columns, text);
}

void kmt_diff_text_leaks(const KmtDiff *diff, FILE *out)
{
	g_autoptr(KmtColumns) columns = new_columns(diff, "rr");
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	guint i;

	for (i = 0; i < diff->lines->len; i++) {
		KmtDiffLine *line = diff->lines->pdata[i];

		if (line->base_leaks || line->new_leaks)
			g_ptr_array_add(lines, line);
	}
	kmt_text_print_title(out, "CAPTURES WITH LEAK CANDIDATES");
	if (!lines->len)
		fputs("none\n", out);
	while (lines->len && kmt_columns_next_pass(columns, out)) {
		kmt_columns_add_text(columns, "base");
		kmt_columns_add_text(columns, "new");
		add_value_heads(diff, columns);
		for (i = 0; i < lines->len; i++) {
			const KmtDiffLine *line = lines->pdata[i];

			add_count(columns, line->base_leaks, diff->n_base);
			add_count(columns, line->new_leaks, diff->n_new);
			add_values(diff, columns, line);
			add_lines_below(diff, columns, 2, line);
		}
	}
}
