// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines that an output without lists contains. */
#include "config.h"

#include "report/diff-output.h"

GPtrArray *kmt_diff_shown_lines(const KmtDiff *diff)
{
	GPtrArray *lines = g_ptr_array_new();
	g_autoptr(GHashTable) shown = g_hash_table_new(NULL, NULL);
	guint64 max_lines = diff->plan->report.max_lines;
	guint i, j;

	for (i = 0; max_lines && i < diff->fields->len; i++) {
		g_autoptr(KmtDiffList) list =
			kmt_diff_list_new(diff, i, max_lines);

		for (j = 0; j < list->n_shown; j++)
			g_hash_table_add(shown, list->lines->pdata[j]);
	}
	for (i = 0; i < diff->lines->len; i++)
		if (!max_lines ||
		    g_hash_table_contains(shown, diff->lines->pdata[i]))
			g_ptr_array_add(lines, diff->lines->pdata[i]);
	return lines;
}
