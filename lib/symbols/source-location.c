// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/dwarf-error.h"
#include "lib/symbols/source-location.h"
#include "lib/base/hash.h"

#include <string.h>

/*
 * Upper bound for the number of symbols in a sample, which suffices to
 * distinguish two builds without comparing all names.
 */
#define N_SAMPLES 512

/*
 * Minimum percentage of compared symbols whose addresses agree. A symbol that
 * only one side has is not compared.
 */
#define AGREEMENT_PERCENT 90

/* ---- load offset of the kernel ---- */

typedef struct {
	guint64 stext;	      /* address of _stext in the file; 0: unknown */
	guint64 text;	      /* address of _text in the file; 0: unknown */
	GHashTable *sample;   /* name -> expected address in the file */
	GHashTable *found;    /* sampled names that the file has */
	GHashTable *matching; /* sampled names with the expected address in the
			       * file */
	guint64 bias; /* address in the running kernel minus address in the
		       * file */
} KernelCheck;

static void record_base(const char *name, guint64 address, guint section,
			gpointer user)
{
	KernelCheck *check = user;

	if (strcmp(name, "_stext") == 0)
		check->stext = address;
	else if (strcmp(name, "_text") == 0)
		check->text = address;
}

static gboolean find_bias(const KmtSymDebugFile *vmlinux, const char *path,
			  const KmtSymTable *symbols, KernelCheck *check,
			  GError **error)
{
	guint64 stext = kmt_sym_table_stext(symbols);
	guint64 text = kmt_sym_table_text(symbols);

	kmt_sym_debug_file_foreach_symbol(vmlinux, record_base, check);
	if (stext && check->stext) {
		check->bias = stext - check->stext;
	} else if (text && check->text) {
		check->bias = text - check->text;
	} else {
		g_set_error(error, KMT_SYM_DWARF_ERROR,
			    KMT_SYM_DWARF_ERROR_NO_LOAD_ADDRESS,
			    "cannot find the load address of the kernel in "
			    "'%s': the file or the kallsyms of the capture has "
			    "neither _stext nor _text",
			    path);
		return FALSE;
	}
	return TRUE;
}

static void collect_sample(const KmtSymTable *symbols, KernelCheck *check)
{
	guint i, n = kmt_sym_table_count(symbols);
	guint step = n / N_SAMPLES + 1;
	KmtSymEntry entry;
	guint64 *address;

	for (i = 0; i < n; i += step) {
		kmt_sym_table_get(symbols, i, &entry);
		if (!entry.code || entry.module)
			continue;
		address = g_new(guint64, 1);
		*address = entry.address - check->bias;
		g_hash_table_insert(check->sample, (gpointer)entry.name,
				    address);
	}
}

/*
 * Compare a symbol of the file with the sample. Several static functions may
 * have the same name, so it is enough that one has the expected address.
 */
static void compare_sample(const char *name, guint64 address, guint section,
			   gpointer user)
{
	KernelCheck *check = user;
	gpointer key, expected;

	if (!g_hash_table_lookup_extended(check->sample, name, &key, &expected))
		return;
	g_hash_table_add(check->found, key);
	if (*(guint64 *)expected == address)
		g_hash_table_add(check->matching, key);
}

static gboolean check_sample(const KmtSymDebugFile *vmlinux, const char *path,
			     const KmtSymTable *symbols, KernelCheck *check,
			     GError **error)
{
	guint n_sample, n_found, n_matching;

	collect_sample(symbols, check);
	kmt_sym_debug_file_foreach_symbol(vmlinux, compare_sample, check);
	n_sample = g_hash_table_size(check->sample);
	n_found = g_hash_table_size(check->found);
	n_matching = g_hash_table_size(check->matching);
	if (n_matching && n_found * 2 >= n_sample &&
	    n_matching * 100 >= n_found * AGREEMENT_PERCENT)
		return TRUE;
	g_set_error(error, KMT_SYM_DWARF_ERROR,
		    KMT_SYM_DWARF_ERROR_OTHER_KERNEL,
		    "'%s' belongs to another kernel: of %u functions of the "
		    "traced kernel it has %u, and %u at the same address; name "
		    "the vmlinux of the build that was traced",
		    path, n_sample, n_found, n_matching);
	return FALSE;
}

gboolean kmt_sym_kernel_offset(const KmtSymDebugFile *vmlinux, const char *path,
			       const KmtSymTable *symbols, gboolean is_same,
			       guint64 *bias, GError **error)
{
	g_autoptr(GHashTable) sample =
		g_hash_table_new_full(kmt_str_hash, g_str_equal, NULL, g_free);
	g_autoptr(GHashTable) found = g_hash_table_new(NULL, NULL);
	g_autoptr(GHashTable) matching = g_hash_table_new(NULL, NULL);
	KernelCheck check = {
		.sample = sample,
		.found = found,
		.matching = matching,
	};

	if (!find_bias(vmlinux, path, symbols, &check, error))
		return FALSE;
	*bias = check.bias;
	return is_same || check_sample(vmlinux, path, symbols, &check, error);
}

/* ---- address maps of modules ---- */

typedef struct {
	const char *name; /* owned by the file */
	guint64 address;
	guint section;
} ModuleSymbol;

/* Load offset of a section: running address minus address in the file. */
typedef struct {
	guint section;
	guint64 bias;
} SectionBias;

struct KmtSymModuleMap {
	GArray *symbols; /* ModuleSymbol elements, sorted by name */
	GArray *biases;	 /* SectionBias elements, at most one per section */
};

