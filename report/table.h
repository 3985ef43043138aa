/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups, chosen, sorted, and cut to a number of lines; what is cut off is
 * summed, so that nothing gets lost.
 */
#ifndef KMEMTRACE_REPORT_TABLE_H
#define KMEMTRACE_REPORT_TABLE_H

#include "report/field.h"

/* Keys in their order of weight. */
typedef struct KmtSort KmtSort;

/* "wasted,-hit,+callsite": + ascending, - descending, else the key's own. */
KmtSort *kmt_sort_parse(const char *text, GError **error);
void kmt_sort_free(KmtSort *sort);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSort, kmt_sort_free)

/* Appends the fields that are keys and not in fields (of const KmtReportField).
 */
void kmt_sort_add_fields(const KmtSort *sort, GPtrArray *fields);

/* Whether a key needs KmtAggregateOptions.lifetimes. */
gboolean kmt_sort_needs_lifetimes(const KmtSort *sort);

/* All keys, for messages: "wasted, requested, ...". */
char *kmt_sort_key_names(void);

typedef struct {
	const KmtGroup **rows; /* all that were chosen, sorted */
	guint n_rows;
	guint n_shown; /* the first of them that are to be shown */
	/* Sums over the others; only layers are used, and no peaks. */
	KmtTotals rest[KMT_N_KINDS];
	guint n_rest[KMT_N_KINDS];
} KmtTable;

/* What a group of the table must have. */
typedef gboolean (*KmtTableFilter)(const KmtGroup *group, gconstpointer user);

/* max_lines: 0 for all.  The table is valid as long as aggregate. */
KmtTable *kmt_table_new(const KmtAggregate *aggregate, KmtTableFilter filter,
			gconstpointer user, const KmtSort *sort,
			guint64 max_lines);
void kmt_table_free(KmtTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTable, kmt_table_free)

#endif
