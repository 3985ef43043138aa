// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/table.h"

typedef enum {
	BY_FIELD,
	BY_NAME, /* values of the group; call sites by name */
	BY_PTR,	 /* values of the group; call sites by address */
} TermType;

typedef struct {
	TermType type;
	const KmtReportField *field;
	gboolean ascending;
} SortTerm;

struct KmtSort {
	GArray *terms; /* SortTerm */
};

char *kmt_sort_key_names(void)
{
	g_autofree char *fields = kmt_report_field_names();

	return g_strconcat(fields, ", bytes, hit, pingpong, callsite, ptr",
			   NULL);
}

static gboolean find_key(const char *name, SortTerm *term)
{
	term->field = kmt_report_field_find(name);
	term->type = BY_FIELD;
	term->ascending = FALSE;
	if (term->field)
		return TRUE;
	term->ascending = TRUE;
	term->type = g_ascii_strcasecmp(name, "ptr") == 0 ? BY_PTR : BY_NAME;
	return term->type == BY_PTR ||
	       g_ascii_strcasecmp(name, "callsite") == 0;
}

static gboolean parse_term(const char *word, SortTerm *term, GError **error)
{
	g_autofree char *names = NULL;
	gboolean has_sign = *word == '+' || *word == '-';

	if (find_key(word + has_sign, term)) {
		if (has_sign)
			term->ascending = *word == '+';
		return TRUE;
	}
	names = kmt_sort_key_names();
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
		    "cannot sort by '%s': the keys are %s; a + before a key "
		    "sorts upwards, a - downwards",
		    word, names);
	return FALSE;
}

KmtSort *kmt_sort_parse(const char *text, GError **error)
{
	g_autoptr(KmtSort) sort = g_new0(KmtSort, 1);
	g_auto(GStrv) words = g_strsplit(*text ? text : ",", ",", -1);
	guint i;

	sort->terms = g_array_new(FALSE, FALSE, sizeof(SortTerm));
	for (i = 0; words[i]; i++) {
		SortTerm term;

		if (!parse_term(words[i], &term, error))
			return NULL;
		g_array_append_val(sort->terms, term);
	}
	return g_steal_pointer(&sort);
}

void kmt_sort_free(KmtSort *sort)
{
	if (!sort)
		return;
	g_array_unref(sort->terms);
	g_free(sort);
}

void kmt_sort_add_fields(const KmtSort *sort, GPtrArray *fields)
{
	guint i;

	for (i = 0; i < sort->terms->len; i++) {
		const SortTerm *term = &g_array_index(sort->terms, SortTerm, i);

		if (term->field && !g_ptr_array_find(fields, term->field, NULL))
			g_ptr_array_add(fields, (gpointer)term->field);
	}
}

gboolean kmt_sort_needs_lifetimes(const KmtSort *sort)
{
	guint i;

	for (i = 0; i < sort->terms->len; i++) {
		const SortTerm *term = &g_array_index(sort->terms, SortTerm, i);

		if (term->field &&
		    kmt_report_field_needs_lifetimes(term->field))
			return TRUE;
	}
	return FALSE;
}

typedef struct {
	const KmtAggregate *aggregate;
	const KmtSort *sort;
} Order;

static int compare_term(const Order *order, const SortTerm *term,
			const KmtGroup *a, const KmtGroup *b)
{
	const KmtGroups *groups = order->aggregate->groups;
	KmtFigure x, y;

	switch (term->type) {
	case BY_NAME:
		return kmt_groups_compare_names(groups, a, b);
	case BY_PTR:
		return kmt_groups_compare(groups, a, b);
	case BY_FIELD:
	default:
		x = kmt_report_field_get(term->field, order->aggregate, a);
		y = kmt_report_field_get(term->field, order->aggregate, b);
		return kmt_figure_compare(&x, &y);
	}
}

/*
 * Compare two rows by the sort keys. Ties are broken by the values and kind of
 * the groups, so that the order is the same in each run.
 */
static int compare_rows(gconstpointer a, gconstpointer b, gpointer user)
{
	const Order *order = user;
	const GArray *terms = order->sort->terms;
	const KmtGroup *x = *(const KmtGroup *const *)a;
	const KmtGroup *y = *(const KmtGroup *const *)b;
	int result;
	guint i;

	for (i = 0; i < terms->len; i++) {
		const SortTerm *term = &g_array_index(terms, SortTerm, i);

		result = compare_term(order, term, x, y);
		if (result)
			return term->ascending ? result : -result;
	}
	result = kmt_groups_compare(order->aggregate->groups, x, y);
	return result ? result : (int)x->kind - (int)y->kind;
}

/* Exchange rows[i], a node of the heap of n rows, with its children until each
 * node comes after its children in the order of the table. */
static void sift_down(const KmtGroup **rows, guint n, guint i,
		      const Order *order)
{
	for (;;) {
		guint last = i, child;
		const KmtGroup *row = rows[i];

		for (child = 2 * i + 1; child <= 2 * i + 2 && child < n;
		     child++)
			if (compare_rows(&rows[child], &rows[last],
					 (gpointer)order) > 0)
				last = child;
		if (last == i)
			return;
		rows[i] = rows[last];
		rows[last] = row;
		i = last;
	}
}

/*
 * Move the first n of n_rows rows of the table's order to the front, in any
 * order. A heap has the first n rows so far, the last of them at its root, so
 * that one comparison suffices for most other rows.
 */
static void select_first(const KmtGroup **rows, guint n_rows, guint n,
			 const Order *order)
{
	guint i;

	for (i = n / 2; i-- > 0;)
		sift_down(rows, n, i, order);
	for (i = n; i < n_rows; i++) {
		const KmtGroup *row = rows[i];

		if (compare_rows(&row, &rows[0], (gpointer)order) > 0)
			continue;
		rows[i] = rows[0];
		rows[0] = row;
		sift_down(rows, n, 0, order);
	}
}

/* Sum the rows that are not shown. */
static void cut(KmtTable *table)
{
	guint i;

	for (i = table->n_shown; i < table->n_rows; i++) {
		const KmtGroup *group = table->rows[i];
		KmtKind kind = kmt_kind_layer(group->kind);

		kmt_totals_add(&table->rest[kind], &group->totals);
		if (group->deferred)
			kmt_deferred_add(&table->rest_deferred[kind],
					 group->deferred);
		table->n_rest[kind]++;
	}
}

KmtTable *kmt_table_new(const KmtAggregate *aggregate, KmtTableFilter filter,
			gconstpointer user, const KmtSort *sort,
			guint64 max_lines)
{
	const KmtGroups *groups = aggregate->groups;
	KmtTable *table = g_new0(KmtTable, 1);
	Order order = {aggregate, sort};
	guint32 i;

	table->rows = g_new0(const KmtGroup *, MAX(groups->n_groups, 1));
	for (i = 0; i < groups->n_groups; i++) {
		const KmtGroup *group = kmt_groups_at(groups, i);

		if (!filter || filter(group, user))
			table->rows[table->n_rows++] = group;
	}
	table->n_shown = table->n_rows;
	if (max_lines && max_lines < table->n_rows) {
		table->n_shown = (guint)max_lines;
		select_first(table->rows, table->n_rows, table->n_shown,
			     &order);
	}
	g_qsort_with_data(table->rows, (gint)table->n_shown,
			  sizeof(const KmtGroup *), compare_rows, &order);
	cut(table);
	return table;
}

void kmt_table_free(KmtTable *table)
{
	if (!table)
		return;
	g_free(table->rows);
	g_free(table);
}
