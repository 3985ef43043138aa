// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the clauses of a rule: at, from, to, by, of, for, per. */
#include "config.h"

#include "gate/rule-private.h"

#include <string.h>

static const char *const keywords[] = {"at", "from", "to",  "by",
				       "of", "for",  "per", "and"};

/* Return whether the next word is a value, which is neither a keyword
 * nor the beginning of a limit. */
static gboolean sees_value(const KmtGateParser *parser)
{
	guint i;

	for (i = 0; i < G_N_ELEMENTS(keywords); i++)
		if (kmt_gate_sees(parser, keywords[i]))
			return FALSE;
	return kmt_gate_peek(parser, 0) && !kmt_gate_sees_limit(parser);
}

/*
 * Move the next word to *value. Return FALSE with an error if *value has
 * already been set by another clause, or if there is no value.
 */
static gboolean take(KmtGateParser *parser, char **value, const char *expected,
		     GError **error)
{
	if (*value) {
		parser->next--;
		return kmt_gate_expected(
			parser, "another clause: the rule has this one twice",
			error);
	}
	if (!sees_value(parser))
		return kmt_gate_expected(parser, expected, error);
	*value = g_strdup(kmt_gate_peek(parser, 0)->text);
	parser->next++;
	return TRUE;
}

/* Take a moment as --time has it, without the prefix "mark:". */
static gboolean take_moment(KmtGateParser *parser, char **moment,
			    GError **error)
{
	g_autofree char *old = NULL;

	if (!take(parser, moment,
		  "a moment: mark:NAME, or a time as 1.5, 500ms or @29.5",
		  error))
		return FALSE;
	if (strchr(*moment, ',')) {
		parser->next--;
		return kmt_gate_expected(parser, "a moment without a comma",
					 error);
	}
	if (g_str_has_prefix(*moment, "mark:")) {
		old = *moment;
		*moment = g_strdup(old + strlen("mark:"));
	}
	if (**moment)
		return TRUE;
	parser->next--;
	return kmt_gate_expected(parser, "mark:NAME", error);
}

static gboolean parse_at(KmtGateParser *parser, GError **error)
{
	const KmtReportField *field = parser->rule->field;

	if (field && kmt_gate_field_has_moment(field))
		return take_moment(parser, &parser->rule->stop, error);
	return kmt_gate_refuse(
		error, field ? "at: the figure depends on all events up to a "
			       "moment: expected \"to MOMENT\" or \"from "
			       "MOMENT to MOMENT\""
			     : "at: leak candidates depend on a span of time: "
			       "expected \"from MOMENT to MOMENT\"");
}

static gboolean parse_to(KmtGateParser *parser, GError **error)
{
	return take_moment(parser, &parser->rule->stop, error);
}

static gboolean parse_from(KmtGateParser *parser, GError **error)
{
	return take_moment(parser, &parser->rule->start, error);
}

static gboolean has_dimension(const GArray *selections, KmtDimension dimension)
{
	guint i;

	for (i = 0; i < selections->len; i++)
		if (g_array_index(selections, KmtGateSelection, i).dimension ==
		    dimension)
			return TRUE;
	return FALSE;
}

/* Add the dimensions of a word such as "function,cpu". */
static gboolean add_dimensions(KmtGateParser *parser, GError **error)
{
	const KmtGateWord *word = kmt_gate_peek(parser, 0);
	g_autofree char *names = kmt_dimension_names();
	g_autofree char *expected =
		g_strdup_printf("a dimension, which is one of: %s", names);
	GArray *selections = parser->rule->selections;
	KmtBy by;
	guint i;

	if (!word || word->is_quoted || !kmt_by_parse(word->text, &by, NULL))
		return kmt_gate_expected(parser, expected, error);
	for (i = 0; i < by.n; i++) {
		const KmtGateSelection selection = {
			.dimension = by.dimensions[i],
		};

		if (has_dimension(selections, selection.dimension))
			return kmt_gate_expected(
				parser,
				"a dimension that the rule does not have yet",
				error);
		g_array_append_val(selections, selection);
	}
	parser->next++;
	return TRUE;
}

static gboolean sees_dimension(const KmtGateParser *parser)
{
	const KmtGateWord *word = kmt_gate_peek(parser, 0);
	KmtBy by;

	return word && !word->is_quoted && kmt_by_parse(word->text, &by, NULL);
}

