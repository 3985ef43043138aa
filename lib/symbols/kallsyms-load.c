// SPDX-License-Identifier: GPL-2.0-or-later
/* Read a kallsyms file or a System.map into a table of symbols. */
#include "config.h"

#include "lib/symbols/kallsyms-private.h"
#include "lib/symbols/kallsyms-line.h"
#include "lib/base/hash.h"

#include <glib/gstdio.h>
#include <string.h>

/*
 * Maximum size of a kallsyms file or System.map in bytes: four times the size
 * for distribution kernels. In addition to the text, the table entries need
 * memory of up to three quarters of the file size.
 */
#define MAX_SIZE (64u << 20)

/*
 * Limit of a copy of /proc/modules in bytes. The file has some hundred lines.
 */
#define MAX_MODULES_SIZE (16 << 20)

/* Limit of the 16-bit module number in KmtSymTableEntry. Symbols of further
 * modules are omitted. */
#define MAX_MODULES G_MAXUINT16

/* State while a file is read. */
typedef struct {
	const char *path;
	KmtSymTable *symbols;
	GHashTable *modules;  /* module name -> number + 1 */
	guint16 last_module;  /* number + 1 of the module that find_module()
			       * returned last; most lines have the module of the
			       * previous line */
	guint n_valid;	      /* number of lines that describe a symbol */
	gboolean all_zero;    /* all addresses so far are 0 */
	guint64 last_address; /* highest address while the entries are in order
			       */
	gboolean unordered;   /* an entry has a lower address than an earlier
			       * entry */
} Loader;

G_DEFINE_QUARK(kmt_sym_table_error, kmt_sym_table_error)

/*
 * Return whether the symbol type is a function type of nm and kallsyms; weak
 * functions are included.
 */
static gboolean is_code_type(char type)
{
	char lower = type | 0x20;

	return lower == 't' || lower == 'w';
}

/*
 * Return whether a symbol of this type has an address in the kernel. Absolute,
 * debugging and undefined symbols (a, n, u) do not.
 */
static gboolean has_address(char type)
{
	char lower = type | 0x20;

	return lower >= 'a' && lower <= 'z' && lower != 'a' && lower != 'n' &&
	       lower != 'u';
}

#define LONGEST_LABEL 10 /* in bytes */

/*
 * Record the address of a label that the linker puts at the start or end of a
 * section. A label at the end of a section is not a function.
 */
static void record_label(KmtSymTable *symbols, const KmtSymKallsymsLine *line,
			 KmtSymTableEntry *entry)
{
	const struct {
		const char *name;
		gsize length;
		guint64 *address;
		gboolean end;
	} labels[] = {
		{"_text", 5, &symbols->text, FALSE},
		{"_stext", 6, &symbols->kernel.start, FALSE},
		{"_etext", 6, &symbols->kernel.end, TRUE},
		{"_sinittext", 10, &symbols->init.start, FALSE},
		{"_einittext", 10, &symbols->init.end, TRUE},
	};
	guint i;

	/* Most names are longer than any label; skip the comparisons. */
	if (line->length > LONGEST_LABEL)
		return;
	for (i = 0; i < G_N_ELEMENTS(labels); i++) {
		if (labels[i].length != line->length ||
		    memcmp(line->name, labels[i].name, line->length) != 0)
			continue;
		*labels[i].address = line->address;
		if (labels[i].end)
			entry->code = FALSE;
	}
}

/*
 * Return the number + 1 of the module, which is added if it is new. Return 0 if
 * there are too many modules.
 */
static guint16 find_module(Loader *loader, const char *name, gsize length)
{
	GArray *modules = loader->symbols->modules;
	g_autofree char *copy = NULL;
	KmtSymTableModule module = {0};
	gpointer number;

	if (loader->last_module) {
		const char *last = g_array_index(modules, KmtSymTableModule,
						 loader->last_module - 1u)
					   .name;

		if (strncmp(last, name, length) == 0 && !last[length])
			return loader->last_module;
	}
	copy = g_strndup(name, length);
	number = g_hash_table_lookup(loader->modules, copy);
	if (!number) {
		if (modules->len == MAX_MODULES)
			return 0;
		module.name = g_steal_pointer(&copy);
		g_array_append_val(modules, module);
		number = GUINT_TO_POINTER(modules->len);
		g_hash_table_insert(loader->modules, module.name, number);
	}
	loader->last_module = (guint16)GPOINTER_TO_UINT(number);
	return loader->last_module;
}

static gboolean starts_with(const char *name, gsize length, const char *start)
{
	return length >= strlen(start) &&
	       memcmp(name, start, strlen(start)) == 0;
}

static gboolean ends_with(const char *name, gsize length, const char *end)
{
	return length >= strlen(end) &&
	       memcmp(name + length - strlen(end), end, strlen(end)) == 0;
}

/*
 * Return whether the name has the form of a linker label: __start_x, __stop_x,
 * __end_x, __x_start, ...
 */
