// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The verdicts as a summary in Markdown, for a pull request: a table of the
 * rules, and a section for each rule that did not pass.
 */
#include "config.h"

#include "gate/line-text.h"
#include "lib/base/printable.h"

#include <math.h>
#include <string.h>

/* Punctuation that is no markup in a line that begins with other text. */
#define PLAIN " -/,+%()"

/*
 * Print text that renders as itself: every other punctuation character is an
 * entity, so that no name is markup, a link, a mention, or the end of a cell.
 */
static void print_plain(FILE *out, const char *text)
{
	g_autofree char *printable = kmt_printable(text);
	const char *c;

	for (c = printable; *c; c++)
		if (g_ascii_ispunct(*c) && !strchr(PLAIN, *c))
			fprintf(out, "&#%d;", *c);
		else
			fputc(*c, out);
}

static void print_code(FILE *out, const char *text)
{
	fputs("<code>", out);
	print_plain(out, text);
	fputs("</code>", out);
}

/* Print a cell with numbers and the program's own words, which have no markup.
 */
static void print_cell(FILE *out, const char *text)
{
	fprintf(out, "| %s ", text);
}

static void print_headings(FILE *out, const char *const *headings)
{
	guint i;

	for (i = 0; headings[i]; i++)
		fprintf(out, "| %s ", headings[i]);
	fputs("|\n", out);
	for (i = 0; headings[i]; i++)
		fputs("| --- ", out);
	fputs("|\n", out);
}

static void print_overview(const KmtGate *gate, FILE *out)
{
	static const char *const headings[] = {"Verdict", "Rule", "Result",
					       NULL};
	static const char *const marks[] = {
		[KMT_GATE_PASSED] = "passed",
		[KMT_GATE_EXCEEDED] = "**exceeded**",
		[KMT_GATE_UNDECIDED] = "**cannot be decided**",
	};
	guint i;

	print_headings(out, headings);
	for (i = 0; i < gate->verdicts->len; i++) {
		const KmtGateVerdict *verdict = gate->verdicts->pdata[i];
		g_autofree char *text = kmt_gate_verdict_text(verdict);

		fprintf(out, "| %s | ", marks[verdict->outcome]);
		print_code(out, verdict->rule->name);
		fputc(' ', out);
		print_cell(out, text);
		fputs("|\n", out);
	}
}

static void print_figures(const KmtGateVerdict *verdict,
			  const KmtGateLine *line, FILE *out)
{
	const KmtGateRule *rule = verdict->rule;
	KmtGateUnit unit = kmt_gate_unit_of(rule->field);
	g_autofree char *base = kmt_gate_figure_text(&line->base, unit);
	g_autofree char *new = kmt_gate_figure_text(&line->new, unit);
	g_autofree char *change = kmt_gate_change_text(line, unit);
	g_autofree char *limit = kmt_gate_limit_text(line, rule);
	/* The test does not apply to a limit of the new side alone. */
	g_autofree char *p = !isnan(line->p) ? g_strdup_printf("%.3g", line->p)
			     : rule->condition == KMT_GATE_GROWS
				     ? g_strdup("unknown")
				     : g_strdup("-");

	print_cell(out, base);
	print_cell(out, new);
	print_cell(out, change);
	print_cell(out, limit);
	print_cell(out, p);
}

static void print_leaks(const KmtGate *gate, const KmtGateLine *line, FILE *out)
{
	fprintf(out, "| %u of %u | %u of %u ", line->base_leaks, gate->n_base,
		line->new_leaks, gate->n_new);
}

static void print_lines(const KmtGate *gate, const KmtGateVerdict *verdict,
			FILE *out)
{
	static const char *const figures[] = {"Line",  "Base", "New", "Change",
					      "Limit", "p",    NULL};
	static const char *const leaks[] = {"Leak candidate", "Base captures",
					    "New captures", NULL};
	guint shown = kmt_gate_shown_lines(gate, verdict), i;

	print_headings(out, verdict->rule->field ? figures : leaks);
	for (i = 0; i < shown; i++) {
		const KmtGateLine *line = verdict->lines->pdata[i];
		g_autofree char *name = kmt_gate_name_text(line);

		fputs("| ", out);
		print_code(out, name);
		fputc(' ', out);
		if (verdict->rule->field)
			print_figures(verdict, line, out);
		else
			print_leaks(gate, line, out);
		fputs("|\n", out);
	}
	if (shown < verdict->lines->len)
		fprintf(out, "\nand %u more\n", verdict->lines->len - shown);
}

static void print_section(const KmtGate *gate, const KmtGateVerdict *verdict,
			  FILE *out)
{
	guint i;

	fputs("\n### ", out);
	print_code(out, verdict->rule->name);
	fprintf(out, ": %s\n\n", kmt_gate_outcome_name(verdict->outcome));
	if (!g_str_equal(verdict->rule->name, verdict->rule->text)) {
		print_code(out, verdict->rule->text);
		fputs("\n\n", out);
	}
	for (i = 0; i < verdict->reasons->len; i++) {
		fputs("- ", out);
		print_plain(out, verdict->reasons->pdata[i]);
		fputc('\n', out);
	}
	if (verdict->outcome == KMT_GATE_EXCEEDED)
		print_lines(gate, verdict, out);
}

void kmt_gate_markdown(const KmtGate *gate, FILE *out)
{
	g_autofree char *counts = kmt_gate_counts_text(gate);
	g_autofree char *base = kmt_gate_side_text(gate, FALSE);
	g_autofree char *new = kmt_gate_side_text(gate, TRUE);
	g_autofree char *noise = kmt_gate_noise_text(gate);
	guint i;

	fprintf(out, "## Kernel memory\n\n%s\n\n", counts);
	print_overview(gate, out);
	for (i = 0; i < gate->verdicts->len; i++) {
		const KmtGateVerdict *verdict = gate->verdicts->pdata[i];

		if (verdict->outcome != KMT_GATE_PASSED)
			print_section(gate, verdict, out);
	}
	fputs("\nBase: ", out);
	print_plain(out, base);
	fputs("<br>\nNew: ", out);
	print_plain(out, new);
	fprintf(out, "<br>\nNoise: %s\n", noise);
}
