// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A line exceeds a rule if its median is beyond the limit and, with several
 * captures on both sides, the excess is not noise.
 */
#include "config.h"

#include "gate/comparability.h"
#include "gate/judge.h"
#include "gate/line-text.h"
#include "gate/selection.h"

#include <math.h>

/* Fraction by which a figure that is not an integer may exceed a limit because
 * of rounding. */
#define TOLERANCE 1e-9

/* A line while it is judged. */
typedef struct {
	const KmtDiffLine *line;
	const KmtDiffCell *cell; /* NULL: leak candidates */
	long double excess;	 /* figure minus limit */
	double limit;
	double p;
	gboolean is_beyond; /* the excess is too large to pass */
} Judgement;

/* Return whether a statistical test can decide. If a side has one capture,
 * noise is unknown, and the values decide. */
static gboolean can_test(const KmtDiffSplits *splits)
{
	return splits->n_base > 1 && splits->n_new > 1;
}

static long double value_of(const KmtFigure *figure)
{
	if (figure->type == KMT_FIGURE_RATIO || figure->type == KMT_FIGURE_RATE)
		return figure->real;
	return figure->negative ? -(long double)figure->integer
				: (long double)figure->integer;
}

/* Decide whether the excess is beyond the limit. */
static void set_beyond(Judgement *judgement)
{
	KmtFigureType type = judgement->cell->new.type;
	gboolean is_exact = type == KMT_FIGURE_INTEGER || type == KMT_FIGURE_NS;

	judgement->is_beyond =
		judgement->excess >
		(is_exact ? 0 : TOLERANCE * fabs(judgement->limit));
}

/* ---- the limit of a line ---- */

/* Return the growth that a limit allows, times 100 and both divisors, so that
 * the growth of an integer is compared without rounding. */
static long double scaled_growth(const KmtGateLimit *limit, long double base,
				 long double *scale)
{
	long double percent = 0, amount = 0;

	*scale = 100;
	if (limit->has_percent)
		*scale *= limit->percent.divisor;
	if (limit->has_amount)
		*scale *= limit->amount.divisor;
	if (limit->has_percent)
		percent = MAX(base, 0) * limit->percent.digits *
			  (*scale / 100 / limit->percent.divisor);
	if (limit->has_amount)
		amount = (long double)limit->amount.digits *
			 limit->amount.factor *
			 (*scale / limit->amount.divisor);
	return MAX(percent, amount);
}

static void set_growth(Judgement *judgement, const KmtGateRule *rule)
{
	const KmtDiffCell *cell = judgement->cell;
	long double base = value_of(&cell->base), scale;
	long double allowed = scaled_growth(&rule->limit, base, &scale);

	judgement->excess =
		(value_of(&cell->difference) * scale - allowed) / scale;
	judgement->limit = (double)(base + allowed / scale);
	set_beyond(judgement);
}

static void set_bound(Judgement *judgement, const KmtGateRule *rule)
{
	long double limit = kmt_gate_number_value(&rule->limit.amount);

	judgement->excess = value_of(&judgement->cell->new) - limit;
	judgement->limit = (double)limit;
	set_beyond(judgement);
	if (rule->condition == KMT_GATE_BELOW)
		judgement->is_beyond = judgement->excess >= 0;
}

/* Leak candidates are counted: the median of a side is 1 if more than half of
 * its captures have the candidate. */
static void set_leaks(Judgement *judgement, const KmtGateRule *rule,
		      const KmtDiff *diff)
{
	const KmtDiffLine *line = judgement->line;
	gboolean in_base = rule->condition == KMT_GATE_NO_NEW_LEAK &&
			   2 * line->base_leaks >= diff->n_base;

	judgement->limit = 0;
	judgement->excess = line->new_leaks;
	judgement->is_beyond = !in_base && 2 * line->new_leaks > diff->n_new;
}

/* ---- figures ---- */

static guint field_index(const KmtDiff *diff, const KmtReportField *field)
{
	guint i = 0;

	while (diff->fields->pdata[i] != field)
		i++;
	return i;
}

/* Return the first capture from number @from on in which the figure is unknown;
 * if there is none, the number of captures. */
static guint first_unknown(const KmtDiff *diff, const KmtDiffCell *cell,
			   guint from)
{
	while (from < diff->captures->len &&
	       cell->values[from].type != KMT_FIGURE_NONE)
		from++;
	return from;
}

