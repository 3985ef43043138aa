// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <string.h>

#include "cli/text.h"
#include "report/groups.h"

#define INITIAL_GROUPS 1024

/* The pid of records that have none. */
#define NO_PID G_MAXUINT64

/* The key of a group: n words, the first of which is its kind. */
typedef struct {
	guint n;
	guint hash;
	guint64 words[];
} Key;

static guint key_hash(gconstpointer p)
{
	return ((const Key *)p)->hash;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const Key *x = a, *y = b;

	return x->n == y->n &&
	       memcmp(x->words, y->words, x->n * sizeof(guint64)) == 0;
}

/* Where no ledger lies across lines of the cache. */
static void add_ledgers(KmtGroups *groups)
{
	guint32 chunk = groups->n_groups / KMT_LEDGER_CHUNK;

	groups->ledger_chunks =
		g_renew(KmtLedger *, groups->ledger_chunks, chunk + 1);
	groups->ledger_chunks[chunk] = g_aligned_alloc0(
		KMT_LEDGER_CHUNK, sizeof(KmtLedger), _Alignof(KmtLedger));
}

KmtGroups *kmt_groups_new(const KmtGroupsOptions *options,
			  const KmtCells *cells)
{
	KmtGroups *groups = g_new0(KmtGroups, 1);

	groups->options = *options;
	groups->cells = cells;
	groups->seed = kmt_hash_seed();
	groups->n_allocated = INITIAL_GROUPS;
	groups->groups = g_new(KmtGroup, INITIAL_GROUPS);
	groups->numbers =
		g_hash_table_new_full(key_hash, key_equal, g_free, NULL);
	groups->texts = g_hash_table_new(kmt_str_hash, g_str_equal);
	groups->text_of = g_ptr_array_new_with_free_func(g_free);
	groups->chains =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	groups->chain_numbers =
		g_hash_table_new_full(kmt_str_hash, g_str_equal, g_free, NULL);
	return groups;
}

void kmt_groups_free(KmtGroups *groups)
{
	guint32 i;

	if (!groups)
		return;
	for (i = 0; i < groups->n_groups; i++) {
		KmtDetail *detail = groups->groups[i].detail;

		if (!detail)
			continue;
		kmt_histogram_clear(&detail->lifetimes);
		kmt_histogram_clear(&detail->sizes);
		kmt_histogram_clear(&detail->ages);
		g_free(detail->live_bytes);
		g_free(detail);
	}
	g_hash_table_unref(groups->numbers);
	g_hash_table_unref(groups->texts);
	g_ptr_array_unref(groups->text_of);
	g_ptr_array_unref(groups->chains);
	g_hash_table_unref(groups->chain_numbers);
	g_free(groups->groups);
	for (i = 0;
	     i < (groups->n_groups + KMT_LEDGER_CHUNK - 1) / KMT_LEDGER_CHUNK;
	     i++)
		g_aligned_free(groups->ledger_chunks[i]);
	g_free(groups->ledger_chunks);
	g_free(groups);
}

/* ---- values ---- */

/* Takes text. */
static guint64 text_number(KmtGroups *groups, char *text)
{
	gpointer found;

	if (g_hash_table_lookup_extended(groups->texts, text, NULL, &found)) {
		g_free(text);
		return GPOINTER_TO_UINT(found);
	}
	g_hash_table_insert(groups->texts, text,
			    GUINT_TO_POINTER(groups->text_of->len));
	g_ptr_array_add(groups->text_of, text);
	return groups->text_of->len - 1;
}

static guint64 function_value(KmtGroups *groups, guint64 address)
{
	KmtSymbol symbol;
	char *text;

	if (!kmt_names_symbol(groups->options.names, address, &symbol))
		text = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", address);
	else if (symbol.module)
		text = g_strdup_printf("%s [%s]", symbol.name, symbol.module);
	else
		text = g_strdup(symbol.name);
	return text_number(groups, text);
}

