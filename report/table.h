/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table of selected groups: sorted, and limited to a number of lines. The
 * omitted groups are summed by kind.
 */
#ifndef KMEMTRACE_REPORT_TABLE_H
#define KMEMTRACE_REPORT_TABLE_H

#include "report/field.h"

/* Sort keys, the most significant first. */
typedef struct KmtSort KmtSort;

/*
 * Parse sort keys such as "wasted,-hit,+callsite". + sorts in ascending order,
 * - in descending order; without a sign, the key has its default order. Return
 * NULL on error. The caller frees the result.
 */
KmtSort *kmt_sort_parse(const char *text, GError **error);
void kmt_sort_free(KmtSort *sort);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSort, kmt_sort_free)

/* Append the sort keys that are fields to @fields (const KmtReportField),
 * unless they are in it already. */
void kmt_sort_add_fields(const KmtSort *sort, GPtrArray *fields);

/* Return whether a key needs KmtAggregateOptions.lifetimes. */
gboolean kmt_sort_needs_lifetimes(const KmtSort *sort);

/*
 * Return all keys for messages, "wasted, frag, ...". The caller frees the
 * string.
 */
char *kmt_sort_key_names(void);

/* The sorted rows, and the sums of the omitted rows. */
typedef struct {
	const KmtGroup **rows; /* all selected groups; the first n_shown are
				* sorted, and the others come after them */
	guint n_rows;
	guint n_shown; /* number of rows to show, from the first */
	/* Sums of the omitted rows by kmt_kind_layer(), without peaks. */
	KmtTotals rest[KMT_N_KINDS];
	KmtDeferred rest_deferred[KMT_N_KINDS];
	guint n_rest[KMT_N_KINDS];
} KmtTable;

/* Return whether @group belongs to the table. */
typedef gboolean (*KmtTableFilter)(const KmtGroup *group, gconstpointer user);

/*
 * Create a table of the groups that @filter accepts (NULL: all). @max_lines
 * limits the rows to show; 0: all. @aggregate must outlive the table. The
 * caller frees the result.
 */
KmtTable *kmt_table_new(const KmtAggregate *aggregate, KmtTableFilter filter,
			gconstpointer user, const KmtSort *sort,
			guint64 max_lines);
void kmt_table_free(KmtTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtTable, kmt_table_free)

#endif
