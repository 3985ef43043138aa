// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "gate/gate.h"
#include "gate/verdict.h"
#include "lib/base/printable.h"

#include <math.h>

const char *kmt_gate_outcome_name(KmtGateOutcome outcome)
{
	static const char *const names[] = {
		[KMT_GATE_PASSED] = "passed",
		[KMT_GATE_EXCEEDED] = "exceeded",
		[KMT_GATE_UNDECIDED] = "cannot be decided",
	};

	return names[outcome];
}

KmtGateVerdict *kmt_gate_verdict_new(const KmtGateRule *rule)
{
	KmtGateVerdict *verdict = g_new0(KmtGateVerdict, 1);

	verdict->rule = rule;
	verdict->lines = g_ptr_array_new_with_free_func(
		(GDestroyNotify)kmt_gate_line_free);
	verdict->reasons = g_ptr_array_new_with_free_func(g_free);
	return verdict;
}

void kmt_gate_verdict_free(KmtGateVerdict *verdict)
{
	if (!verdict)
		return;
	g_ptr_array_unref(verdict->lines);
	g_ptr_array_unref(verdict->reasons);
	kmt_gate_line_free(verdict->nearest);
	g_free(verdict);
}

void kmt_gate_verdict_add_reason(KmtGateVerdict *verdict, char *reason)
{
	char *printable = kmt_printable(reason);

	if (g_ptr_array_find_with_equal_func(verdict->reasons, printable,
					     g_str_equal, NULL))
		g_free(printable);
	else
		g_ptr_array_add(verdict->reasons, printable);
	g_free(reason);
	verdict->outcome = KMT_GATE_UNDECIDED;
}

static char *name_of(const KmtDiff *diff, const KmtDiffLine *line)
{
	GString *name;
	guint i;

	if (!line->texts)
		return NULL;
	name = g_string_new(NULL);
	for (i = 0; i < diff->by->n; i++)
		g_string_append_printf(name, "%s%s", i ? ", " : "",
				       line->texts[i]);
	return g_string_free(name, FALSE);
}

KmtGateLine *kmt_gate_line_new(const KmtDiff *diff, const KmtDiffLine *line,
			       const KmtDiffCell *cell)
{
	KmtGateLine *copy = g_new0(KmtGateLine, 1);

	copy->kind = line->kind;
	copy->name = name_of(diff, line);
	copy->match = line->texts ? line->match : KMT_DIFF_SAME;
	copy->guess = line->guess ? name_of(diff, line->guess) : NULL;
	if (cell) {
		copy->base = cell->base;
		copy->new = cell->new;
		copy->difference = cell->difference;
	}
	copy->base_leaks = line->base_leaks;
	copy->new_leaks = line->new_leaks;
	copy->limit = NAN;
	copy->p = NAN;
	return copy;
}

void kmt_gate_line_free(KmtGateLine *line)
{
	if (!line)
		return;
	g_free(line->name);
	g_free(line->guess);
	g_free(line);
}

guint kmt_gate_count(const KmtGate *gate, KmtGateOutcome outcome)
{
	guint i, n = 0;

	for (i = 0; i < gate->verdicts->len; i++) {
		const KmtGateVerdict *verdict = gate->verdicts->pdata[i];

		n += verdict->outcome == outcome;
	}
	return n;
}