static guint64 module_value(KmtGroups *groups, guint64 address)
{
	KmtSymbol symbol;
	const char *module = "(unknown)";

	if (kmt_names_symbol(groups->options.names, address, &symbol))
		module = symbol.module ? symbol.module : "vmlinux";
	return text_number(groups, g_strdup(module));
}

static guint64 directory_value(KmtGroups *groups, guint64 address)
{
	const char *directory =
		kmt_names_directory(groups->options.names, address);

	return text_number(groups,
			   g_strdup(directory ? directory : "(unknown)"));
}

/* Version 1 of the record does not say which cache: what can be told apart is
 * the size of its objects.  Nor does version 2 of kmalloc, whose caches are
 * named by size. */
static guint64 cache_value(KmtGroups *groups, const KmtCell *cell,
			   guint64 bytes_alloc)
{
	const KmtCache *cache = NULL;
	guint order = 0;

	if (cell->has_owner && cell->cache)
		cache = kmt_record_tables_cache(groups->options.tables,
						cell->cache);
	if (cache)
		return text_number(groups, kmt_printable(cache->name));
	switch ((KmtKind)cell->type) {
	case KMT_KIND_KMALLOC:
		return text_number(groups,
				   g_strdup_printf("kmalloc-%" G_GUINT64_FORMAT,
						   bytes_alloc));
	case KMT_KIND_CACHE:
		return text_number(
			groups, g_strdup_printf("(objects of %" G_GUINT64_FORMAT
						" bytes)",
						bytes_alloc));
	case KMT_KIND_PERCPU:
		return text_number(groups, g_strdup("(per-CPU memory)"));
	case KMT_KIND_VMALLOC:
		return text_number(groups, g_strdup("(vmalloc)"));
	default:
		while (order < 32 &&
		       bytes_alloc > (G_GUINT64_CONSTANT(4096) << order))
			order++;
		return text_number(
			groups, g_strdup_printf("(pages of order %u)", order));
	}
}

static guint64 comm_value(KmtGroups *groups, const KmtCell *cell)
{
	if (!cell->has_owner)
		return text_number(groups, g_strdup("(not recorded)"));
	return text_number(groups, cell->comm ? kmt_printable(cell->comm)
					      : g_strdup("(unknown)"));
}

static guint64 context_value(KmtGroups *groups, const KmtCell *cell)
{
	const char *context = "task";

	if (!cell->has_owner)
		context = "(not recorded)";
	else if (cell->context & KMEMTRACE_FLAG_HARDIRQ)
		context = "hardirq";
	else if (cell->context & KMEMTRACE_FLAG_SOFTIRQ)
		context = "softirq";
	return text_number(groups, g_strdup(context));
}

/* The stack of a cell; without one, its call site alone. */
static const guint64 *chain_of(const KmtGroups *groups, const KmtCell *cell,
			       guint *n)
{
	const guint64 *chain = NULL;

	if (cell->has_owner && cell->stack != KMEMTRACE_STACK_NONE)
		chain = kmt_record_tables_stack(groups->options.tables,
						cell->stack, n);
	if (chain)
		return chain;
	*n = 1;
	return &cell->call_site;
}

/* By its addresses, as two boots' stacks may be the same. */
static guint64 stack_value(KmtGroups *groups, const KmtCell *cell)
{
	g_autoptr(GString) key = g_string_new(NULL);
	const guint64 *chain;
	GArray *copy;
	gpointer found;
	guint n, i;

	chain = chain_of(groups, cell, &n);
	for (i = 0; i < n; i++)
		g_string_append_printf(key, "%" G_GINT64_MODIFIER "x,",
				       chain[i]);
	if (g_hash_table_lookup_extended(groups->chain_numbers, key->str, NULL,
					 &found))
		return GPOINTER_TO_UINT(found);
	copy = g_array_sized_new(FALSE, FALSE, sizeof(guint64), n);
	g_array_append_vals(copy, chain, n);
	g_hash_table_insert(groups->chain_numbers, g_strdup(key->str),
			    GUINT_TO_POINTER(groups->chains->len));
	g_ptr_array_add(groups->chains, copy);
	return groups->chains->len - 1;
}

