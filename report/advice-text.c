// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the advice as text. */
#include "config.h"

#include "report/advice-output.h"
#include "report/advice-private.h"
#include "report/report-text.h"

#include <string.h>

/* Width of a line and of the labels before the text of a finding. */
#define LINE_WIDTH  80
#define LABEL_WIDTH 13
#define INDENT	    4

/* Print a label and a text whose further lines are indented as the first. */
static void print_field(FILE *out, const char *label, const char *text)
{
	const size_t room = LINE_WIDTH - INDENT - LABEL_WIDTH;
	size_t used = 0;

	fprintf(out, "%*s%-*s", INDENT, "", LABEL_WIDTH, label);
	while (*text) {
		size_t word = strcspn(text, " ");

		if (used && used + 1 + word > room) {
			fprintf(out, "\n%*s", INDENT + LABEL_WIDTH, "");
			used = 0;
		}
		used += (size_t)fprintf(out, "%s%.*s", used ? " " : "",
					(int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/* Format a saving, which is a loss if it is negative. The caller frees the
 * string. */
static char *format_saving(const KmtReport *report, gint64 bytes)
{
	g_autofree char *number = kmt_advice_figure(
		report, bytes < 0 ? -(guint64)bytes : (guint64)bytes);

	return g_strconcat(bytes < 0 ? "-" : "", number, NULL);
}

/* Return the bytes that a change saves, with their share of the peak of the
 * kind. The caller frees the string. */
static char *saving_text(const KmtReport *report, const KmtAdvice *advice,
			 const KmtAdviceChange *change)
{
	guint64 peak = report->aggregate->kinds[advice->kind].peak_bytes_alloc;
	g_autofree char *at_peak = format_saving(report, change->peak);
	g_autofree char *at_end = format_saving(report, change->live);
	g_autofree char *share =
		peak && change->peak > 0
			? g_strdup_printf(" (%.1f %% of the peak of %s)",
					  100 * (double)change->peak /
						  (double)peak,
					  kmt_kind_name(advice->kind))
			: g_strdup("");

	return g_strdup_printf("%s bytes at the peak%s, %s bytes at the end",
			       at_peak, share, at_end);
}

static char *rate_text(const KmtReport *report, const KmtAdvice *advice)
{
	double rate = advice->rate;
	g_autofree char *number = kmt_advice_figure(
		report, rate < 1e18 ? (guint64)(rate + 0.5)
				    : G_GUINT64_CONSTANT(1000000000000000000));

	return g_strdup_printf("%s %s", number, advice->rate_unit);
}

static void print_change(FILE *out, const KmtReport *report,
			 const KmtAdvice *advice, guint i)
{
	const KmtAdviceChange *change =
		&g_array_index(advice->changes, KmtAdviceChange, i);

	print_field(out, i ? "or" : "change", change->change);
	if (change->live || change->peak) {
		g_autofree char *saving = saving_text(report, advice, change);

		print_field(out, "saving", saving);
	}
	if (!i && advice->rate_unit) {
		g_autofree char *rate = rate_text(report, advice);

		print_field(out, "rate", rate);
	}
	print_field(out, "computed", change->computation);
	print_field(out, "cost", change->cost);
}

/* Return what a finding is about. The caller frees the string. */
static char *subject_of(const KmtReport *report, const KmtAdvice *advice)
{
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < advice->n_sites; i++) {
		g_autofree char *name = kmt_symbolizer_describe(
			report->symbolizer, &advice->sites[i]);

		g_string_append(text, i ? " and " : "");
		if (name)
			g_string_append(text, name);
		else
			g_string_append_printf(text,
					       "0x%016" G_GINT64_MODIFIER "x",
					       advice->sites[i].address);
	}
	if (advice->cache)
		g_string_append_printf(text, "%scache %s", i ? ", " : "",
				       advice->cache);
	return g_string_free(text, FALSE);
}

static void print_finding(FILE *out, const KmtReport *report,
			  const KmtAdvice *advice, guint number)
{
	g_autofree char *subject = subject_of(report, advice);
	g_autofree char *certainty =
		g_strdup_printf("%s: %s", kmt_certainty_name(advice->certainty),
				advice->reason);
	guint i;

	fprintf(out, "%u. %s (%s): %s\n", number, subject,
		kmt_kind_name(advice->kind),
		kmt_advice_topic_title(advice->topic));
	for (i = 0; i < advice->changes->len; i++)
		print_change(out, report, advice, i);
	print_field(out, "certainty", certainty);
}

void kmt_advice_text(const KmtReport *report, FILE *out)
{
	const KmtAdviceList *list = report->advice;
	guint n = list->findings->len, i;

	kmt_text_print_title(out, "ADVICE, by saving");
	if (report->max_lines)
		n = MIN(n, report->max_lines);
	for (i = 0; i < n; i++)
		print_finding(out, report, list->findings->pdata[i], i + 1);
	if (!n)
		fputs("none\n", out);
	if (n < list->findings->len)
		fprintf(out, "(%u more)\n", list->findings->len - n);
	for (i = 0; i < list->empty->len; i++)
		fprintf(out, "No finding: %s.\n",
			(const char *)list->empty->pdata[i]);
	for (i = 0; i < list->omitted->len; i++)
		fprintf(out, "Not examined: %s.\n",
			(const char *)list->omitted->pdata[i]);
	if (list->sizes)
		kmt_size_classes_text(list->sizes, report, out);
	if (n || list->sizes)
		kmt_text_print_legend(report, out);
}
