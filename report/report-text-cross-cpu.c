// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints frees on another CPU: by group, as a matrix of CPUs, and by pair of
 * call sites.
 */
#include "config.h"

#include "report/columns.h"
#include "report/report-text.h"

static void group_cells(const KmtReport *report, KmtColumns *columns,
			const KmtGroup *group)
{
	const KmtGroups *groups = report->aggregate->groups;
	g_autofree char *text = kmt_groups_text(groups, group);

	kmt_columns_add_text(columns, kmt_kind_name(group->kind));
	kmt_columns_add_text(columns, text);
}

static gboolean has_cross_cpu_frees(const KmtGroup *group, gconstpointer user)
{
	return group->totals.cross_cpu_frees > 0 &&
	       kmt_report_is_selected(group, user);
}

static void cross_line(const KmtReport *report, KmtColumns *columns,
		       const KmtTotals *totals)
{
	kmt_columns_add_number(columns, FALSE, totals->cross_cpu_frees);
	kmt_columns_add_number(columns, FALSE, totals->frees);
	kmt_columns_add_share(columns,
			      (double)totals->cross_cpu_frees /
				      (double)totals->frees,
			      report->bars);
}

static void fill_cross_cpu(const KmtReport *report, KmtColumns *columns,
			   const KmtTable *table)
{
	guint i;

	kmt_text_add_head(report, columns, "cross-CPU");
	kmt_text_add_head(report, columns, "frees");
	kmt_columns_add_text(columns, "%");
	kmt_columns_add_text(columns, "kind");
	kmt_columns_add_text(columns, "call site of the allocation");
	for (i = 0; i < table->n_shown; i++) {
		cross_line(report, columns, &table->rows[i]->totals);
		group_cells(report, columns, table->rows[i]);
	}
	for (i = 0; i < KMT_N_LAYERS; i++) {
		KmtKind kind = kmt_layers[i];

		if (!table->n_rest[kind])
			continue;
		cross_line(report, columns, &table->rest[kind]);
		kmt_columns_add_text(columns, kmt_kind_name(kind));
		kmt_text_add_rest(report, columns, "call site", "call sites",
				  table->n_rest[kind]);
	}
}

void kmt_text_cross_cpu_groups(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtSort) sort = kmt_sort_parse("pingpong", NULL);
	g_autoptr(KmtTable) table =
		kmt_table_new(report->aggregate, has_cross_cpu_frees, report,
			      sort, report->max_lines);
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rrrll", report->separators);

	kmt_text_print_title(out,
			     "CROSS-CPU FREES (freed on another CPU than the "
			     "one that allocated)");
	if (!table->n_rows) {
		fputs("none\n", out);
		return;
	}
	while (kmt_columns_next_pass(columns, out))
		fill_cross_cpu(report, columns, table);
}

/* Return an array with TRUE for each CPU that allocated or freed an object of
 * the layer, and set *n to their number. The caller frees the array. */
static gboolean *cpus_of_matrix(const KmtCrossCpu *cross, guint layer, guint *n)
{
	gboolean *used = g_new0(gboolean, MAX(cross->n_cpus, 1));
	guint i;

	for (i = 0; i < cross->cells->len; i++) {
		const KmtCrossCpuCell *c =
			&g_array_index(cross->cells, KmtCrossCpuCell, i);

		if (c->layer == layer)
			used[c->from] = used[c->to] = TRUE;
	}
	for (i = *n = 0; i < cross->n_cpus; i++)
		*n += used[i] != 0;
	return used;
}

static void cpu_cell(const KmtReport *report, KmtColumns *columns, guint i)
{
	const KmtInputCpuFile *file = report->capture->files->pdata[i];
	g_autofree char *name = g_strdup_printf("cpu%u", file->cpu);

	kmt_columns_add_text(columns, name);
}

/* A wider matrix is unreadable on a terminal. */
#define MAX_MATRIX_CPUS 64

/*
 * Fill the matrix in one pass over the cells, which have the order of its lines
 * and columns.
 */
