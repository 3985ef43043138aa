// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/folded-frame.h"
#include "report/report.h"

/* Print the frames of a call chain, the outermost caller first. */
static void print_chain(const KmtReport *report, const KmtGroup *group, guint i,
			FILE *out)
{
	const KmtGroups *groups = report->aggregate->groups;
	const KmtChain *chain = kmt_groups_chain(groups, group, i);
	guint n = chain->n;

	while (n--) {
		KmtSymSite frame = kmt_groups_frame(groups, chain, n);
		g_autofree char *text = NULL;
		KmtSymbol symbol;

		if (!kmt_symbolizer_symbol(report->symbolizer, &frame, &symbol))
			text = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
					       frame.address);
		else
			text = kmt_folded_function(symbol.name, symbol.module);
		kmt_folded_frame(out, text);
	}
}

static guint64 weight_of(const KmtReport *report, const KmtGroup *group)
{
	KmtFigure figure = kmt_report_field_get(report->fields->pdata[0],
						report->aggregate, group);

	return figure.type != KMT_FIGURE_INTEGER || figure.negative
		       ? 0
		       : figure.integer;
}

/* Add @weight to *sum; the sum saturates at G_MAXUINT64. */
static void add(guint64 *sum, guint64 weight)
{
	if (__builtin_add_overflow(*sum, weight, sum))
		*sum = G_MAXUINT64;
}

/*
 * Print, for each kind, the sum of the groups that --lines omits, so that the
 * other groups keep their width in the flame graph.
 */
static void print_others(const KmtReport *report, const KmtTable *table,
			 FILE *out)
{
	guint64 others[KMT_N_KINDS] = {0};
	guint i;

	for (i = table->n_shown; i < table->n_rows; i++)
		add(&others[table->rows[i]->kind],
		    weight_of(report, table->rows[i]));
	for (i = 0; i < KMT_N_KINDS; i++)
		if (others[i])
			fprintf(out, "%s;(others) %" G_GUINT64_FORMAT "\n",
				kmt_kind_name((KmtKind)i), others[i]);
}

void kmt_report_folded(const KmtReport *report, FILE *out)
{
	g_autoptr(KmtTable) table = kmt_report_table_new(report);
	guint i, j;

	for (i = 0; i < table->n_shown; i++) {
		const KmtGroup *group = table->rows[i];
		guint64 weight = weight_of(report, group);

		if (!weight)
			continue;
		fputs(kmt_kind_name(group->kind), out);
		for (j = 0; j < report->by->n; j++) {
			g_autofree char *text = NULL;

			if (report->by->dimensions[j] == KMT_BY_KIND)
				continue;
			if (report->by->dimensions[j] == KMT_BY_STACK) {
				print_chain(report, group, j, out);
				continue;
			}
			text = kmt_groups_value(report->aggregate->groups,
						group, j);
			kmt_folded_frame(out, text);
		}
		fprintf(out, " %" G_GUINT64_FORMAT "\n", weight);
	}
	print_others(report, table, out);
}