static gboolean is_linker_label(const char *name, gsize length)
{
	return length >= 8 && starts_with(name, length, "__") &&
	       (starts_with(name, length, "__start_") ||
		starts_with(name, length, "__stop_") ||
		starts_with(name, length, "__end_") ||
		ends_with(name, length, "_start") ||
		ends_with(name, length, "_end"));
}

/*
 * Return whether a name is a mapping symbol, such as $x or $d, by which the
 * assembler marks code and data between the functions of a module on ARM and
 * RISC-V, or a local label. Recent kernels ignore these names in the same way
 * (is_mapping_symbol() of Linux).
 */
static gboolean is_mapping_symbol(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L') ||
	       (name[0] == 'L' && name[1] == '0');
}

/*
 * Return the rank of a name; the lowest rank is the best name. If several
 * functions of the kernel itself have the same address, the kernel prints the
 * best name by these rules. The kernel also sorts the symbols in its own image
 * by these rules, but a System.map is not sorted that way.
 */
static guint name_rank(const KmtSymTable *symbols,
		       const KmtSymTableEntry *entry)
{
	const char *name = symbols->file.text + entry->name;
	guint underscores = 0;

	while (underscores < entry->length && name[underscores] == '_')
		underscores++;
	return (guint)!entry->code << 14 | (guint)entry->weak << 13 |
	       (guint)is_linker_label(name, entry->length) << 12 | underscores;
}

/* Add an entry. While the addresses do not decrease, only the best name of each
 * address is kept; of equally good names, the first in the file. After the
 * first decrease all entries are kept, and keep_best_names() chooses later. */
static void add_entry(Loader *loader, const KmtSymTableEntry *entry)
{
	KmtSymTable *symbols = loader->symbols;
	KmtSymTableEntry *last;

	if (G_LIKELY(entry->address > loader->last_address)) {
		loader->last_address = entry->address;
	} else if (entry->address < loader->last_address) {
		loader->unordered = TRUE;
	} else if (!loader->unordered) {
		last = &symbols->entries[symbols->n_entries - 1];
		if (name_rank(symbols, entry) < name_rank(symbols, last))
			*last = *entry;
		return;
	}
	if (symbols->n_entries == symbols->n_allocated) {
		symbols->n_allocated = symbols->n_allocated * 2 + 4096;
		symbols->entries = g_renew(KmtSymTableEntry, symbols->entries,
					   symbols->n_allocated);
	}
	symbols->entries[symbols->n_entries++] = *entry;
}

static void add_line(Loader *loader, const KmtSymKallsymsLine *line)
{
	KmtSymTable *symbols = loader->symbols;
	KmtSymTableEntry entry = {
		.address = line->address,
		.name = (guint32)(line->name - symbols->file.text),
		.length = line->length & 0xfff,
		.code = is_code_type(line->type),
		.weak = line->type == 'w' || line->type == 'W',
	};

	loader->n_valid++;
	loader->all_zero &= line->address == 0;
	if (!line->module && line->name[0] == '_')
		record_label(symbols, line, &entry);
	if (!has_address(line->type) || !line->address ||
	    is_mapping_symbol(line->name))
		return;
	if (line->module) {
		entry.module =
			find_module(loader, line->module, line->module_length);
		if (!entry.module)
			return;
	}
	add_entry(loader, &entry);
}

/* Fast path for the most common line: a symbol of the kernel itself in the
 * format of a 64-bit kernel. On success move *at behind the line. Return FALSE
 * if the line needs the full parser. */
static inline gboolean add_common_line(Loader *loader, const char **at)
{
	const char *name = *at + 19, *end;
	char type;
	KmtSymTableEntry entry = {0};

	if (!parse_sixteen(*at, &entry.address) || !entry.address ||
	    (*at)[16] != ' ' || (*at)[18] != ' ')
		return FALSE;
	type = (*at)[17];
	end = end_of_word(name);
	if (!has_address(type) || *end != '\n' || end == name ||
	    end - name > KMT_SYM_MAX_NAME || is_mapping_symbol(name) ||
	    (end - name <= LONGEST_LABEL && *name == '_'))
		return FALSE;
	entry.name = (guint32)(name - loader->symbols->file.text);
	entry.length = (guint)(end - name) & 0xfff;
	entry.code = is_code_type(type);
	entry.weak = (type | 0x20) == 'w';
	add_entry(loader, &entry);
	loader->n_valid++;
	loader->all_zero = FALSE;
	*at = end + 1;
	return TRUE;
}

/*
 * Parse all lines. A NUL byte also ends a line, because a NUL in a damaged file
 * would otherwise hide all lines after the NUL.
 */
static void read_lines(Loader *loader)
{
	const KmtSymTextFile *file = &loader->symbols->file;
	const char *at = file->text, *end = file->text + file->size;
	KmtSymKallsymsLine line = {0};

	while (at < end) {
		if (G_LIKELY(add_common_line(loader, &at)))
			continue;
		if (kmt_sym_kallsyms_line(&at, &line))
			add_line(loader, &line);
		while (*at && *at != '\n')
			at++;
		at++;
	}
}

