// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/report-text.h"

void kmt_text_print_number(const KmtReport *report, FILE *out, guint64 number)
{
	g_autofree char *text = kmt_format_number(number, report->separators);

	fputs(text, out);
}

void kmt_text_add_site(const KmtReport *report, KmtColumns *columns,
		       const KmtSymSite *site)
{
	g_autofree char *name =
		kmt_symbolizer_describe(report->symbolizer, site);
	g_autofree char *hex =
		g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", site->address);

	kmt_columns_add_text(columns, name ? name : hex);
}

void kmt_text_add_rest(const KmtReport *report, KmtColumns *columns,
		       const char *one, const char *many, guint64 n_rest)
{
	g_autofree char *number = kmt_format_number(n_rest, report->separators);
	g_autofree char *text = g_strdup_printf("(%s more %s)", number,
						n_rest == 1 ? one : many);

	kmt_columns_add_text(columns, text);
}

void kmt_text_print_title(FILE *out, const char *title)
{
	fputc('\n', out);
	kmt_color_puts(out, KMT_COLOR_HEADING, title);
	fputc('\n', out);
}

const char *kmt_text_scale_mark(const KmtReport *report)
{
	return kmt_report_is_sample(report) ? "*" : "";
}

void kmt_text_add_head(const KmtReport *report, KmtColumns *columns,
		       const char *head)
{
	g_autofree char *text =
		g_strconcat(head, kmt_text_scale_mark(report), NULL);

	kmt_columns_add_text(columns, text);
}

void kmt_text_print_kinds(const KmtReport *report, const char *title,
			  const KmtKind *kinds, guint n, KmtTextFill fill,
			  FILE *out)
{
	g_autofree char *align = g_strnfill(n + 1, 'r');
	g_autoptr(KmtColumns) columns = NULL;
	guint i;

	align[0] = 'l';
	columns = kmt_columns_new(align, report->separators);
	fputc('\n', out);
	while (kmt_columns_next_pass(columns, out)) {
		kmt_columns_add_colored(columns, KMT_COLOR_HEADING, title);
		for (i = 0; i < n; i++)
			kmt_columns_add_colored(columns, KMT_COLOR_HEADING,
						kmt_kind_name(kinds[i]));
		fill(report, columns, kinds, n);
	}
}

void kmt_text_print_legend(const KmtReport *report, FILE *out)
{
	if (kmt_report_is_lossy(report))
		fputs("~ missing events could have changed this figure\n", out);
	if (kmt_report_is_sample(report))
		fprintf(out,
			"* an estimate: the sample times %" G_GUINT64_FORMAT
			"\n",
			report->capture->sample);
}

/*
 * Return the heading of the table, such as "call sites" or "functions and
 * CPUs". The caller frees the string.
 */
static char *group_words(const KmtBy *by)
{
	GString *words = g_string_new(NULL);
	guint i;

	for (i = 0; i < by->n; i++)
		g_string_append_printf(words, "%s%s",
				       i ? (i + 1 < by->n ? ", " : " and ")
					 : "",
				       kmt_dimension_plural(by->dimensions[i]));
	return g_string_free(words, FALSE);
}

/*
 * Return whether the table has a column of kinds. --by kind has its own column.
 */
static gboolean has_kind(const KmtReport *report)
{
	return !kmt_by_has(report->by, KMT_BY_KIND);
}

/*
 * Create the table with numeric columns first, so that sort -g works on its
 * lines.
 */
static KmtColumns *new_columns(const KmtReport *report)
{
	g_autoptr(GString) align = g_string_new(NULL);
	guint i;

	for (i = 0; i < report->fields->len; i++)
		g_string_append_c(align, 'r');
	for (i = has_kind(report) ? 0 : 1; i <= report->by->n; i++)
		g_string_append_c(align, 'l');
	return kmt_columns_new(align->str, report->separators);
}

static void fill_head(const KmtReport *report, KmtColumns *columns)
{
	guint i;

	for (i = 0; i < report->fields->len; i++) {
		const KmtReportField *field = report->fields->pdata[i];
		g_autofree char *title = g_strconcat(
			kmt_report_field_title(field),
			kmt_report_is_doubtful(report, field) ? "~" : "",
			kmt_report_field_is_scaled(field)
				? kmt_text_scale_mark(report)
				: "",
			NULL);

		kmt_columns_add_text(columns, title);
	}
	if (has_kind(report))
		kmt_columns_add_text(columns, "kind");
	for (i = 0; i < report->by->n; i++)
		kmt_columns_add_text(
			columns,
			kmt_dimension_title(report->by->dimensions[i]));
}

/*
 * Fill a cell with a figure. A share has a bar. Times count from the first
 * record, as in --time.
 */
static void figure_cell(const KmtReport *report, KmtColumns *columns,
			const KmtFigure *figure)
{
	g_autofree char *moment = NULL;

	if (figure->type == KMT_FIGURE_RATIO) {
		kmt_columns_add_share(columns, figure->real, report->bars);
		return;
	}
	if (figure->type != KMT_FIGURE_TIME) {
		kmt_columns_add_figure(columns, figure);
		return;
	}
	moment = kmt_report_format_moment(report, (gint64)figure->integer,
					  FALSE);
	kmt_columns_add_text(columns, moment);
}

