/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of a line of a rule file. */
#ifndef KMEMTRACE_GATE_RULE_WORDS_H
#define KMEMTRACE_GATE_RULE_WORDS_H

#include <glib.h>

/* The error domain of rules; a rule file that cannot be read has
 * G_FILE_ERROR. */
#define KMT_GATE_RULE_ERROR (kmt_gate_rule_error_quark())
GQuark kmt_gate_rule_error_quark(void);
typedef enum {
	KMT_GATE_RULE_ERROR_SYNTAX,
} KmtGateRuleError;

/* A word of a rule, without its quotes and without a comma at its end. */
typedef struct {
	char *text;
	gboolean is_quoted; /* a part of the word was quoted, so that the word
			     * is no keyword */
} KmtGateWord;

/* Return the length of @line without the comment at its end. */
gsize kmt_gate_words_length(const char *line);

/*
 * Return the length of the name at the beginning of @line, which ends before a
 * colon with a blank after it. Return -1 if there is no such colon.
 */
gssize kmt_gate_words_name(const char *line);

/*
 * Split a line into words (KmtGateWord). Blanks separate words; double quotes
 * enclose a part of a word with blanks, commas or #. A comma at the end of a
 * word is dropped. A word that begins with # begins a comment. Return NULL with
 * KMT_GATE_RULE_ERROR if a quote is not closed. The caller owns the array.
 */
GArray *kmt_gate_words_split(const char *line, GError **error);

#endif