/*
 * Keep only the best entry of each address; of equally good names, the first in
 * the file.
 */
static void keep_best_names(KmtSymTable *symbols)
{
	KmtSymTableEntry *e = symbols->entries;
	guint i, n = 0;

	for (i = 0; i < symbols->n_entries; i++) {
		if (!n || e[n - 1].address != e[i].address)
			e[n++] = e[i];
		else if (name_rank(symbols, &e[i]) <
			 name_rank(symbols, &e[n - 1]))
			e[n - 1] = e[i];
	}
	symbols->n_entries = n;
}

/*
 * Read the address ranges of modules from lines "name size refcount users state
 * address". Lines with another format are skipped.
 */
static void parse_modules(Loader *loader, const char *text)
{
	const char *line, *next;

	for (line = text; line; line = next) {
		const char *end = strchr(line, '\n');
		g_autofree char *copy =
			end ? g_strndup(line, (gsize)(end - line))
			    : g_strdup(line);
		g_auto(GStrv) words = g_strsplit(copy, " ", 7);
		guint number;
		guint64 size;
		KmtSymTableRange range;

		next = end ? end + 1 : NULL;

		if (g_strv_length(words) < 6)
			continue;
		if (!g_ascii_string_to_unsigned(words[1], 10, 1, G_MAXUINT32,
						&size, NULL))
			continue;
		range.start = g_ascii_strtoull(words[5], NULL, 16);
		if (!range.start || range.start > G_MAXUINT64 - size)
			continue;
		range.end = range.start + size;
		number = GPOINTER_TO_UINT(
			g_hash_table_lookup(loader->modules, words[0]));
		if (number)
			g_array_index(loader->symbols->modules,
				      KmtSymTableModule, number - 1)
				.range = range;
	}
}

static gboolean open_text(KmtSymTable *symbols, const char *path,
			  GError **error)
{
	g_autoptr(GError) read_error = NULL;

	if (!kmt_sym_text_file_open(&symbols->file, path, MAX_SIZE,
				    &read_error)) {
		g_set_error(error, KMT_SYM_TABLE_ERROR,
			    KMT_SYM_TABLE_ERROR_READ,
			    "cannot read the symbols: %s", read_error->message);
		return FALSE;
	}
	/* No kernel has a kallsyms of this size, and the name offsets in
	 * entries have only 32 bits. */
	if (symbols->file.size > MAX_SIZE) {
		g_set_error(error, KMT_SYM_TABLE_ERROR,
			    KMT_SYM_TABLE_ERROR_FORMAT,
			    "'%s' is too large to be a kallsyms or a "
			    "System.map",
			    path);
		return FALSE;
	}
	return TRUE;
}

static gboolean check_loaded(const Loader *loader, GError **error)
{
	if (loader->n_valid == 0) {
		g_set_error(error, KMT_SYM_TABLE_ERROR,
			    KMT_SYM_TABLE_ERROR_FORMAT,
			    "no symbols in '%s': neither /proc/kallsyms nor a "
			    "System.map",
			    loader->path);
		return FALSE;
	}
	if (loader->all_zero) {
		g_set_error(error, KMT_SYM_TABLE_ERROR,
			    KMT_SYM_TABLE_ERROR_HIDDEN,
			    "all addresses in '%s' are 0: copied under "
			    "kptr_restrict, without the right to see them",
			    loader->path);
		return FALSE;
	}
	return TRUE;
}

static void clear_module(gpointer module)
{
	g_free(((KmtSymTableModule *)module)->name);
}

static gboolean load(Loader *loader, const char *modules, GError **error)
{
	KmtSymTable *symbols = loader->symbols;
	g_autofree char *modules_text = NULL;
	GStatBuf status;

	if (!open_text(symbols, loader->path, error))
		return FALSE;
	read_lines(loader);
	if (!check_loaded(loader, error))
		return FALSE;
	if (loader->unordered) {
		kmt_sym_table_sort(symbols);
		keep_best_names(symbols);
	}
	if (modules && g_stat(modules, &status) == 0 &&
	    status.st_size <= MAX_MODULES_SIZE &&
	    g_file_get_contents(modules, &modules_text, NULL, NULL))
		parse_modules(loader, modules_text);
	return TRUE;
}

KmtSymTable *kmt_sym_table_load(const char *path, const char *modules,
				GError **error)
{
	g_autoptr(GHashTable) numbers =
		g_hash_table_new(kmt_str_hash, g_str_equal);
	g_autoptr(KmtSymTable) symbols = g_new0(KmtSymTable, 1);
	Loader loader = {.path = path,
			 .symbols = symbols,
			 .modules = numbers,
			 .all_zero = TRUE};

	symbols->modules = g_array_new(FALSE, FALSE, sizeof(KmtSymTableModule));
	g_array_set_clear_func(symbols->modules, clear_module);
	return load(&loader, modules, error) ? g_steal_pointer(&symbols) : NULL;
}
