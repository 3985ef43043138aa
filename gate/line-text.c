// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/line-text.h"
#include "lib/base/printable.h"
#include "report/columns.h"
#include "report/diff-splits.h"
#include "report/figure-arithmetic.h"

#include <math.h>
#include <string.h>

/* Format a number that may have decimals, at most three. */
static char *format_real(double value, const char *suffix)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	char *end;

	g_ascii_formatd(number, sizeof(number), "%.3f", value);
	end = number + strlen(number);
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return g_strconcat(number, suffix, NULL);
}

static const char *suffix_of(KmtGateUnit unit)
{
	return unit == KMT_GATE_UNIT_BYTES ? " B" : "";
}

char *kmt_gate_figure_text(const KmtFigure *figure, KmtGateUnit unit)
{
	g_autofree char *number = NULL;

	switch (figure->type) {
	case KMT_FIGURE_NONE:
		return g_strdup("-");
	case KMT_FIGURE_RATIO:
		return format_real(figure->real * 100, " %");
	case KMT_FIGURE_RATE:
		return format_real(figure->real, suffix_of(unit));
	default:
		number = unit == KMT_GATE_UNIT_TIME
				 ? kmt_format_duration(figure->integer)
				 : kmt_format_number(figure->integer, FALSE);
		return g_strconcat(figure->negative ? "-" : "", number,
				   suffix_of(unit), NULL);
	}
}

char *kmt_gate_change_text(const KmtGateLine *line, KmtGateUnit unit)
{
	g_autofree char *change = kmt_gate_figure_text(&line->difference, unit);
	double base = kmt_figure_real(&line->base);
	double percent = kmt_figure_real(&line->difference) / base * 100;
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	const char *sign = *change == '-' ? "" : "+";

	if (line->difference.type == KMT_FIGURE_NONE)
		return g_strdup("-");
	if (unit == KMT_GATE_UNIT_SHARE) {
		change[strlen(change) - strlen("%")] = '\0';
		return g_strconcat(sign, change, "points", NULL);
	}
	if (!(base > 0))
		return g_strconcat(sign, change, NULL);
	g_ascii_formatd(number, sizeof(number), "%+.2f", percent);
	return g_strconcat(sign, change, ", ", number, " %", NULL);
}

/* Convert a number of ns; a limit may be larger than any time. */
static guint64 to_ns(double limit)
{
	if (limit >= (double)G_MAXINT64)
		return G_MAXINT64;
	return (guint64)MAX(limit, 0);
}

char *kmt_gate_limit_text(const KmtGateLine *line, const KmtGateRule *rule)
{
	KmtGateUnit unit = kmt_gate_unit_of(rule->field);

	if (unit == KMT_GATE_UNIT_TIME)
		return kmt_format_duration(to_ns(line->limit));
	if (unit == KMT_GATE_UNIT_SHARE)
		return format_real(line->limit * 100, " %");
	return format_real(line->limit, suffix_of(unit));
}

char *kmt_gate_name_text(const KmtGateLine *line)
{
	GString *text = g_string_new(kmt_kind_name(line->kind));

	if (line->name)
		g_string_append_printf(text, " %s", line->name);
	if (line->match == KMT_DIFF_REMOVED || line->match == KMT_DIFF_ADDED)
		g_string_append_printf(text, " (%s%s%s)",
				       kmt_diff_match_name(line->match),
				       line->guess ? ", possible match: " : "",
				       line->guess ? line->guess : "");
	return g_string_free(text, FALSE);
}

static char *leak_text(const KmtGate *gate, const KmtGateLine *line)
{
	g_autofree char *name = kmt_gate_name_text(line);

	return g_strdup_printf("%s: leak candidate in %u of %u new captures, "
			       "%u of %u base captures",
			       name, line->new_leaks, gate->n_new,
			       line->base_leaks, gate->n_base);
}

char *kmt_gate_line_text(const KmtGate *gate, const KmtGateVerdict *verdict,
			 const KmtGateLine *line)
{
	const KmtGateRule *rule = verdict->rule;
	g_autofree char *name = NULL;
	g_autofree char *base = NULL;
	g_autofree char *new = NULL;
	g_autofree char *change = NULL;
	g_autofree char *limit = NULL;
	g_autofree char *p = NULL;

	if (!rule->field)
		return leak_text(gate, line);
	name = kmt_gate_name_text(line);
	base = kmt_gate_figure_text(&line->base, kmt_gate_unit_of(rule->field));
	new = kmt_gate_figure_text(&line->new, kmt_gate_unit_of(rule->field));
	change = kmt_gate_change_text(line, kmt_gate_unit_of(rule->field));
	limit = kmt_gate_limit_text(line, rule);
	p = isnan(line->p) ? g_strdup("")
			   : g_strdup_printf(", p=%.3g", line->p);
	return g_strdup_printf("%s: %s -> %s (%s), limit %s%s", name, base, new,
			       change, limit, p);
}

