// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves over the words of a rule, and formats the errors of the parser. */
#include "config.h"

#include "gate/rule-private.h"

#include <string.h>

gboolean kmt_gate_sees(const KmtGateParser *parser, const char *phrase)
{
	g_auto(GStrv) parts = g_strsplit(phrase, " ", -1);
	guint i;

	for (i = 0; parts[i]; i++) {
		const KmtGateWord *word = kmt_gate_peek(parser, i);

		if (!word || word->is_quoted ||
		    strcmp(word->text, parts[i]) != 0)
			return FALSE;
	}
	return TRUE;
}

gboolean kmt_gate_skip(KmtGateParser *parser, const char *phrase)
{
	const char *c;

	if (!kmt_gate_sees(parser, phrase))
		return FALSE;
	parser->next++;
	for (c = phrase; *c; c++)
		parser->next += *c == ' ';
	return TRUE;
}

gboolean kmt_gate_expected(const KmtGateParser *parser, const char *expected,
			   GError **error)
{
	const KmtGateWord *word = kmt_gate_peek(parser, 0);

	if (word)
		g_set_error(error, KMT_GATE_RULE_ERROR,
			    KMT_GATE_RULE_ERROR_SYNTAX, "'%s': expected %s",
			    word->text, expected);
	else
		g_set_error(error, KMT_GATE_RULE_ERROR,
			    KMT_GATE_RULE_ERROR_SYNTAX,
			    "the rule ends: expected %s", expected);
	return FALSE;
}

gboolean kmt_gate_refuse(GError **error, const char *message)
{
	g_set_error_literal(error, KMT_GATE_RULE_ERROR,
			    KMT_GATE_RULE_ERROR_SYNTAX, message);
	return FALSE;
}
