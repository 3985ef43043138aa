// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdicts as JUnit XML: a testcase for each rule, with a failure if the
 * rule is exceeded, and an error if it cannot be decided.
 */
#include "config.h"

#include "gate/line-text.h"
#include "lib/base/printable.h"

/* Print text with the characters that XML reserves replaced. XML has no form
 * for most control characters, so '?' replaces them. */
static void print_escaped(FILE *out, const char *text)
{
	g_autofree char *printable = kmt_printable(text);
	g_autofree char *escaped = g_markup_escape_text(printable, -1);

	fputs(escaped, out);
}

static void print_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, " %s=\"", name);
	print_escaped(out, value);
	fputc('"', out);
}

static void print_property(FILE *out, const char *name, const char *value)
{
	fputs("      <property", out);
	print_attribute(out, "name", name);
	print_attribute(out, "value", value);
	fputs("/>\n", out);
}

static void print_properties(const KmtGate *gate, FILE *out)
{
	g_autofree char *base = kmt_gate_side_text(gate, FALSE);
	g_autofree char *new = kmt_gate_side_text(gate, TRUE);
	g_autofree char *noise = kmt_gate_noise_text(gate);
	guint i;

	fputs("    <properties>\n", out);
	print_property(out, "base", base);
	print_property(out, "new", new);
	print_property(out, "noise", noise);
	for (i = 0; i < gate->captures->len; i++) {
		const KmtGateCapture *capture = gate->captures->pdata[i];

		print_property(
			out, i < gate->n_base ? "base capture" : "new capture",
			capture->path);
	}
	fputs("    </properties>\n", out);
}

static void print_body(const KmtGate *gate, const KmtGateVerdict *verdict,
		       FILE *out)
{
	guint shown = kmt_gate_shown_lines(gate, verdict), i;

	for (i = 0; i < verdict->reasons->len; i++) {
		print_escaped(out, verdict->reasons->pdata[i]);
		fputc('\n', out);
	}
	if (verdict->outcome == KMT_GATE_UNDECIDED)
		return;
	for (i = 0; i < shown; i++) {
		g_autofree char *text = kmt_gate_line_text(
			gate, verdict, verdict->lines->pdata[i]);

		print_escaped(out, text);
		fputc('\n', out);
	}
	if (shown < verdict->lines->len)
		fprintf(out, "and %u more\n", verdict->lines->len - shown);
}

static void print_testcase(const KmtGate *gate, const KmtGateVerdict *verdict,
			   FILE *out)
{
	const KmtGateRule *rule = verdict->rule;
	const char *element =
		verdict->outcome == KMT_GATE_EXCEEDED ? "failure" : "error";
	g_autofree char *line = g_strdup_printf("%u", rule->line);
	g_autofree char *text = kmt_gate_verdict_text(verdict);

	fputs("    <testcase", out);
	print_attribute(out, "classname", "kmemtrace-gate");
	print_attribute(out, "name", rule->name);
	print_attribute(out, "file", gate->options->rules);
	print_attribute(out, "line", line);
	print_attribute(out, "time", "0");
	fputs(">\n", out);
	if (verdict->outcome != KMT_GATE_PASSED) {
		fprintf(out, "      <%s", element);
		print_attribute(out, "type",
				kmt_gate_outcome_name(verdict->outcome));
		print_attribute(out, "message", text);
		fputc('>', out);
		print_body(gate, verdict, out);
		fprintf(out, "</%s>\n", element);
	}
	fputs("      <system-out>", out);
	print_escaped(out, rule->text);
	fputc('\n', out);
	print_escaped(out, text);
	fputs("</system-out>\n    </testcase>\n", out);
}

static void print_counts(const KmtGate *gate, FILE *out)
{
	fprintf(out,
		" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" "
		"time=\"0\"",
		gate->rules->len, kmt_gate_count(gate, KMT_GATE_EXCEEDED),
		kmt_gate_count(gate, KMT_GATE_UNDECIDED));
}

void kmt_gate_junit(const KmtGate *gate, FILE *out)
{
	guint i;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<testsuites name=\"kmemtrace-gate\"",
	      out);
	print_counts(gate, out);
	fputs(">\n  <testsuite", out);
	print_attribute(out, "name", gate->options->rules);
	print_counts(gate, out);
	fputs(">\n", out);
	print_properties(gate, out);
	for (i = 0; i < gate->verdicts->len; i++)
		print_testcase(gate, gate->verdicts->pdata[i], out);
	fputs("  </testsuite>\n</testsuites>\n", out);
}
