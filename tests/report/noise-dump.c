// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Print the statistics of report/diff-noise.h for each line of the standard
 * input. The words of a line are
 *
 *     values N_BASE N_NEW RATE VALUE...
 *     lines N_BASE N_NEW ABSOLUTE FRACTION VALUE...
 *
 * The output for "values" is: number of splits, whether they are exact,
 * smallest p-value two-sided and one-sided, spread of each side, p-value, and
 * the name of the judgement. The output for "lines" is the p-value of each
 * line.
 */
#include "config.h"

#include "report/diff-noise.h"

#include <stdio.h>
#include <string.h>

static double number(const char *word)
{
	char *end;
	double value = g_ascii_strtod(word, &end);

	g_assert_true(*word && !*end);
	return value;
}

static void print_number(double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	printf("%s ", g_ascii_dtostr(text, sizeof(text), value));
}

static void print_values(const KmtDiffSplits *splits, double rate,
			 const double *values)
{
	guint n = splits->n_base;
	double p = kmt_noise_p_value(splits, values);

	printf("%u %d ", splits->n_splits, splits->is_exact);
	print_number(kmt_diff_splits_smallest_p(splits, TRUE));
	print_number(kmt_diff_splits_smallest_p(splits, FALSE));
	print_number(kmt_noise_spread(values, n));
	print_number(kmt_noise_spread(values + n, splits->n_new));
	print_number(p);
	printf("%s\n", kmt_noise_name(kmt_noise_judge(splits, p, rate)));
}

static void print_lines(const KmtDiffSplits *splits, const KmtNoiseLimit *limit,
			const double *values, guint n)
{
	guint n_lines = n / (splits->n_base + splits->n_new), i;
	g_autofree double *p = g_new(double, n_lines);

	kmt_noise_max_test(splits, values, n_lines, limit, p);
	for (i = 0; i < n_lines; i++)
		print_number(p[i]);
	printf("\n");
}

static void run_line(char **words)
{
	guint n = g_strv_length(words), i, first;
	g_autofree double *values = g_new(double, n);
	g_autoptr(KmtDiffSplits) splits = NULL;

	for (i = 1; i < n; i++)
		values[i] = number(words[i]);
	splits = kmt_diff_splits_new((guint)values[1], (guint)values[2]);
	first = strcmp(words[0], "lines") ? 4 : 5;
	if (first == 4) {
		print_values(splits, values[3], values + first);
	} else {
		KmtNoiseLimit limit = {.absolute = values[3],
				       .fraction = values[4]};

		print_lines(splits, &limit, values + first, n - first);
	}
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, stdin) > 0) {
		g_auto(GStrv) words = g_strsplit(g_strchomp(line), " ", -1);

		run_line(words);
	}
	free(line);
	return 0;
}