/* The first of those who called each other that is not known to do so for
 * others; if all are, the call site. */
static guint64 owner_value(KmtGroups *groups, const KmtCell *cell)
{
	const guint64 *chain;
	KmtSymbol symbol;
	guint n, i;

	chain = chain_of(groups, cell, &n);
	for (i = 0; groups->options.skip && i < n; i++)
		if (!kmt_names_symbol(groups->options.names, chain[i],
				      &symbol) ||
		    !kmt_skip_matches(groups->options.skip, symbol.name))
			return function_value(groups, chain[i]);
	return function_value(groups, cell->call_site);
}

static guint64 value_of(KmtGroups *groups, KmtDimension dimension,
			const KmtCell *cell, guint64 bytes_alloc)
{
	const KmtCpuFile *file =
		groups->options.capture->files->pdata[cell->file];

	switch (dimension) {
	case KMT_BY_CALLSITE:
		return cell->call_site;
	case KMT_BY_FUNCTION:
		return function_value(groups, cell->call_site);
	case KMT_BY_MODULE:
		return module_value(groups, cell->call_site);
	case KMT_BY_DIRECTORY:
		return directory_value(groups, cell->call_site);
	case KMT_BY_KIND:
		return cell->type;
	case KMT_BY_CACHE:
		return cache_value(groups, cell, bytes_alloc);
	case KMT_BY_SIZE:
		return bytes_alloc;
	case KMT_BY_CPU:
		return file->cpu;
	case KMT_BY_NODE:
		return (guint64)(gint64)MAX(cell->node, -1);
	case KMT_BY_PID:
		return cell->has_owner ? cell->pid : NO_PID;
	case KMT_BY_COMM:
		return comm_value(groups, cell);
	case KMT_BY_CONTEXT:
		return context_value(groups, cell);
	case KMT_BY_MARK:
		return cell->phase;
	case KMT_BY_OWNER:
		return owner_value(groups, cell);
	case KMT_BY_STACK:
		return stack_value(groups, cell);
	case KMT_BY_GFP:
	default:
		return cell->gfp_flags;
	}
}

/* ---- groups ---- */

static guint32 new_group(KmtGroups *groups, KmtKind kind, const guint64 *values)
{
	KmtGroup *group;

	if (groups->n_groups == groups->n_allocated) {
		groups->n_allocated *= 2;
		groups->groups =
			g_renew(KmtGroup, groups->groups, groups->n_allocated);
	}
	if (groups->n_groups % KMT_LEDGER_CHUNK == 0)
		add_ledgers(groups);
	group = &groups->groups[groups->n_groups];
	memset(group, 0, sizeof(*group));
	group->kind = kind;
	group->values = values;
	if (groups->options.details) {
		group->detail = g_new0(KmtDetail, 1);
		group->detail->live_bytes =
			g_new0(guint64, MAX(1, groups->options.n_windows));
	}
	return groups->n_groups++;
}

static guint32 find_group(KmtGroups *groups, const KmtCell *cell,
			  guint64 bytes_alloc)
{
	const KmtBy *by = groups->options.by;
	gsize bytes = sizeof(Key) + (by->n + 1) * sizeof(guint64);
	Key *key = g_malloc0(bytes);
	guint64 hash = groups->seed;
	gpointer found;
	guint i;

	key->n = by->n + 1;
	key->words[0] =
		by->kinds ? cell->type : kmt_kind_layer((KmtKind)cell->type);
	for (i = 0; i < by->n; i++)
		key->words[i + 1] =
			value_of(groups, by->dimensions[i], cell, bytes_alloc);
	for (i = 0; i < key->n; i++)
		hash = kmt_hash(hash, key->words[i]);
	key->hash = (guint)hash;
	if (g_hash_table_lookup_extended(groups->numbers, key, NULL, &found)) {
		g_free(key);
		return GPOINTER_TO_UINT(found);
	}
	i = new_group(groups, (KmtKind)key->words[0], key->words + 1);
	g_hash_table_insert(groups->numbers, key, GUINT_TO_POINTER(i));
	return i;
}