static void add_symbol(const char *name, guint64 address, guint section,
		       gpointer user)
{
	ModuleSymbol symbol = {name, address, section};

	g_array_append_val((GArray *)user, symbol);
}

static gint compare_symbols(gconstpointer a, gconstpointer b)
{
	return strcmp(((const ModuleSymbol *)a)->name,
		      ((const ModuleSymbol *)b)->name);
}

/*
 * Return the first symbol with this name, and set *n to the number of such
 * symbols. If *n is 0, the result must not be used.
 */
static const ModuleSymbol *find_symbols(const KmtSymModuleMap *map,
					const char *name, guint *n)
{
	const ModuleSymbol *symbols =
		(const ModuleSymbol *)(void *)map->symbols->data;
	guint low = 0, high = map->symbols->len, end;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (strcmp(symbols[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low;
	     end < map->symbols->len && strcmp(symbols[end].name, name) == 0;)
		end++;
	*n = end - low;
	return &symbols[low];
}

typedef struct {
	const KmtSymModuleMap *map;
	GArray *pairs; /* SectionBias of each symbol whose name is unique in the
			* file */
} PairCollector;

static void add_pair(const KmtSymEntry *entry, gpointer user)
{
	PairCollector *collector = user;
	SectionBias pair;
	guint n;
	const ModuleSymbol *symbol =
		find_symbols(collector->map, entry->name, &n);

	if (n != 1)
		return;
	pair.section = symbol->section;
	pair.bias = entry->address - symbol->address;
	g_array_append_val(collector->pairs, pair);
}

static gint compare_biases(gconstpointer a, gconstpointer b)
{
	const SectionBias *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->bias < y->bias ? -1 : x->bias > y->bias;
}

/*
 * Choose for each section the most frequent offset of its symbols. Return the
 * total number of symbols that have the chosen offsets. Sorts @pairs.
 */
static guint choose_biases(KmtSymModuleMap *map, GArray *pairs)
{
	guint i, n_equal = 0, best = 0, n_matching = 0;

	g_array_sort(pairs, compare_biases);
	for (i = 0; i < pairs->len; i++) {
		const SectionBias *pair = &g_array_index(pairs, SectionBias, i);
		const SectionBias *next = pair + 1;
		gboolean last =
			i + 1 == pairs->len || next->section != pair->section;

		n_equal++;
		if (!last && next->bias == pair->bias)
			continue;
		if (n_equal > best && best)
			g_array_set_size(map->biases, map->biases->len - 1);
		if (n_equal > best) {
			g_array_append_val(map->biases, *pair);
			best = n_equal;
		}
		n_equal = 0;
		if (last) {
			n_matching += best;
			best = 0;
		}
	}
	return n_matching;
}

/*
 * Fallback if no symbol can be compared: assume that the module starts with its
 * .text section, so that the start of the module is the address of .text.
 */
static void assume_text_first(KmtSymModuleMap *map, const KmtSymDebugFile *file,
			      guint64 start)
{
	SectionBias bias;
	guint64 text;

	if (!start || !kmt_sym_debug_file_text(file, &text, &bias.section))
		return;
	bias.bias = start - text;
	g_array_append_val(map->biases, bias);
}

KmtSymModuleMap *kmt_sym_module_map_new(const KmtSymDebugFile *file,
					const KmtSymTable *symbols,
					const char *module)
{
	g_autoptr(KmtSymModuleMap) map = g_new0(KmtSymModuleMap, 1);
	g_autoptr(GArray) pairs =
		g_array_new(FALSE, FALSE, sizeof(SectionBias));
	PairCollector collector = {map, pairs};

	map->symbols = g_array_new(FALSE, FALSE, sizeof(ModuleSymbol));
	map->biases = g_array_new(FALSE, FALSE, sizeof(SectionBias));
	kmt_sym_debug_file_foreach_symbol(file, add_symbol, map->symbols);
	g_array_sort(map->symbols, compare_symbols);
	kmt_sym_table_foreach_of_module(symbols, module, add_pair, &collector);
	if (choose_biases(map, pairs) * 100 < pairs->len * AGREEMENT_PERCENT)
		return NULL;
	if (!pairs->len)
		assume_text_first(map, file,
				  kmt_sym_table_module_start(symbols, module));
	return map->biases->len ? g_steal_pointer(&map) : NULL;
}

void kmt_sym_module_map_free(KmtSymModuleMap *map)
{
	if (!map)
		return;
	g_array_unref(map->symbols);
	g_array_unref(map->biases);
	g_free(map);
}

static gboolean symbol_is_at(const KmtSymModuleMap *map,
			     const ModuleSymbol *symbol, guint64 address)
{
	guint i;

	for (i = 0; i < map->biases->len; i++) {
		const SectionBias *b =
			&g_array_index(map->biases, SectionBias, i);

		if (b->section == symbol->section)
			return symbol->address + b->bias == address;
	}
	return FALSE;
}

gboolean kmt_sym_module_map_lookup(const KmtSymModuleMap *map, guint64 address,
				   const KmtSymbol *symbol,
				   guint64 *file_address)
{
	guint i, n;
	const ModuleSymbol *symbols = find_symbols(map, symbol->name, &n);

	for (i = 0; i < n; i++) {
		if (n > 1 &&
		    !symbol_is_at(map, &symbols[i], address - symbol->offset))
			continue;
		*file_address = symbols[i].address + symbol->offset;
		return TRUE;
	}
	return FALSE;
}
