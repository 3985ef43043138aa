// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the limit at the end of a rule. */
#include "config.h"

#include "gate/rule-private.h"

#include <string.h>

#define LIMITS                                                                 \
	"\"grows by at most LIMIT\", \"does not grow\", \"below LIMIT\", or "  \
	"\"at most LIMIT\""

gboolean kmt_gate_sees_limit(const KmtGateParser *parser)
{
	static const char *const begins[] = {"grows", "does",  "is",
					     "stays", "below", "at most"};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(begins); i++)
		if (kmt_gate_sees(parser, begins[i]))
			return TRUE;
	return FALSE;
}

static gboolean is_absolute(const KmtGateRule *rule)
{
	return rule->condition != KMT_GATE_GROWS;
}

/* Set the error that names the form of a limit of the rule. */
static gboolean expected_limit(const KmtGateParser *parser, GError **error)
{
	const KmtGateRule *rule = parser->rule;
	KmtGateUnit unit = kmt_gate_unit_of(rule->field);
	g_autofree char *form = NULL;

	if (unit == KMT_GATE_UNIT_SHARE)
		form = g_strdup(is_absolute(rule)
					? "a number with %"
					: "a number with % (of the base) or "
					  "points (of the share)");
	else
		form = g_strdup_printf("a number with %s%s",
				       is_absolute(rule) ? "" : "% or ",
				       kmt_gate_unit_suffixes(unit));
	return kmt_gate_expected(parser, form, error);
}

/*
 * Store a number with its suffix as the percentage or the amount of the limit.
 * Return FALSE if the rule cannot have the suffix.
 */
static gboolean store(KmtGateRule *rule, KmtGateNumber *number,
		      const char *suffix)
{
	KmtGateUnit unit = kmt_gate_unit_of(rule->field);
	KmtGateLimit *limit = &rule->limit;
	gboolean is_percent = strcmp(suffix, "%") == 0;

	if (is_percent && !is_absolute(rule)) {
		limit->has_percent = TRUE;
		limit->percent = *number;
		return TRUE;
	}
	if (unit == KMT_GATE_UNIT_SHARE) {
		if (!is_percent &&
		    (is_absolute(rule) || strcmp(suffix, "points") != 0))
			return FALSE;
		number->divisor *= 100;
	} else if (!kmt_gate_number_set_suffix(number, unit, suffix)) {
		return FALSE;
	}
	limit->has_amount = TRUE;
	limit->amount = *number;
	return TRUE;
}

/* Return whether a word can be the suffix of the number before it. */
static gboolean is_suffix(const KmtGateWord *word)
{
	return word && !word->is_quoted && strcmp(word->text, "or") != 0;
}

static gboolean parse_amount(KmtGateParser *parser, GError **error)
{
	const KmtGateWord *word = kmt_gate_peek(parser, 0);
	KmtGateNumber number;
	const char *suffix =
		word ? kmt_gate_number_parse(word->text, &number) : NULL;
	gboolean is_apart =
		suffix && !*suffix && is_suffix(kmt_gate_peek(parser, 1));

	if (is_apart)
		suffix = kmt_gate_peek(parser, 1)->text;
	if (!suffix)
		return expected_limit(parser, error);
	if (!store(parser->rule, &number, suffix)) {
		parser->next += is_apart;
		return expected_limit(parser, error);
	}
	parser->next += is_apart ? 2 : 1;
	return TRUE;
}

static gboolean parse_growth(KmtGateParser *parser, GError **error)
{
	const KmtGateLimit *limit = &parser->rule->limit;

	if (!parse_amount(parser, error))
		return FALSE;
	if (!kmt_gate_skip(parser, "or"))
		return TRUE;
	if (!parse_amount(parser, error))
		return FALSE;
	return (limit->has_percent && limit->has_amount) ||
	       kmt_gate_refuse(error, "the limit has two numbers of one kind: "
				      "expected a percentage and an amount "
				      "around \"or\"");
}

gboolean kmt_gate_parse_limit(KmtGateParser *parser, GError **error)
{
	KmtGateRule *rule = parser->rule;

	if (kmt_gate_skip(parser, "does not grow")) {
		rule->condition = KMT_GATE_GROWS;
		rule->limit.has_amount = TRUE;
		rule->limit.amount = (KmtGateNumber){.divisor = 1, .factor = 1};
	} else if (kmt_gate_skip(parser, "grows by at most")) {
		rule->condition = KMT_GATE_GROWS;
		if (!parse_growth(parser, error))
			return FALSE;
	} else {
		if (!kmt_gate_skip(parser, "is"))
			kmt_gate_skip(parser, "stays");
		if (kmt_gate_skip(parser, "below"))
			rule->condition = KMT_GATE_BELOW;
		else if (kmt_gate_skip(parser, "at most"))
			rule->condition = KMT_GATE_AT_MOST;
		else
			return kmt_gate_expected(
				parser,
				"a clause (at, from, to, by, "
				"of, for, per) or a limit: " LIMITS,
				error);
		if (!parse_amount(parser, error))
			return FALSE;
	}
	return !kmt_gate_peek(parser, 0) ||
	       kmt_gate_expected(parser, "the end of the rule", error);
}