static void fill_matrix(const KmtReport *report, KmtColumns *columns,
			guint layer, const gboolean *used)
{
	const KmtCrossCpu *cross = report->aggregate->cross;
	const KmtCrossCpuCell *c =
		&g_array_index(cross->cells, KmtCrossCpuCell, 0);
	const KmtCrossCpuCell *end = c + cross->cells->len;
	guint i, j;

	while (c < end && c->layer < layer)
		c++;
	kmt_columns_add_text(columns, "");
	for (i = 0; i < cross->n_cpus; i++)
		if (used[i])
			cpu_cell(report, columns, i);
	for (i = 0; i < cross->n_cpus; i++) {
		if (!used[i])
			continue;
		cpu_cell(report, columns, i);
		for (j = 0; j < cross->n_cpus; j++) {
			gboolean has = c < end && c->layer == layer &&
				       c->from == i && c->to == j;

			if (used[j])
				kmt_columns_add_number(columns, FALSE,
						       has ? c->sum.frees : 0);
			c += has;
		}
	}
}

static void print_matrix(const KmtReport *report, FILE *out, guint layer)
{
	static const char *const titles[KMT_N_LAYERS] = {
		"SLAB OBJECTS", "PAGES", "PER-CPU MEMORY", "VMALLOC MEMORY"};
	guint n;
	g_autofree gboolean *used =
		cpus_of_matrix(report->aggregate->cross, layer, &n);
	g_autofree char *align = g_strnfill(n + 1, 'r');
	g_autofree char *title = NULL;
	g_autoptr(KmtColumns) columns =
		kmt_columns_new(align, report->separators);

	/* Omit per-CPU and vmalloc memory, which version 1 does not record, if
	 * it has no frees. */
	if (!n && layer > 1)
		return;
	title = g_strconcat(titles[layer], " FREED",
			    kmt_text_scale_mark(report),
			    ", by the CPU that allocated (lines) and the one "
			    "that freed (columns)",
			    NULL);
	kmt_text_print_title(out, title);
	if (!n || n > MAX_MATRIX_CPUS) {
		fprintf(out,
			n ? "of %u CPUs: too wide, use --json\n" : "none\n", n);
		return;
	}
	while (kmt_columns_next_pass(columns, out))
		fill_matrix(report, columns, layer, used);
}

static void fill_pairs(const KmtReport *report, KmtColumns *columns,
		       const GArray *pairs)
{
	KmtCrossCpuSum rest = {0};
	guint shown = pairs->len, i;

	if (report->max_lines)
		shown = (guint)MIN(shown, report->max_lines);
	kmt_text_add_head(report, columns, "allocated");
	kmt_text_add_head(report, columns, "frees");
	kmt_columns_add_text(columns, "kind");
	kmt_columns_add_text(columns, "allocated by");
	kmt_columns_add_text(columns, "freed by");
	for (i = 0; i < pairs->len; i++) {
		const KmtCrossCpuPair *pair =
			&g_array_index(pairs, KmtCrossCpuPair, i);
		const KmtSymSite freed_by = {.address = pair->free_site};

		if (i >= shown) {
			kmt_cross_cpu_sum_add(&rest, &pair->sum);
			continue;
		}
		kmt_columns_add_number(columns, FALSE, pair->sum.bytes);
		kmt_columns_add_number(columns, FALSE, pair->sum.frees);
		kmt_columns_add_text(columns, kmt_kind_name(pair->alloc.kind));
		kmt_text_add_site(report, columns, &pair->alloc.site);
		kmt_text_add_site(report, columns, &freed_by);
	}
	if (shown == pairs->len)
		return;
	kmt_columns_add_number(columns, FALSE, rest.bytes);
	kmt_columns_add_number(columns, FALSE, rest.frees);
	kmt_columns_add_text(columns, "all");
	kmt_text_add_rest(report, columns, "pair", "pairs", pairs->len - shown);
	kmt_columns_add_text(columns, "");
}

static void print_pairs(const KmtReport *report, FILE *out)
{
	const GArray *pairs = report->aggregate->cross->pairs;
	g_autoptr(KmtColumns) columns =
		kmt_columns_new("rrlll", report->separators);

	kmt_text_print_title(out, "CROSS-CPU FREES BY CALL SITE (bytes)");
	if (!pairs->len) {
		fputs("none\n", out);
		return;
	}
	while (kmt_columns_next_pass(columns, out))
		fill_pairs(report, columns, pairs);
}

void kmt_text_cross_cpu_pairs(const KmtReport *report, FILE *out)
{
	guint i;

	for (i = 0; i < KMT_N_LAYERS; i++)
		print_matrix(report, out, i);
	print_pairs(report, out);
}