static void add_unknown(KmtGateVerdict *verdict, const KmtDiff *diff,
			const KmtDiffLine *line, guint capture)
{
	const KmtDiffCapture *c = diff->captures->pdata[capture];
	const char *name = kmt_report_field_name(verdict->rule->field);

	if (verdict->reasons->len)
		return;
	kmt_gate_verdict_add_reason(
		verdict,
		line->texts
			? g_strdup_printf("%s: %s is unknown", c->path, name)
			: g_strdup_printf("%s: %s is unknown for the sum "
					  "of a kind; add \"by\" to the "
					  "rule",
					  c->path, name));
}

/*
 * Set the limit and the excess of a line. Return FALSE if the line is not
 * judged: a figure that does not count, such as a lifetime, is judged only if
 * all captures have it; a limit of the new captures needs only their figures.
 */
static gboolean set_excess(Judgement *judgement, KmtGateVerdict *verdict,
			   const KmtDiff *diff)
{
	const KmtGateRule *rule = verdict->rule;
	gboolean grows = rule->condition == KMT_GATE_GROWS;
	const KmtDiffCell *cell;
	guint unknown;

	judgement->p = NAN;
	if (kmt_gate_rule_has_leaks(rule)) {
		set_leaks(judgement, rule, diff);
		return TRUE;
	}
	cell = &judgement->line->cells[field_index(diff, rule->field)];
	judgement->cell = cell;
	unknown = first_unknown(diff, cell, grows ? 0 : diff->n_base);
	if (unknown < diff->captures->len) {
		if (kmt_report_field_is_count(rule->field) ||
		    !judgement->line->texts)
			add_unknown(verdict, diff, judgement->line, unknown);
		return FALSE;
	}
	if (grows)
		set_growth(judgement, rule);
	else
		set_bound(judgement, rule);
	return TRUE;
}

/* Return a Judgement for each line that is judged. If there is none, add the
 * reason. The caller frees the array. */
static GArray *find_judgements(KmtGateVerdict *verdict, const KmtDiff *diff)
{
	GArray *judgements = g_array_new(FALSE, TRUE, sizeof(Judgement));
	g_autoptr(GPtrArray) lines = kmt_gate_select(verdict->rule, diff);
	guint i;

	for (i = 0; i < lines->len; i++) {
		Judgement judgement = {.line = lines->pdata[i]};

		if (set_excess(&judgement, verdict, diff))
			g_array_append_val(judgements, judgement);
	}
	if (!judgements->len && !verdict->reasons->len)
		kmt_gate_verdict_add_reason(
			verdict,
			g_strdup(lines->len ? "no line has the figure in all "
					      "captures"
					    : "the rule selects no line of any "
					      "capture"));
	return judgements;
}

/* ---- noise ---- */

/* Return whether the rule compares both sides, so that noise matters. */
static gboolean compares_sides(const KmtGateRule *rule)
{
	return rule->condition == KMT_GATE_GROWS ||
	       rule->condition == KMT_GATE_NO_NEW_LEAK;
}

/* Store the values of a line in all captures. */
static void copy_values(const Judgement *judgement, const KmtDiff *diff,
			double *values)
{
	guint i;

	for (i = 0; i < diff->captures->len; i++)
		values[i] = (double)value_of(&judgement->cell->values[i]);
}

/*
 * Store the number of leak candidates of each capture in place of values: which
 * captures of a side have the candidate does not matter to the test.
 */
static void copy_leaks(const Judgement *judgement, const KmtDiff *diff,
		       double *values)
{
	const KmtDiffLine *line = judgement->line;
	guint i;

	for (i = 0; i < diff->n_base; i++)
		values[i] = i < line->base_leaks;
	for (i = 0; i < diff->n_new; i++)
		values[diff->n_base + i] = i < line->new_leaks;
}

/* Set the p-values of the lines. */
static void test_lines(const KmtGateRule *rule, const KmtDiff *diff,
		       GArray *judgements)
{
	gsize n = diff->captures->len, i;
	g_autofree double *values = g_new(double, n * judgements->len + 1);
	g_autofree double *p_values = g_new(double, judgements->len + 1);
	const KmtNoiseLimit limit = {
		.absolute = rule->limit.has_amount
				    ? (double)kmt_gate_number_value(
					      &rule->limit.amount)
				    : 0,
		.fraction = rule->limit.has_percent
				    ? (double)(kmt_gate_number_value(
						       &rule->limit.percent) /
					       100)
				    : 0,
	};

	for (i = 0; i < judgements->len; i++) {
		const Judgement *judgement =
			&g_array_index(judgements, Judgement, i);

		if (judgement->cell)
			copy_values(judgement, diff, values + i * n);
		else
			copy_leaks(judgement, diff, values + i * n);
	}
	kmt_noise_max_test(diff->splits, values, judgements->len, &limit,
			   p_values);
	for (i = 0; i < judgements->len; i++)
		g_array_index(judgements, Judgement, i).p = p_values[i];
}