static char *noise_of(const KmtGateVerdict *verdict)
{
	if (!verdict->n_noise)
		return g_strdup("");
	return g_strdup_printf("; %u beyond the limit within noise",
			       verdict->n_noise);
}

char *kmt_gate_verdict_text(const KmtGateVerdict *verdict)
{
	g_autofree char *noise = noise_of(verdict);
	const char *plural = verdict->n_lines == 1 ? "" : "s";

	switch (verdict->outcome) {
	case KMT_GATE_UNDECIDED:
		return g_strdup_printf("%u reason%s", verdict->reasons->len,
				       verdict->reasons->len == 1 ? "" : "s");
	case KMT_GATE_EXCEEDED:
		return g_strdup_printf(
			"%u of %u line%s exceed%s%s", verdict->lines->len,
			verdict->n_lines, plural,
			verdict->lines->len == 1 ? "s" : "", noise);
	default:
		return g_strdup_printf("%u line%s judged%s", verdict->n_lines,
				       plural, noise);
	}
}

char *kmt_gate_remedy_text(double rate)
{
	guint needed = kmt_diff_splits_needed(rate, FALSE);

	return needed ? g_strdup_printf("record %u captures of each side",
					needed)
		      : g_strdup("no number of captures suffices");
}

char *kmt_gate_noise_text(const KmtGate *gate)
{
	g_autofree char *few = NULL;

	if (kmt_gate_lacks_test(gate)) {
		g_autofree char *remedy =
			kmt_gate_remedy_text(gate->options->rate);

		return g_strdup_printf("unknown, because a side has one "
				       "capture: each value beyond a limit "
				       "counts; for a test, %s",
				       remedy);
	}
	if (gate->smallest_rate > gate->options->rate)
		return g_strdup_printf(
			"%u against %u captures reach an error rate of %.3g at "
			"best, not %.3g: growth beyond a limit cannot be "
			"decided",
			gate->n_base, gate->n_new, gate->smallest_rate,
			gate->options->rate);
	if (gate->n_base < 3 || gate->n_new < 3)
		few = g_strdup_printf(" (%.3g at best)", gate->smallest_rate);
	return g_strdup_printf("%u against %u captures; noise alone exceeds a "
			       "rule with a probability of at most %.3g%s",
			       gate->n_base, gate->n_new, gate->options->rate,
			       few ? few : "");
}

char *kmt_gate_counts_text(const KmtGate *gate)
{
	return g_strdup_printf("%u rule%s: %u passed, %u exceeded, %u cannot "
			       "be decided",
			       gate->rules->len,
			       gate->rules->len == 1 ? "" : "s",
			       kmt_gate_count(gate, KMT_GATE_PASSED),
			       kmt_gate_count(gate, KMT_GATE_EXCEEDED),
			       kmt_gate_count(gate, KMT_GATE_UNDECIDED));
}

char *kmt_gate_side_text(const KmtGate *gate, gboolean is_new)
{
	guint n = is_new ? gate->n_new : gate->n_base, i;
	guint first = is_new ? gate->n_base : 0;
	g_autoptr(GPtrArray) releases = g_ptr_array_new();
	g_autofree char *names = NULL;

	for (i = 0; gate->captures->len && i < n; i++) {
		const KmtGateCapture *capture =
			gate->captures->pdata[first + i];
		guint found = 0;

		if (capture->release &&
		    !g_ptr_array_find_with_equal_func(
			    releases, capture->release, g_str_equal, &found))
			g_ptr_array_add(releases, capture->release);
	}
	g_ptr_array_add(releases, NULL);
	names = g_strjoinv(", ", (char **)releases->pdata);
	return g_strdup_printf("%u capture%s%s%s", n, n == 1 ? "" : "s",
			       *names ? " of Linux " : "", names);
}

guint kmt_gate_shown_lines(const KmtGate *gate, const KmtGateVerdict *verdict)
{
	guint64 max = gate->options->max_lines;

	return max && max < verdict->lines->len ? (guint)max
						: verdict->lines->len;
}
