// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/table.h"

#include <string.h>

typedef int (*CompareRows)(const KmtRow *a, const KmtRow *b);

typedef struct {
	const char *name;
	CompareRows compare; /* ascending */
	gboolean ascending;  /* unless told otherwise */
} SortKey;

typedef struct {
	CompareRows compare;
	gboolean ascending;
} SortTerm;

struct KmtSort {
	GArray *terms; /* of SortTerm */
};

G_DEFINE_QUARK(kmt - sort - error - quark, kmt_sort_error)

static int compare_u64(guint64 a, guint64 b)
{
	return a < b ? -1 : a > b;
}

#define COMPARE_TOTAL(name, member)                                            \
	static int compare_##name(const KmtRow *a, const KmtRow *b)            \
	{                                                                      \
		return compare_u64(a->site->totals.member,                     \
				   b->site->totals.member);                    \
	}

COMPARE_TOTAL(requested, bytes_req)
COMPARE_TOTAL(allocated, bytes_alloc)
COMPARE_TOTAL(allocs, allocs)
COMPARE_TOTAL(frees, frees)
COMPARE_TOTAL(live, live_bytes_alloc)
COMPARE_TOTAL(peak, peak_bytes_alloc)
COMPARE_TOTAL(cross_cpu, cross_cpu_frees)

static int compare_wasted(const KmtRow *a, const KmtRow *b)
{
	return kmt_waste_compare(kmt_totals_wasted(&a->site->totals),
				 kmt_totals_wasted(&b->site->totals));
}

static int compare_fragmentation(const KmtRow *a, const KmtRow *b)
{
	double x = kmt_totals_fragmentation(&a->site->totals);
	double y = kmt_totals_fragmentation(&b->site->totals);

	return x < y ? -1 : x > y;
}

static int compare_address(const KmtRow *a, const KmtRow *b)
{
	return compare_u64(a->site->address, b->site->address);
}

/* By function, module, offset; sites without a name come after those with. */
static int compare_name(const KmtRow *a, const KmtRow *b)
{
	int order;

	if (a->has_name != b->has_name)
		return a->has_name ? -1 : 1;
	if (!a->has_name)
		return compare_address(a, b);
	order = strcmp(a->symbol.name, b->symbol.name);
	if (!order)
		order = g_strcmp0(a->symbol.module, b->symbol.module);
	if (!order)
		order = compare_u64(a->symbol.offset, b->symbol.offset);
	return order;
}

static const SortKey sort_keys[] = {
	{"wasted", compare_wasted, FALSE},
	{"requested", compare_requested, FALSE},
	{"allocated", compare_allocated, FALSE},
	{"bytes", compare_allocated, FALSE},
	{"hit", compare_allocs, FALSE},
	{"allocs", compare_allocs, FALSE},
	{"frees", compare_frees, FALSE},
	{"live", compare_live, FALSE},
	{"peak", compare_peak, FALSE},
	{"frag", compare_fragmentation, FALSE},
	{"pingpong", compare_cross_cpu, FALSE},
	{"callsite", compare_name, TRUE},
	{"ptr", compare_address, TRUE},
};

char *kmt_sort_key_names(void)
{
	GString *names = g_string_new(NULL);
	guint i;

	for (i = 0; i < G_N_ELEMENTS(sort_keys); i++)
		g_string_append_printf(names, "%s%s", i ? ", " : "",
				       sort_keys[i].name);
	return g_string_free(names, FALSE);
}

static gboolean parse_term(const char *word, SortTerm *term, GError **error)
{
	g_autofree char *names = NULL;
	const char *name = word;
	guint i;

	if (*word == '+' || *word == '-')
		name++;
	for (i = 0; i < G_N_ELEMENTS(sort_keys); i++) {
		if (strcmp(name, sort_keys[i].name) != 0)
			continue;
		term->compare = sort_keys[i].compare;
		term->ascending = sort_keys[i].ascending;
		if (name != word)
			term->ascending = *word == '+';
		return TRUE;
	}
	names = kmt_sort_key_names();
	g_set_error(error, KMT_SORT_ERROR, KMT_SORT_ERROR_KEY,
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

/* Ties are broken by address and kind, so that no two runs differ. */
static int compare_rows(gconstpointer a, gconstpointer b, gpointer user)
{
	const KmtSort *sort = user;
	const KmtRow *x = a, *y = b;
	int order;
	guint i;

	for (i = 0; i < sort->terms->len; i++) {
		SortTerm *term = &g_array_index(sort->terms, SortTerm, i);

		order = term->compare(x, y);
		if (order)
			return term->ascending ? order : -order;
	}
	order = compare_address(x, y);
	return order ? order : (int)x->site->kind - (int)y->site->kind;
}

static void cut(KmtTable *table, guint64 max_lines)
{
	guint i;

	table->n_shown = table->n_rows;
	if (max_lines == 0 || max_lines >= table->n_rows)
		return;
	table->n_shown = (guint)max_lines;
	for (i = table->n_shown; i < table->n_rows; i++) {
		const KmtSite *site = table->rows[i].site;
		KmtKind kind = site->kind == KMT_KIND_PAGES ? KMT_KIND_PAGES
							    : KMT_KIND_SLAB;

		kmt_totals_add(&table->rest[kind], &site->totals);
		table->n_rest[kind]++;
	}
}

KmtTable *kmt_table_new(const KmtSites *sites, const KmtNames *names,
			KmtTableFilter filter, gconstpointer user,
			const KmtSort *sort, guint64 max_lines)
{
	KmtTable *table = g_new0(KmtTable, 1);
	guint32 i;

	table->rows = g_new0(KmtRow, MAX(sites->n_sites, 1));
	for (i = 0; i < sites->n_sites; i++) {
		const KmtSite *site = &sites->sites[i];
		KmtRow *row = &table->rows[table->n_rows];

		if (filter && !filter(site, user))
			continue;
		table->n_rows++;
		row->site = site;
		row->has_name =
			kmt_names_symbol(names, site->address, &row->symbol);
	}
	g_qsort_with_data(table->rows, (gint)table->n_rows, sizeof(KmtRow),
			  compare_rows, (gpointer)sort);
	cut(table, max_lines);
	return table;
}

void kmt_table_free(KmtTable *table)
{
	if (!table)
		return;
	g_free(table->rows);
	g_free(table);
}
