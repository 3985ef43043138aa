// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/rule-words.h"

#include <string.h>

G_DEFINE_QUARK(kmt - gate - rule - error - quark, kmt_gate_rule_error)

static void clear_word(gpointer word)
{
	g_free(((KmtGateWord *)word)->text);
}

/* Return whether a word ends before @at. */
static gboolean ends_word(const char *at)
{
	return !*at || g_ascii_isspace(*at);
}

/*
 * Append the word at @line to @words and return the end of the word in @line.
 * Return NULL if a quote of the word is not closed.
 */
static const char *read_word(const char *line, GArray *words)
{
	GString *text = g_string_new(NULL);
	gboolean in_quotes = FALSE;
	KmtGateWord word = {0};
	gsize commas;

	for (; *line; line++) {
		if (*line == '"') {
			in_quotes = !in_quotes;
			word.is_quoted = TRUE;
			continue;
		}
		if (!in_quotes && g_ascii_isspace(*line))
			break;
		commas = in_quotes ? 0 : strspn(line, ",");
		if (commas && ends_word(line + commas))
			break;
		/* Append several commas at once, which are read only once. */
		commas = MAX(commas, 1);
		g_string_append_len(text, line, (gssize)commas);
		line += commas - 1;
	}
	while (*line == ',')
		line++;
	word.text = g_string_free(text, FALSE);
	if (*word.text || word.is_quoted)
		g_array_append_val(words, word);
	else
		g_free(word.text);
	return in_quotes ? NULL : line;
}

gsize kmt_gate_words_length(const char *line)
{
	gboolean in_quotes = FALSE;
	gsize i;

	for (i = 0; line[i]; i++) {
		in_quotes ^= line[i] == '"';
		if (line[i] == '#' && !in_quotes &&
		    (!i || g_ascii_isspace(line[i - 1])))
			break;
	}
	return i;
}

gssize kmt_gate_words_name(const char *line)
{
	gsize length = kmt_gate_words_length(line), i;
	gboolean in_quotes = FALSE;

	for (i = 0; i < length; i++) {
		in_quotes ^= line[i] == '"';
		if (line[i] == ':' && !in_quotes &&
		    (!line[i + 1] || g_ascii_isspace(line[i + 1])))
			return (gssize)i;
	}
	return -1;
}

GArray *kmt_gate_words_split(const char *line, GError **error)
{
	g_autoptr(GArray) words =
		g_array_new(FALSE, FALSE, sizeof(KmtGateWord));

	g_array_set_clear_func(words, clear_word);
	while (line) {
		while (g_ascii_isspace(*line))
			line++;
		if (!*line || *line == '#')
			return g_steal_pointer(&words);
		line = read_word(line, words);
	}
	g_set_error_literal(error, KMT_GATE_RULE_ERROR,
			    KMT_GATE_RULE_ERROR_SYNTAX,
			    "a quote is not closed: expected \" before the end "
			    "of the line");
	return NULL;
}