/* ---- verdict ---- */

static gint compare_judgements(gconstpointer a, gconstpointer b)
{
	const Judgement *x = a, *y = b;

	if (x->is_beyond != y->is_beyond)
		return x->is_beyond ? -1 : 1;
	if (x->excess != y->excess)
		return x->excess > y->excess ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

static KmtGateLine *copy_line(const KmtDiff *diff, const Judgement *judgement)
{
	KmtGateLine *line =
		kmt_gate_line_new(diff, judgement->line, judgement->cell);

	line->limit = judgement->limit;
	line->p = judgement->p;
	return line;
}

static gboolean has_grown(const Judgement *judgement)
{
	return judgement->cell && value_of(&judgement->cell->difference) > 0;
}

static gboolean builds_differ(const KmtDiff *diff)
{
	const KmtDiffCapture *first = diff->captures->pdata[0];
	guint i;

	for (i = 1; i < diff->captures->len; i++) {
		const KmtDiffCapture *capture = diff->captures->pdata[i];

		if (!first->build_id ||
		    g_strcmp0(first->build_id, capture->build_id) != 0)
			return TRUE;
	}
	return FALSE;
}

/*
 * Add a line that is beyond its limit: as an excess, as noise, or as a reason
 * for no verdict if the other side may have the line under another address.
 */
static void add_beyond(KmtGateVerdict *verdict, const KmtDiff *diff,
		       const Judgement *judgement, double error_rate)
{
	const KmtDiffLine *line = judgement->line;

	if (!isnan(judgement->p) && judgement->p > error_rate) {
		verdict->n_noise++;
		return;
	}
	g_ptr_array_add(verdict->lines, copy_line(diff, judgement));
	if (compares_sides(verdict->rule) && line->match == KMT_DIFF_ADDED &&
	    kmt_gate_is_unnamed(diff, line) && builds_differ(diff))
		kmt_gate_verdict_add_reason(
			verdict,
			g_strdup_printf("%s: the function is unknown, so that "
					"the base side may have it under "
					"another address",
					line->texts[0]));
}

/* Return whether the test cannot find any excess at this error rate; add the
 * reason. */
static gboolean lacks_captures(KmtGateVerdict *verdict, const KmtDiff *diff,
			       double error_rate)
{
	double smallest = kmt_diff_splits_smallest_p(diff->splits, FALSE);
	g_autofree char *remedy = NULL;

	if (smallest <= error_rate)
		return FALSE;
	remedy = kmt_gate_remedy_text(error_rate);
	kmt_gate_verdict_add_reason(
		verdict,
		g_strdup_printf("a line is beyond its limit, but %u against %u "
				"captures reach an error rate of %.3g at "
				"best; %s, or raise --error-rate",
				diff->n_base, diff->n_new, smallest, remedy));
	return TRUE;
}

static void set_verdict(KmtGateVerdict *verdict, const KmtDiff *diff,
			GArray *judgements, double error_rate)
{
	gboolean has_test =
		compares_sides(verdict->rule) && can_test(diff->splits);
	const Judgement *first = (const Judgement *)judgements->data;
	guint i;

	if (has_test)
		test_lines(verdict->rule, diff, judgements);
	g_array_sort(judgements, compare_judgements);
	if (has_test && first->is_beyond &&
	    lacks_captures(verdict, diff, error_rate))
		return;
	for (i = 0; i < judgements->len; i++)
		if (first[i].is_beyond)
			add_beyond(verdict, diff, &first[i], error_rate);
	if (verdict->lines->len && verdict->outcome != KMT_GATE_UNDECIDED)
		verdict->outcome = KMT_GATE_EXCEEDED;
	for (i = 0; !verdict->lines->len && i < judgements->len; i++)
		if (has_grown(&first[i])) {
			verdict->nearest = copy_line(diff, &first[i]);
			break;
		}
}

void kmt_gate_judge(KmtGateVerdict *verdict, const KmtDiff *diff,
		    double error_rate)
{
	g_autoptr(GArray) judgements = NULL;

	kmt_gate_check_captures(verdict, diff);
	kmt_gate_check_names(verdict, diff);
	judgements = find_judgements(verdict, diff);
	verdict->n_lines = judgements->len;
	if (judgements->len)
		set_verdict(verdict, diff, judgements, error_rate);
}
