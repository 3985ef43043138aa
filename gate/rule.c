// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/rule.h"

void kmt_gate_rule_free(KmtGateRule *rule)
{
	guint i;

	if (!rule)
		return;
	for (i = 0; rule->selections && i < rule->selections->len; i++)
		g_free(g_array_index(rule->selections, KmtGateSelection, i)
			       .glob);
	if (rule->selections)
		g_array_unref(rule->selections);
	g_free(rule->name);
	g_free(rule->text);
	g_free(rule->start);
	g_free(rule->stop);
	g_free(rule->per_mark);
	g_free(rule->kind);
	g_free(rule->cpu);
	g_free(rule->node);
	g_free(rule->size);
	g_free(rule->lifetime);
	g_free(rule->callsite);
	g_free(rule->module);
	g_free(rule->cgroup);
	g_free(rule);
}

char *kmt_gate_rule_by(const KmtGateRule *rule)
{
	GString *by;
	guint i;

	if (!rule->selections->len)
		return kmt_gate_rule_has_leaks(rule) ? g_strdup("callsite")
						     : NULL;
	by = g_string_new(NULL);
	for (i = 0; i < rule->selections->len; i++)
		g_string_append_printf(
			by, "%s%s", i ? "," : "",
			kmt_dimension_name(g_array_index(rule->selections,
							 KmtGateSelection, i)
						   .dimension));
	return g_string_free(by, FALSE);
}

char *kmt_gate_rule_time(const KmtGateRule *rule)
{
	if (!rule->start && !rule->stop)
		return NULL;
	return g_strdup_printf("%s,%s", rule->start ? rule->start : "",
			       rule->stop ? rule->stop : "");
}
