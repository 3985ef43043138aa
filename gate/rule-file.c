// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files of rules. */
#include "config.h"

#include "gate/rule.h"
#include "lib/base/printable.h"

#include <string.h>

/* Begin the message of *error with the file and the line. */
static void prefix(GError **error, const char *path, guint line)
{
	g_autofree char *message = kmt_printable((*error)->message);
	g_autofree char *file = kmt_printable(path);

	g_clear_error(error);
	g_set_error(error, KMT_GATE_RULE_ERROR, KMT_GATE_RULE_ERROR_SYNTAX,
		    "%s:%u: %s", file, line, message);
}

static gboolean has_name(const GPtrArray *rules, const char *name)
{
	guint i;

	for (i = 0; i < rules->len; i++) {
		const KmtGateRule *rule = rules->pdata[i];

		if (strcmp(rule->name, name) == 0)
			return TRUE;
	}
	return FALSE;
}

/* Add a rule. A rule without a name is named by its text. */
static gboolean add_rule(GPtrArray *rules, KmtGateRule *rule, guint line,
			 GError **error)
{
	rule->line = line;
	if (!rule->name)
		rule->name = g_strdup(rule->text);
	if (!has_name(rules, rule->name)) {
		g_ptr_array_add(rules, rule);
		return TRUE;
	}
	g_set_error(error, KMT_GATE_RULE_ERROR, KMT_GATE_RULE_ERROR_SYNTAX,
		    "'%s': an earlier rule has the same name", rule->name);
	kmt_gate_rule_free(rule);
	return FALSE;
}

static gboolean read_lines(GPtrArray *rules, const char *path, char **lines,
			   GError **error)
{
	guint i;

	for (i = 0; lines[i]; i++) {
		GError *cause = NULL;
		KmtGateRule *rule = NULL;

		if (kmt_gate_rule_parse(lines[i], &rule, &cause) &&
		    (!rule || add_rule(rules, rule, i + 1, &cause)))
			continue;
		prefix(&cause, path, i + 1);
		g_propagate_error(error, cause);
		return FALSE;
	}
	return TRUE;
}

GPtrArray *kmt_gate_rules_read(const char *path, GError **error)
{
	g_autoptr(GPtrArray) rules = g_ptr_array_new_with_free_func(
		(GDestroyNotify)kmt_gate_rule_free);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	gsize length;

	if (!g_file_get_contents(path, &text, &length, error))
		return NULL;
	if (!g_utf8_validate(text, (gssize)length, NULL)) {
		g_set_error(error, KMT_GATE_RULE_ERROR,
			    KMT_GATE_RULE_ERROR_SYNTAX,
			    "%s: expected rules, but the file is not text in "
			    "UTF-8",
			    path);
		return NULL;
	}
	lines = g_strsplit(text, "\n", -1);
	if (!read_lines(rules, path, lines, error))
		return NULL;
	if (!rules->len) {
		g_set_error(error, KMT_GATE_RULE_ERROR,
			    KMT_GATE_RULE_ERROR_SYNTAX,
			    "%s: the file has no rule", path);
		return NULL;
	}
	return g_steal_pointer(&rules);
}