static gboolean parse_by(KmtGateParser *parser, GError **error)
{
	GArray *selections = parser->rule->selections;
	KmtGateSelection *last;

	if (selections->len)
		return kmt_gate_refuse(error, "by: the rule has this clause "
					      "twice: expected \"by A and "
					      "B\"");
	do {
		if (!add_dimensions(parser, error))
			return FALSE;
		if (!sees_value(parser) || sees_dimension(parser))
			continue;
		last = &g_array_index(selections, KmtGateSelection,
				      selections->len - 1);
		last->glob = g_strdup(kmt_gate_peek(parser, 0)->text);
		parser->next++;
	} while (kmt_gate_skip(parser, "and") || sees_dimension(parser));
	return TRUE;
}

static gboolean parse_of(KmtGateParser *parser, GError **error)
{
	do {
		const KmtGateWord *word = kmt_gate_peek(parser, 0);
		guint kind = 0;

		while (word && kind < KMT_N_KINDS &&
		       strcmp(word->text, kmt_kind_name(kind)) != 0)
			kind++;
		if (!word || kind == KMT_N_KINDS)
			return kmt_gate_expected(parser,
						 "a kind: kmalloc, cache, "
						 "slab, pages, percpu or "
						 "vmalloc",
						 error);
		parser->rule->kinds |= 1U << kind;
		parser->next++;
	} while (kmt_gate_skip(parser, "and"));
	return TRUE;
}

static gboolean parse_for(KmtGateParser *parser, GError **error)
{
	KmtGateRule *rule = parser->rule;
	const struct {
		const char *name;
		char **value;
	} filters[] = {
		{"kind", &rule->kind},	       {"cpu", &rule->cpu},
		{"node", &rule->node},	       {"size", &rule->size},
		{"lifetime", &rule->lifetime}, {"callsite", &rule->callsite},
		{"module", &rule->module},     {"cgroup", &rule->cgroup},
	};
	guint i;

	do {
		for (i = 0; i < G_N_ELEMENTS(filters); i++)
			if (kmt_gate_skip(parser, filters[i].name))
				break;
		if (i == G_N_ELEMENTS(filters))
			return kmt_gate_expected(parser,
						 "a filter: kind, cpu, node, "
						 "size, lifetime, callsite, "
						 "module or cgroup",
						 error);
		if (!take(parser, filters[i].value,
			  "a value as the filter has it in kmemtrace-report",
			  error))
			return FALSE;
	} while (kmt_gate_skip(parser, "and"));
	return TRUE;
}

static gboolean parse_per(KmtGateParser *parser, GError **error)
{
	KmtGateRule *rule = parser->rule;
	const KmtGateWord *word = kmt_gate_peek(parser, 0);

	if (!rule->field || !kmt_gate_field_has_rate(rule->field))
		return kmt_gate_refuse(error,
				       "per: expected a figure that is a sum "
				       "over the time, as allocs or wasted");
	if (rule->per_second || rule->per_mark)
		return kmt_gate_refuse(error,
				       "per: the rule has this clause twice");
	if (kmt_gate_skip(parser, "second")) {
		rule->per_second = TRUE;
		return TRUE;
	}
	if (!word || !g_str_has_prefix(word->text, "mark:") || !word->text[5])
		return kmt_gate_expected(parser, "second or mark:NAME", error);
	rule->per_mark = g_strdup(word->text + 5);
	parser->next++;
	return TRUE;
}

gboolean kmt_gate_parse_clauses(KmtGateParser *parser, GError **error)
{
	static const struct {
		const char *keyword;
		gboolean (*parse)(KmtGateParser *parser, GError **error);
	} clauses[] = {
		{"at", parse_at},   {"from", parse_from}, {"to", parse_to},
		{"by", parse_by},   {"of", parse_of},	  {"for", parse_for},
		{"per", parse_per},
	};
	guint i;

	for (;;) {
		if (kmt_gate_sees_limit(parser))
			return TRUE;
		for (i = 0; i < G_N_ELEMENTS(clauses); i++)
			if (kmt_gate_skip(parser, clauses[i].keyword))
				break;
		if (i == G_N_ELEMENTS(clauses))
			return TRUE;
		if (!clauses[i].parse(parser, error))
			return FALSE;
	}
}
