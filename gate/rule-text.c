// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes how a rule is understood, for --check. */
#include "config.h"

#include "gate/rule.h"
#include "report/columns.h"

/* Append a number in the unit of the figure of a rule. */
static void append_amount(GString *text, const KmtGateRule *rule,
			  const KmtGateNumber *number)
{
	KmtGateUnit unit = kmt_gate_unit_of(rule->field);
	double value = (double)kmt_gate_number_value(number);
	char digits[G_ASCII_DTOSTR_BUF_SIZE];
	g_autofree char *duration = NULL;

	switch (unit) {
	case KMT_GATE_UNIT_TIME:
		duration = kmt_format_duration((guint64)value);
		g_string_append(text, duration);
		return;
	case KMT_GATE_UNIT_SHARE:
		g_ascii_formatd(digits, sizeof(digits), "%.15g", value * 100);
		g_string_append_printf(
			text, "%s %s", digits,
			rule->condition == KMT_GATE_GROWS ? "points" : "%");
		return;
	default:
		g_ascii_formatd(digits, sizeof(digits), "%.15g", value);
		g_string_append_printf(text, "%s%s", digits,
				       unit == KMT_GATE_UNIT_BYTES ? " B" : "");
	}
}

static void append_limit(GString *text, const KmtGateRule *rule)
{
	static const char *const words[] = {
		[KMT_GATE_GROWS] = "grows by at most",
		[KMT_GATE_BELOW] = "is below",
		[KMT_GATE_AT_MOST] = "is at most",
		[KMT_GATE_NO_NEW_LEAK] = "no new leak candidate",
		[KMT_GATE_NO_LEAK] = "no leak candidate",
	};
	const KmtGateLimit *limit = &rule->limit;
	char percent[G_ASCII_DTOSTR_BUF_SIZE];

	if (!kmt_gate_rule_has_leaks(rule))
		g_string_append_printf(text, "%s ",
				       kmt_report_field_name(rule->field));
	g_string_append(text, words[rule->condition]);
	if (limit->has_percent) {
		g_ascii_formatd(percent, sizeof(percent), "%.15g",
				(double)kmt_gate_number_value(&limit->percent));
		g_string_append_printf(text, " %s %% of the base%s", percent,
				       limit->has_amount ? " or" : "");
	}
	if (limit->has_amount) {
		g_string_append_c(text, ' ');
		append_amount(text, rule, &limit->amount);
	}
}

/* Append the options of kmemtrace-report that "for" and "per" stand for. */
static void append_options(GString *text, const KmtGateRule *rule)
{
	const struct {
		const char *option, *value;
	} options[] = {
		{"kind", rule->kind},
		{"cpu", rule->cpu},
		{"node", rule->node},
		{"size", rule->size},
		{"lifetime", rule->lifetime},
		{"callsite", rule->callsite},
		{"module", rule->module},
		{"cgroup", rule->cgroup},
		{"per", rule->per_second ? "second" : NULL},
	};
	gsize i;

	for (i = 0; i < G_N_ELEMENTS(options); i++)
		if (options[i].value)
			g_string_append_printf(text, ", --%s %s",
					       options[i].option,
					       options[i].value);
	if (rule->per_mark)
		g_string_append_printf(text, ", --per mark:%s", rule->per_mark);
}

/* Append what selects lines of the comparison: the kinds and the globs. */
static void append_selection(GString *text, const KmtGateRule *rule)
{
	const char *separator = ", only ";
	guint i;

	for (i = 0; i < KMT_N_KINDS; i++)
		if (rule->kinds & 1U << i) {
			g_string_append_printf(text, "%s%s", separator,
					       kmt_kind_name(i));
			separator = " and ";
		}
	for (i = 0; i < rule->selections->len; i++) {
		const KmtGateSelection *selection =
			&g_array_index(rule->selections, KmtGateSelection, i);

		if (selection->glob)
			g_string_append_printf(
				text, ", only %s %s",
				kmt_dimension_name(selection->dimension),
				selection->glob);
	}
}

char *kmt_gate_rule_describe(const KmtGateRule *rule)
{
	g_autofree char *by = kmt_gate_rule_by(rule);
	g_autofree char *time = kmt_gate_rule_time(rule);
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "--by %s, --time %s",
			       by ? by : "(sums of the kinds)",
			       time ? time : "(all)");
	append_options(text, rule);
	append_selection(text, rule);
	g_string_append(text, ": ");
	append_limit(text, rule);
	return g_string_free(text, FALSE);
}