/* Fill the cells of a group's values. */
static void fill_values(const KmtReport *report, KmtColumns *columns,
			const KmtGroup *group)
{
	guint i;

	for (i = 0; i < report->by->n; i++) {
		const KmtGroups *groups = report->aggregate->groups;
		g_autofree char *text = NULL;

		if (report->by->dimensions[i] == KMT_BY_STACK) {
			KmtSymSite site = kmt_groups_frame(
				groups, kmt_groups_chain(groups, group, i), 0);

			kmt_text_add_site(report, columns, &site);
			continue;
		}
		text = kmt_groups_value(groups, group, i);
		kmt_columns_add_text(columns, text);
	}
}

/*
 * Fill the lines of the callers of a stack below the line of the group. These
 * lines have no figures.
 */
static void fill_callers(const KmtReport *report, KmtColumns *columns,
			 const KmtGroup *group)
{
	guint before = report->fields->len + has_kind(report), i, j, k;
	const KmtGroups *groups = report->aggregate->groups;
	const KmtChain *chain = NULL;

	for (i = 0; i < report->by->n && !chain; i++)
		if (report->by->dimensions[i] == KMT_BY_STACK)
			chain = kmt_groups_chain(groups, group, i);
	for (j = 1; chain && j < chain->n; j++) {
		KmtSymSite frame = kmt_groups_frame(groups, chain, j);
		g_autofree char *name =
			kmt_symbolizer_describe(report->symbolizer, &frame);
		g_autofree char *text =
			name ? g_strconcat("  < ", name, NULL)
			     : g_strdup_printf("  < 0x%016" G_GINT64_MODIFIER
					       "x",
					       frame.address);

		for (k = 0; k < before + report->by->n; k++)
			kmt_columns_add_text(columns,
					     k + 1 == before + i ? text : "");
	}
}

static void fill_group(const KmtReport *report, KmtColumns *columns,
		       const KmtGroup *group)
{
	guint i;

	for (i = 0; i < report->fields->len; i++) {
		KmtFigure figure = kmt_report_field_get(
			report->fields->pdata[i], report->aggregate, group);

		figure_cell(report, columns, &figure);
	}
	if (has_kind(report))
		kmt_columns_add_text(columns, kmt_kind_name(group->kind));
	fill_values(report, columns, group);
	fill_callers(report, columns, group);
}

static void fill_rest(const KmtReport *report, KmtColumns *columns,
		      const KmtTable *table, KmtKind kind)
{
	const KmtBy *by = report->by;
	guint i;

	for (i = 0; i < report->fields->len; i++) {
		KmtFigure figure = kmt_report_field_sum(
			report->fields->pdata[i], report->aggregate,
			&table->rest[kind], &table->rest_deferred[kind]);

		figure_cell(report, columns, &figure);
	}
	if (has_kind(report))
		kmt_columns_add_text(columns, kmt_kind_name(kind));
	kmt_text_add_rest(
		report, columns,
		by->n == 1 ? kmt_dimension_title(by->dimensions[0]) : "line",
		by->n == 1 ? kmt_dimension_plural(by->dimensions[0]) : "lines",
		table->n_rest[kind]);
	for (i = 1; i < report->by->n; i++)
		kmt_columns_add_text(columns, "");
}

/* Print the time of the peak for each kind in the table: " AT THE PEAK of slab,
 * 4.312 s, of pages, 2.001 s". */
static void print_peaks(const KmtReport *report, const KmtTable *table,
			FILE *out)
{
	gboolean has[KMT_N_KINDS] = {FALSE};
	const char *before = " AT THE PEAK";
	guint i;

	for (i = 0; i < table->n_rows; i++)
		has[table->rows[i]->kind] = TRUE;
	for (i = 0; i < KMT_N_KINDS; i++) {
		const KmtTotals *t = &report->aggregate->kinds[i];
		g_autofree char *moment = kmt_report_format_moment(
			report, t->peak_timestamp, TRUE);

		if (!has[i] || !t->peak_bytes_alloc)
			continue;
		fprintf(out, "%s of %s", before, kmt_kind_name((KmtKind)i));
		if (!report->capture->has_sequence_times)
			fprintf(out, ", %s s", moment);
		before = ",";
	}
}

void kmt_text_groups(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtTable) table = kmt_report_table_new(report);
	g_autoptr(KmtColumns) columns = new_columns(report);
	g_autofree char *words = group_words(report->by);
	g_autofree char *title = g_ascii_strup(words, -1);
	guint i;

	fprintf(out, "\n%s%s (bytes)", kmt_color_begin(out, KMT_COLOR_HEADING),
		title);
	if (report->is_peak)
		print_peaks(report, table, out);
	fprintf(out, "%s\n", kmt_color_end(out));
	if (!table->n_rows) {
		fputs("none\n", out);
		return;
	}
	while (kmt_columns_next_pass(columns, out)) {
		fill_head(report, columns);
		for (i = 0; i < table->n_shown; i++)
			fill_group(report, columns, table->rows[i]);
		for (i = 0; i < KMT_N_LAYERS; i++)
			if (table->n_rest[kmt_layers[i]])
				fill_rest(report, columns, table,
					  kmt_layers[i]);
	}
	kmt_text_print_legend(report, out);
}
