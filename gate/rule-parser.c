// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses a rule: its name, its figure, and its other parts in order. */
#include "config.h"

#include "gate/rule-private.h"

static gboolean parse_leaks(KmtGateParser *parser, GError **error)
{
	parser->rule->condition = kmt_gate_skip(parser, "new")
					  ? KMT_GATE_NO_NEW_LEAK
					  : KMT_GATE_NO_LEAK;
	if (!kmt_gate_skip(parser, "leak candidate") &&
	    !kmt_gate_skip(parser, "leak candidates"))
		return kmt_gate_expected(
			parser,
			"\"no new leak candidate\" or \"no leak "
			"candidate\"",
			error);
	return TRUE;
}

static gboolean parse_field(KmtGateParser *parser, GError **error)
{
	const KmtGateWord *word = kmt_gate_peek(parser, 0);
	const KmtReportField *field =
		word ? kmt_report_field_find(word->text) : NULL;
	g_autofree char *names = NULL;
	g_autofree char *expected = NULL;

	if (field && kmt_gate_unit_of(field) == KMT_GATE_UNIT_NONE)
		return kmt_gate_expected(parser, "a figure that can be limited",
					 error);
	if (field) {
		parser->rule->field = field;
		parser->next++;
		return TRUE;
	}
	names = kmt_report_field_names();
	expected = g_strdup_printf("\"no\" or a figure, which is one of: %s",
				   names);
	return kmt_gate_expected(parser, expected, error);
}

static gboolean parse_words(KmtGateParser *parser, GError **error)
{
	gboolean has_leaks;

	has_leaks = kmt_gate_skip(parser, "no");
	if (!(has_leaks ? parse_leaks(parser, error)
			: parse_field(parser, error)) ||
	    !kmt_gate_parse_clauses(parser, error))
		return FALSE;
	if (!has_leaks)
		return kmt_gate_parse_limit(parser, error);
	return !kmt_gate_peek(parser, 0) ||
	       kmt_gate_expected(parser, "a clause or the end of the rule",
				 error);
}

/*
 * Check that lines distinguish kmalloc and cache if the rule judges one of
 * them. The sums of the kinds always distinguish them.
 */
static gboolean check_kinds(const KmtGateRule *rule, GError **error)
{
	g_autofree char *text = kmt_gate_rule_by(rule);
	KmtBy by;

	if (!text || !kmt_by_parse(text, &by, NULL) || by.kinds ||
	    !(rule->kinds & (1U << KMT_KIND_KMALLOC | 1U << KMT_KIND_CACHE)))
		return TRUE;
	return kmt_gate_refuse(error,
			       "of: these dimensions do not distinguish "
			       "kmalloc and cache: expected \"of slab\", or "
			       "\"by kind and ...\"");
}

/*
 * Let the report parse the options of the rule, so that their values have the
 * same form and the same errors.
 */
static gboolean check_options(const KmtGateRule *rule, GError **error)
{
	g_auto(KmtPlan) plan = {0};
	g_autofree char *by = kmt_gate_rule_by(rule);
	g_autofree char *time = kmt_gate_rule_time(rule);
	const KmtOptions options = {
		.by = by,
		.time = time,
		.leaks = kmt_gate_rule_has_leaks(rule),
		.kind = rule->kind,
		.cpu = rule->cpu,
		.node = rule->node,
		.size = rule->size,
		.lifetime = rule->lifetime,
		.callsite = rule->callsite,
		.module = rule->module,
		.cgroup = rule->cgroup,
	};
	g_autoptr(GError) cause = NULL;

	if (kmt_plan_make(&plan, &options, &cause))
		return TRUE;
	return kmt_gate_refuse(error, cause->message);
}

/* Take the name at the beginning of the line and return the rest. */
static const char *take_name(const char *line, KmtGateRule *rule)
{
	gssize length = kmt_gate_words_name(line);

	if (length < 0)
		return line;
	rule->name = g_strstrip(g_strndup(line, (gsize)length));
	return line + length + 1;
}

static gboolean parse(const char *line, const GArray *words, KmtGateRule *rule,
		      GError **error)
{
	KmtGateParser parser = {.words = words, .rule = rule};

	rule->text = g_strstrip(g_strndup(line, kmt_gate_words_length(line)));
	rule->selections = g_array_new(FALSE, FALSE, sizeof(KmtGateSelection));
	if (rule->name && !*rule->name)
		return kmt_gate_refuse(error, "the rule begins with a colon: "
					      "expected a name before it");
	return parse_words(&parser, error) && check_kinds(rule, error) &&
	       check_options(rule, error);
}

gboolean kmt_gate_rule_parse(const char *line, KmtGateRule **result,
			     GError **error)
{
	g_autoptr(KmtGateRule) rule = g_new0(KmtGateRule, 1);
	g_autoptr(GArray) words = NULL;

	*result = NULL;
	line = take_name(line, rule);
	words = kmt_gate_words_split(line, error);
	if (!words)
		return FALSE;
	if (!words->len && !rule->name)
		return TRUE;
	if (!parse(line, words, rule, error))
		return FALSE;
	*result = g_steal_pointer(&rule);
	return TRUE;
}
