// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/selection.h"
#include "report/figure-arithmetic.h"

#include <string.h>

/*
 * Return whether a rule with the kinds of "of", or 0, judges memory of @kind.
 * Without "of", a rule judges all lines, or the sums slab, pages, percpu, and
 * vmalloc.
 */
static gboolean selects_kind(guint kinds, KmtKind kind, gboolean is_sum)
{
	if (!kinds)
		return !is_sum || kmt_kind_layer(kind) == kind;
	if (kinds & 1U << kind)
		return TRUE;
	/* Lines have kmalloc and cache in place of slab if a dimension
	 * distinguishes them. */
	return !is_sum && (kinds & 1U << KMT_KIND_SLAB) &&
	       kmt_kind_is_slab(kind);
}

/*
 * Return whether the value of a dimension matches the glob. The value of a
 * function or call site also matches by the name of the function, without its
 * offset, its module, and the suffix that a compiler adds.
 */
static gboolean matches_glob(const KmtGateSelection *selection,
			     const char *text)
{
	g_autofree char *function = NULL;

	if (!selection->glob || g_pattern_match_simple(selection->glob, text))
		return TRUE;
	if (selection->dimension != KMT_BY_FUNCTION &&
	    selection->dimension != KMT_BY_CALLSITE)
		return FALSE;
	function = g_strndup(text, strcspn(text, "+ ."));
	return g_pattern_match_simple(selection->glob, function);
}

static gboolean matches_globs(const KmtGateRule *rule, const KmtDiffLine *line)
{
	guint i;

	for (i = 0; i < rule->selections->len; i++) {
		const KmtGateSelection *selection =
			&g_array_index(rule->selections, KmtGateSelection, i);

		if (!matches_glob(selection, line->texts[i]))
			return FALSE;
	}
	return TRUE;
}

GPtrArray *kmt_gate_select(const KmtGateRule *rule, const KmtDiff *diff)
{
	GPtrArray *lines = g_ptr_array_new();
	gboolean is_sum =
		!rule->selections->len && !kmt_gate_rule_has_leaks(rule);
	guint i;

	for (i = 0; is_sum && i < KMT_N_KINDS; i++)
		if (selects_kind(rule->kinds, i, TRUE))
			g_ptr_array_add(lines, (gpointer)&diff->kinds[i]);
	for (i = 0; !is_sum && i < diff->lines->len; i++) {
		const KmtDiffLine *line = diff->lines->pdata[i];

		if (selects_kind(rule->kinds, line->kind, FALSE) &&
		    matches_globs(rule, line))
			g_ptr_array_add(lines, (gpointer)line);
	}
	return lines;
}

/* Return whether a capture has the line: any of its figures is not 0. */
static gboolean has_line(const KmtDiff *diff, const KmtDiffLine *line,
			 guint capture)
{
	guint i;

	for (i = 0; i < diff->fields->len; i++)
		if (kmt_figure_is_nonzero(&line->cells[i].values[capture]))
			return TRUE;
	return FALSE;
}

/* Return whether dimension number @i is unknown in all lines of a capture that
 * has any line. */
static gboolean is_unknown(const KmtDiff *diff, guint i, guint capture)
{
	gboolean is_empty = TRUE;
	guint n;

	for (n = 0; n < diff->lines->len; n++) {
		const KmtDiffLine *line = diff->lines->pdata[n];

		if (!has_line(diff, line, capture))
			continue;
		if (strcmp(line->texts[i], "(unknown)") != 0 &&
		    strcmp(line->texts[i], "(not recorded)") != 0)
			return FALSE;
		is_empty = FALSE;
	}
	return !is_empty;
}

/* Add the reason that dimension number @i is unknown in a capture, or in all if
 * @path is NULL. */
static void add_unknown(KmtGateVerdict *verdict, const KmtDiff *diff, guint i,
			const char *path)
{
	KmtDimension dimension = diff->by->dimensions[i];

	kmt_gate_verdict_add_reason(
		verdict,
		g_strdup_printf("%s: no %s is known%s",
				path ? path : "all captures",
				kmt_dimension_title(dimension),
				dimension == KMT_BY_DIRECTORY
					? ": specify --vmlinux, --debug-dir or "
					  "--source"
					: ""));
}

void kmt_gate_check_names(KmtGateVerdict *verdict, const KmtDiff *diff)
{
	guint i, c, n;

	for (i = 0; i < verdict->rule->selections->len; i++) {
		for (c = n = 0; c < diff->captures->len; c++)
			n += is_unknown(diff, i, c);
		if (n == diff->captures->len) {
			add_unknown(verdict, diff, i, NULL);
			continue;
		}
		for (c = 0; n && c < diff->captures->len; c++) {
			const KmtDiffCapture *capture =
				diff->captures->pdata[c];

			if (is_unknown(diff, i, c))
				add_unknown(verdict, diff, i, capture->path);
		}
	}
}

gboolean kmt_gate_is_unnamed(const KmtDiff *diff, const KmtDiffLine *line)
{
	const KmtDiffLocation *const *locations =
		line->new_locations ? line->new_locations
				    : line->base_locations;
	guint i, f;

	for (i = 0; line->texts && i < diff->by->n; i++) {
		const KmtDiffLocation *location =
			locations ? locations[i] : NULL;

		if (diff->by->dimensions[i] == KMT_BY_FUNCTION &&
		    g_str_has_prefix(line->texts[i], "0x"))
			return TRUE;
		for (f = 0; location && f < location->n; f++)
			if (!location->frames[f].function)
				return TRUE;
	}
	return FALSE;
}
