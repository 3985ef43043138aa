/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of the rule parser, which its files share. */
#ifndef KMEMTRACE_GATE_RULE_PRIVATE_H
#define KMEMTRACE_GATE_RULE_PRIVATE_H

#include "gate/rule.h"

/* A rule while it is parsed. */
typedef struct {
	const GArray *words; /* KmtGateWord */
	guint next;	     /* index of the next word */
	KmtGateRule *rule;
} KmtGateParser;

/* Return the word at @ahead words after the next one, or NULL at the end. */
static inline const KmtGateWord *kmt_gate_peek(const KmtGateParser *parser,
					       guint ahead)
{
	guint i = parser->next + ahead;

	return i < parser->words->len
		       ? &g_array_index(parser->words, KmtGateWord, i)
		       : NULL;
}

/*
 * Return whether the next words are those of @phrase, which blanks separate. A
 * quoted word is no keyword.
 */
gboolean kmt_gate_sees(const KmtGateParser *parser, const char *phrase);
/* Skip the words of @phrase if they are the next ones. Return whether they
 * were. */
gboolean kmt_gate_skip(KmtGateParser *parser, const char *phrase);

/*
 * Set the error "'WORD': expected EXPECTED", with the next word, and return
 * FALSE. At the end of the rule the error is "the rule ends: expected
 * EXPECTED".
 */
gboolean kmt_gate_expected(const KmtGateParser *parser, const char *expected,
			   GError **error);
/* Set the error to @message and return FALSE. */
gboolean kmt_gate_refuse(GError **error, const char *message);

/* Return whether the next words begin the limit of a rule. */
gboolean kmt_gate_sees_limit(const KmtGateParser *parser);
/* Parse the limit, which ends the rule, into parser->rule. */
gboolean kmt_gate_parse_limit(KmtGateParser *parser, GError **error);

/*
 * Parse the clauses between the figure and the limit into parser->rule, in any
 * order.
 */
gboolean kmt_gate_parse_clauses(KmtGateParser *parser, GError **error);

#endif
