// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdicts as text. */
#include "config.h"

#include "gate/line-text.h"
#include "lib/base/printable.h"
#include "lib/cli/color.h"

static void print_outcome(FILE *out, KmtGateOutcome outcome)
{
	static const KmtColor colors[] = {
		[KMT_GATE_PASSED] = KMT_COLOR_GOOD,
		[KMT_GATE_EXCEEDED] = KMT_COLOR_ERROR,
		[KMT_GATE_UNDECIDED] = KMT_COLOR_WARNING,
	};
	static const char *const words[] = {
		[KMT_GATE_PASSED] = "PASSED",
		[KMT_GATE_EXCEEDED] = "EXCEEDED",
		[KMT_GATE_UNDECIDED] = "CANNOT BE DECIDED",
	};

	kmt_color_puts(out, colors[outcome], words[outcome]);
}

static void print_side(const KmtGate *gate, FILE *out, gboolean is_new)
{
	g_autofree char *text = kmt_gate_side_text(gate, is_new);
	guint first = is_new ? gate->n_base : 0;
	guint n = is_new ? gate->n_new : gate->n_base, i;

	fprintf(out, "%s %s", is_new ? "new: " : "base:", text);
	for (i = 0; gate->captures->len && i < n; i++) {
		const KmtGateCapture *capture =
			gate->captures->pdata[first + i];

		fprintf(out, "%s%s", i ? ", " : ": ", capture->path);
	}
	fputc('\n', out);
}

static void print_line(const KmtGate *gate, const KmtGateVerdict *verdict,
		       const char *prefix, const KmtGateLine *line, FILE *out)
{
	g_autofree char *text = kmt_gate_line_text(gate, verdict, line);

	fprintf(out, "  %s%s\n", prefix, text);
}

static void print_verdict(const KmtGate *gate, const KmtGateVerdict *verdict,
			  FILE *out)
{
	const KmtGateRule *rule = verdict->rule;
	guint shown = kmt_gate_shown_lines(gate, verdict), i;
	g_autofree char *text = kmt_gate_verdict_text(verdict);
	g_autofree char *rule_name = kmt_printable(rule->name);
	g_autofree char *rule_text = kmt_printable(rule->text);

	fputc('\n', out);
	print_outcome(out, verdict->outcome);
	fprintf(out, "  %s\n", rule_name);
	if (!g_str_equal(rule->name, rule->text))
		fprintf(out, "  %s\n", rule_text);
	for (i = 0; i < verdict->reasons->len; i++)
		fprintf(out, "  %s\n", (char *)verdict->reasons->pdata[i]);
	if (verdict->outcome == KMT_GATE_UNDECIDED)
		return;
	fprintf(out, "  %s\n", text);
	for (i = 0; i < shown; i++)
		print_line(gate, verdict, "  ", verdict->lines->pdata[i], out);
	if (shown < verdict->lines->len)
		fprintf(out, "    and %u more\n", verdict->lines->len - shown);
	if (verdict->nearest)
		print_line(gate, verdict,
			   "nearest to its limit: ", verdict->nearest, out);
}

void kmt_gate_text(const KmtGate *gate, FILE *out)
{
	g_autofree char *noise = kmt_gate_noise_text(gate);
	g_autofree char *counts = kmt_gate_counts_text(gate);
	guint i;

	print_side(gate, out, FALSE);
	print_side(gate, out, TRUE);
	fprintf(out, "noise: %s\n", noise);
	for (i = 0; i < gate->verdicts->len; i++)
		print_verdict(gate, gate->verdicts->pdata[i], out);
	fprintf(out, "\n%s\n", counts);
}