guint32 kmt_groups_get(KmtGroups *groups, guint32 lot)
{
	const KmtGroupsOptions *o = &groups->options;
	KmtCell cell = kmt_cells_cell(groups->cells, lot);
	KmtSize bytes = kmt_cells_size(groups->cells, lot);
	const KmtCpuFile *file = o->capture->files->pdata[cell.file];

	if (!kmt_filter_cell(o->filter, &cell, file->cpu, o->names) ||
	    !kmt_filter_size(o->filter, bytes.req))
		return KMT_NO_GROUP;
	return find_group(groups, &cell, bytes.alloc);
}

void kmt_groups_finish(KmtGroups *groups, const guint64 epochs[KMT_N_KINDS])
{
	guint32 i;

	for (i = 0; i < groups->n_groups; i++) {
		KmtGroup *group = &groups->groups[i];
		const KmtLedger *l = kmt_groups_ledger(groups, i);

		group->totals = kmt_ledger_totals(l);
		/* What did not change since that peak is what it was then. */
		group->at_peak =
			l->epoch == epochs[group->kind] ? l->at_peak : l->live;
	}
}

/* ---- text and order ---- */

const guint64 *kmt_groups_chain(const KmtGroups *groups, const KmtGroup *group,
				guint i, guint *n)
{
	const GArray *chain = groups->chains->pdata[group->values[i]];

	*n = chain->len;
	return &g_array_index(chain, guint64, 0);
}

/* "callee < caller < its caller" */
static char *chain_text(const KmtGroups *groups, const KmtGroup *group, guint i)
{
	GString *text = g_string_new(NULL);
	const guint64 *chain;
	guint n, j;

	chain = kmt_groups_chain(groups, group, i, &n);
	for (j = 0; j < n; j++) {
		g_autofree char *name =
			kmt_names_format(groups->options.names, chain[j]);

		g_string_append(text, j ? " < " : "");
		if (name)
			g_string_append(text, name);
		else
			g_string_append_printf(
				text, "0x%016" G_GINT64_MODIFIER "x", chain[j]);
	}
	return g_string_free(text, FALSE);
}

char *kmt_groups_value(const KmtGroups *groups, const KmtGroup *group, guint i)
{
	guint64 value = group->values[i];
	char *name;

	switch (groups->options.by->dimensions[i]) {
	case KMT_BY_CALLSITE:
		name = kmt_names_describe(groups->options.names, value);
		return name ? name
			    : g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
					      value);
	case KMT_BY_FUNCTION:
	case KMT_BY_MODULE:
	case KMT_BY_DIRECTORY:
	case KMT_BY_CACHE:
	case KMT_BY_COMM:
	case KMT_BY_CONTEXT:
	case KMT_BY_OWNER:
		return g_strdup(groups->text_of->pdata[value]);
	case KMT_BY_STACK:
		return chain_text(groups, group, i);
	case KMT_BY_PID:
		if (value == NO_PID)
			return g_strdup("(not recorded)");
		return g_strdup_printf("%" G_GUINT64_FORMAT, value);
	case KMT_BY_KIND:
		return g_strdup(kmt_kind_name((KmtKind)value));
	case KMT_BY_NODE:
		if ((gint64)value < 0)
			return g_strdup("any");
		return g_strdup_printf("%" G_GUINT64_FORMAT, value);
	case KMT_BY_MARK:
		return kmt_phases_label(groups->options.phases, value);
	case KMT_BY_GFP:
		return kmt_names_gfp(groups->options.names, value);
	case KMT_BY_SIZE:
	case KMT_BY_CPU:
	default:
		return g_strdup_printf("%" G_GUINT64_FORMAT, value);
	}
}

