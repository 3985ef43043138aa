// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the comparison of the sizes of kmalloc() as text. */
#include "config.h"

#include "report/advice-private.h"
#include "report/columns.h"
#include "report/report-text.h"
#include "report/size-classes.h"

/* Fill a cell with a figure. */
static void add_figure(KmtColumns *columns, const KmtReport *report,
		       guint64 figure)
{
	g_autofree char *text = kmt_advice_figure(report, figure);

	kmt_columns_add_text(columns, text);
}

/* Fill the cells of a set. */
static void add_set(KmtColumns *columns, const KmtSizeClasses *classes,
		    const KmtReport *report, guint i)
{
	const KmtSizeSet *set = &g_array_index(classes->sets, KmtSizeSet, i);
	const KmtSizeResult *result =
		&g_array_index(classes->results, KmtSizeResult, i);

	add_figure(columns, report, result->waste_at_peak);
	add_figure(columns, report, result->waste_at_end);
	add_figure(columns, report, (guint64)(result->waste_average + 0.5));
	add_figure(columns, report, result->slabs_at_peak);
	add_figure(columns, report, result->slabs_at_end);
	kmt_columns_add_text(
		columns,
		kmt_size_set_is_aligned(set, &classes->rule) ? "yes" : "no");
	kmt_columns_add_number(columns, FALSE, set->n);
	kmt_columns_add_text(columns, set->title);
}

static void print_sets(const KmtSizeClasses *classes, const KmtReport *report,
		       FILE *out)
{
	static const char *const headings[] = {
		"peak waste", "end waste", "mean waste", "peak slabs",
		"end slabs",  "aligned",   "sizes",	 "set"};
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rrrrrrrl", report->separators);
	guint i;

	while (kmt_columns_next_pass(columns, out)) {
		for (i = 0; i < G_N_ELEMENTS(headings); i++)
			kmt_columns_add_text(columns, headings[i]);
		for (i = 0; i < classes->sets->len; i++)
			add_set(columns, classes, report, i);
	}
}

/* Print what one more size of the kernel would save. */
static void print_addition(const KmtSizeClasses *classes,
			   const KmtReport *report, FILE *out)
{
	const KmtSizeAddition *addition = &classes->additions[KMT_SIZE_AT_PEAK];
	const KmtSizeResult *old, *new;
	g_autofree char *saved = NULL, *slabs = NULL;
	gboolean is_more;

	if (!addition->size) {
		fputs("No additional size would save memory at the peak.\n",
		      out);
		return;
	}
	/* The second set is the kernel's with the addition. */
	old = &g_array_index(classes->results, KmtSizeResult, 0);
	new = &g_array_index(classes->results, KmtSizeResult, 1);
	is_more = new->slabs_at_peak > old->slabs_at_peak;
	saved = kmt_advice_figure(report, addition->saved);
	slabs = kmt_advice_figure(
		report, is_more ? new->slabs_at_peak - old->slabs_at_peak
				: old->slabs_at_peak - new->slabs_at_peak);
	fprintf(out,
		"One more size of the kernel, %u: at the peak, the objects "
		"take %s bytes less,\nand the slabs %s bytes %s.\n",
		addition->size, saved, slabs, is_more ? "more" : "less");
}

/* Print the best sets, and what each further size saves. */
static void print_best(const KmtSizeClasses *classes, const KmtReport *report,
		       FILE *out)
{
	const KmtBestSizes *best = classes->best[KMT_SIZE_AT_PEAK];
	guint first = g_array_index(classes->sets, KmtSizeSet, 0).n, n, i;
	guint32 sizes[KMT_SIZE_SET_MAX];
	guint64 bytes, previous = 0;

	fputs("Best sets for the peak, with the bytes that the objects take, "
	      "and how many\nless than with one size fewer:\n",
	      out);
	for (n = first; n <= first + KMT_SIZE_CLASSES_MORE; n++) {
		g_autofree char *total = NULL, *less = NULL;

		if (n > KMT_SIZE_SET_MAX ||
		    !kmt_best_sizes_get(best, n, sizes, &bytes))
			continue;
		total = kmt_advice_figure(report, bytes);
		less = kmt_advice_figure(report, previous - bytes);
		fprintf(out, "  %2u sizes, %s bytes", n, total);
		if (previous)
			fprintf(out, ", %s less", less);
		fputs(":\n     ", out);
		previous = bytes;
		for (i = 0; i < n; i++)
			fprintf(out, " %u", sizes[i]);
		fputc('\n', out);
	}
}

void kmt_size_classes_text(const KmtSizeClasses *classes,
			   const KmtReport *report, FILE *out)
{
	const KmtSizeDemand *demand = classes->demand;
	g_autofree char *objects = NULL, *requested = NULL;

	kmt_text_print_title(out, "SIZES OF KMALLOC (bytes)");
	if (classes->omitted) {
		fprintf(out, "Not compared: %s.\n", classes->omitted);
		return;
	}
	objects =
		kmt_advice_figure(report, demand->n_objects[KMT_SIZE_AT_PEAK]);
	requested =
		kmt_advice_figure(report, demand->requested[KMT_SIZE_AT_PEAK]);
	fprintf(out,
		"At the peak of kmalloc, %s objects of %s requested bytes have "
		"a size of at most %u.\n",
		objects, requested, demand->limit);
	print_sets(classes, report, out);
	print_addition(classes, report, out);
	print_best(classes, report, out);
}