char *kmt_groups_text(const KmtGroups *groups, const KmtGroup *group)
{
	GString *text = g_string_new(NULL);
	guint i;

	for (i = 0; i < groups->options.by->n; i++) {
		g_autofree char *value = kmt_groups_value(groups, group, i);

		g_string_append_printf(text, "%s%s", i ? ", " : "", value);
	}
	return g_string_free(text, FALSE);
}

gboolean kmt_groups_address(const KmtGroups *groups, const KmtGroup *group,
			    guint64 *address)
{
	const KmtBy *by = groups->options.by;
	guint i;

	for (i = 0; i < by->n; i++) {
		if (by->dimensions[i] != KMT_BY_CALLSITE)
			continue;
		*address = group->values[i];
		return TRUE;
	}
	return FALSE;
}

/* By the innermost addresses first. */
static int compare_chains(const GArray *a, const GArray *b)
{
	guint i;

	for (i = 0; i < MIN(a->len, b->len); i++) {
		guint64 x = g_array_index(a, guint64, i);
		guint64 y = g_array_index(b, guint64, i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a->len < b->len ? -1 : a->len > b->len;
}

/* By text: its number says nothing. */
static int compare_values(const KmtGroups *groups, guint i, guint64 a,
			  guint64 b)
{
	switch (groups->options.by->dimensions[i]) {
	case KMT_BY_FUNCTION:
	case KMT_BY_MODULE:
	case KMT_BY_DIRECTORY:
	case KMT_BY_CACHE:
	case KMT_BY_COMM:
	case KMT_BY_CONTEXT:
	case KMT_BY_OWNER:
		return strcmp(groups->text_of->pdata[a],
			      groups->text_of->pdata[b]);
	case KMT_BY_STACK:
		return compare_chains(groups->chains->pdata[a],
				      groups->chains->pdata[b]);
	case KMT_BY_NODE:
		return (gint64)a < (gint64)b ? -1 : (gint64)a > (gint64)b;
	default:
		break;
	}
	return a < b ? -1 : a > b;
}

int kmt_groups_compare(const KmtGroups *groups, const KmtGroup *a,
		       const KmtGroup *b)
{
	guint i;

	for (i = 0; i < groups->options.by->n; i++) {
		int order =
			compare_values(groups, i, a->values[i], b->values[i]);

		if (order)
			return order;
	}
	return 0;
}

static int compare_numbers(guint64 a, guint64 b)
{
	return a < b ? -1 : a > b;
}

/* By function, module, offset. */
static int compare_sites(const KmtGroups *groups, guint64 a, guint64 b)
{
	KmtSymbol x, y;
	gboolean has_x = kmt_names_symbol(groups->options.names, a, &x);
	gboolean has_y = kmt_names_symbol(groups->options.names, b, &y);
	int order;

	if (has_x != has_y)
		return has_x ? -1 : 1;
	if (!has_x)
		return compare_numbers(a, b);
	order = strcmp(x.name, y.name);
	if (!order)
		order = g_strcmp0(x.module, y.module);
	return order ? order : compare_numbers(x.offset, y.offset);
}

int kmt_groups_compare_names(const KmtGroups *groups, const KmtGroup *a,
			     const KmtGroup *b)
{
	const KmtBy *by = groups->options.by;
	guint i;

	for (i = 0; i < by->n; i++) {
		int order;

		if (by->dimensions[i] == KMT_BY_CALLSITE)
			order = compare_sites(groups, a->values[i],
					      b->values[i]);
		else
			order = compare_values(groups, i, a->values[i],
					       b->values[i]);
		if (order)
			return order;
	}
	return 0;
}
