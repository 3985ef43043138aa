// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/kallsyms.h"
#include "lib/symbols/kallsyms-line.h"
#include "lib/symbols/line-reader.h"
#include "lib/base/hash.h"

#include <glib/gstdio.h>
#include <string.h>

/* No function is longer; an address farther behind a symbol is not in it. */
#define MAX_FUNCTION_BYTES (1u << 20)

/*
 * Bytes of a file: four times those of the kernels of distributions.  The
 * entries take up to three quarters of it in memory beside the text.
 */
#define MAX_SIZE (64u << 20)

/* Bytes; a line of /proc/modules is some hundred of them. */
#define MAX_MODULES_SIZE (16 << 20)

/* What an Entry can number; symbols of further modules are left out. */
#define MAX_MODULES G_MAXUINT16

/*
 * Names stay where they are in the file.  They get their end when somebody asks
 * for them: few are asked for, and a page that is written to is copied.
 */
typedef struct {
	guint64 address;
	guint32 name;	/* offset in the text */
	guint16 module; /* number + 1 in modules; 0: the kernel itself */
	guint16 length : 12;
	guint16 code : 1;
	guint16 weak : 1;
} Entry;

G_STATIC_ASSERT(sizeof(Entry) == 16);
G_STATIC_ASSERT(KMT_SYM_MAX_NAME < 1 << 12);

typedef struct {
	guint64 start;
	guint64 end; /* the byte after it; 0: unknown */
} TextRange;

typedef struct {
	char *name;
	TextRange range;
} KallsymsModule;

struct KmtSymTable {
	KmtSymTextFile file;
	Entry *entries; /* by address, the best name of each */
	guint n_entries;
	guint n_allocated;
	GArray *modules;  /* of KallsymsModule */
	guint64 text;	  /* _text */
	TextRange kernel; /* _stext to _etext */
	TextRange init;	  /* _sinittext to _einittext */
};

/* What is known while a file is read. */
typedef struct KmtSymTableLoader {
	char *path, *modules_path;
	const char *at; /* the next line */
	KmtSymTable *symbols;
	GHashTable *modules; /* name -> number + 1 */
	guint16 last_module; /* most lines are of the module of the one above */
	guint n_valid;
	gboolean hidden;      /* all addresses so far were 0 */
	guint64 last_address; /* of an entry, while they are in order: */
	gboolean unordered;   /* some came after a higher one */
} Loader;

G_DEFINE_QUARK(kmt_sym_table_error, kmt_sym_table_error)

/* The types that nm and kallsyms give to functions; weak ones included. */
static gboolean is_code_type(char type)
{
	char lower = type | 0x20;

	return lower == 't' || lower == 'w';
}

/* Absolute and undefined symbols are numbers, not places. */
static gboolean is_place(char type)
{
	char lower = type | 0x20;

	return lower >= 'a' && lower <= 'z' && lower != 'a' && lower != 'n' &&
	       lower != 'u';
}

#define LONGEST_LABEL 10 /* bytes */

/* Labels that the linker puts at the ends of a section are no functions. */
static void note_label(KmtSymTable *symbols, const KmtSymKallsymsLine *line,
		       Entry *entry)
{
	const struct {
		const char *name;
		gsize length;
		guint64 *place;
		gboolean end;
	} labels[] = {
		{"_text", 5, &symbols->text, FALSE},
		{"_stext", 6, &symbols->kernel.start, FALSE},
		{"_etext", 6, &symbols->kernel.end, TRUE},
		{"_sinittext", 10, &symbols->init.start, FALSE},
		{"_einittext", 10, &symbols->init.end, TRUE},
	};
	guint i;

	/* Most are longer than any of these. */
	if (line->length > LONGEST_LABEL)
		return;
	for (i = 0; i < G_N_ELEMENTS(labels); i++) {
		if (labels[i].length != line->length ||
		    memcmp(line->name, labels[i].name, line->length) != 0)
			continue;
		*labels[i].place = line->address;
		if (labels[i].end)
			entry->code = FALSE;
	}
}

/* Its number + 1; 0 if there are too many. */
static guint16 find_module(Loader *loader, const char *name, gsize length)
{
	GArray *modules = loader->symbols->modules;
	g_autofree char *copy = NULL;
	KallsymsModule module = {0};
	gpointer number;

	if (loader->last_module) {
		const char *last = g_array_index(modules, KallsymsModule,
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

/* Whether the name looks like __start_x, __stop_x, __end_x, __x_start, ... */
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
 * Of several names for one address the kernel prints the first by these rules
 * (and sorts its kallsyms by them; a System.map is not so sorted).  The lower
 * the better.
 */
static guint name_rank(const KmtSymTable *symbols, const Entry *entry)
{
	const char *name = symbols->file.text + entry->name;
	guint underscores = 0;

	while (underscores < entry->length && name[underscores] == '_')
		underscores++;
	return (guint)!entry->code << 14 | (guint)entry->weak << 13 |
	       (guint)is_linker_label(name, entry->length) << 12 | underscores;
}

/* Of the names of an address that follow each other, the best; of equals the
 * first of the file. */
static void add_entry(Loader *loader, const Entry *entry)
{
	KmtSymTable *symbols = loader->symbols;
	Entry *last;

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
		symbols->entries =
			g_renew(Entry, symbols->entries, symbols->n_allocated);
	}
	symbols->entries[symbols->n_entries++] = *entry;
}

static void add_line(Loader *loader, const KmtSymKallsymsLine *line)
{
	KmtSymTable *symbols = loader->symbols;
	Entry entry = {
		.address = line->address,
		.name = (guint32)(line->name - symbols->file.text),
		.length = line->length & 0xfff,
		.code = is_code_type(line->type),
		.weak = line->type == 'w' || line->type == 'W',
	};

	loader->n_valid++;
	loader->hidden &= line->address == 0;
	if (!line->module && line->name[0] == '_')
		note_label(symbols, line, &entry);
	if (!is_place(line->type) || !line->address)
		return;
	if (line->module) {
		entry.module =
			find_module(loader, line->module, line->module_length);
		if (!entry.module)
			return;
	}
	add_entry(loader, &entry);
}

/* What most lines are: a place in the kernel itself, written as a 64-bit kernel
 * does.  Moves *at behind it; FALSE: it has to be looked at more closely. */
static inline gboolean add_plain_line(Loader *loader, const char **at)
{
	const char *name = *at + 19, *end;
	char type;
	Entry entry = {0};

	if (!parse_sixteen(*at, &entry.address) || !entry.address ||
	    (*at)[16] != ' ' || (*at)[18] != ' ')
		return FALSE;
	type = (*at)[17];
	end = end_of_word(name);
	if (!is_place(type) || *end != '\n' || end == name ||
	    end - name > KMT_SYM_MAX_NAME ||
	    (end - name <= LONGEST_LABEL && *name == '_'))
		return FALSE;
	entry.name = (guint32)(name - loader->symbols->file.text);
	entry.length = (guint)(end - name) & 0xfff;
	entry.code = is_code_type(type);
	entry.weak = (type | 0x20) == 'w';
	add_entry(loader, &entry);
	loader->n_valid++;
	loader->hidden = FALSE;
	*at = end + 1;
	return TRUE;
}

/* A NUL ends a line too: damage must not hide the lines behind it. */
gboolean kmt_sym_table_go_on(KmtSymTableLoader *loader, guint n_lines)
{
	const KmtSymTextFile *file = &loader->symbols->file;
	const char *at = loader->at, *end = file->text + file->size;
	KmtSymKallsymsLine line;

	for (; at < end && n_lines; n_lines--) {
		if (G_LIKELY(add_plain_line(loader, &at)))
			continue;
		if (kmt_sym_kallsyms_line(&at, &line))
			add_line(loader, &line);
		while (*at && *at != '\n')
			at++;
		at++;
	}
	loader->at = at;
	return at < end;
}

/* How many entries are in order, from the first one on. */
static guint count_sorted(const Entry *entries, guint n)
{
	guint i;

	for (i = 1; i < n; i++)
		if (entries[i - 1].address > entries[i].address)
			return i;
	return n;
}

/* Sorts from[n] by a byte of the addresses into to, keeping their order. */
static void sort_by_byte(const Entry *from, Entry *to, guint n, guint shift)
{
	guint places[256] = {0};
	guint i, count, sum = 0;

	for (i = 0; i < n; i++)
		places[from[i].address >> shift & 0xff]++;
	for (i = 0; i < G_N_ELEMENTS(places); i++) {
		count = places[i];
		places[i] = sum;
		sum += count;
	}
	for (i = 0; i < n; i++)
		to[places[from[i].address >> shift & 0xff]++] = from[i];
}

/* A radix sort.  Both have room for n; which of them has the result. */
static Entry *sort_part(Entry *entries, Entry *other, guint n)
{
	guint64 varying = 0;
	guint i, shift;

	for (i = 1; i < n; i++)
		varying |= entries[i].address ^ entries[0].address;
	for (shift = 0; shift < 64; shift += 8) {
		Entry *from = entries;

		if (!(varying >> shift & 0xff))
			continue;
		sort_by_byte(from, other, n, shift);
		entries = other;
		other = from;
	}
	return entries;
}

/* Of equal ones those of a come first. */
static void merge(const Entry *a, guint n_a, const Entry *b, guint n_b,
		  Entry *to)
{
	const Entry *end_a = a + n_a, *end_b = b + n_b;

	while (a < end_a && b < end_b)
		*to++ = b->address < a->address ? *b++ : *a++;
	while (a < end_a)
		*to++ = *a++;
	while (b < end_b)
		*to++ = *b++;
}

/*
 * By address, then by place in the file.  The kernel's own are in order, the
 * modules' are not; qsort() would take longer than all the rest.
 */
static void sort_entries(KmtSymTable *symbols)
{
	Entry *entries = symbols->entries, *other, *rest, *sorted;
	guint n_sorted = count_sorted(entries, symbols->n_entries);
	guint n_rest = symbols->n_entries - n_sorted;

	if (!n_rest)
		return;
	other = g_new(Entry, n_rest);
	rest = sort_part(entries + n_sorted, other, n_rest);
	sorted = g_new(Entry, symbols->n_entries);
	merge(entries, n_sorted, rest, n_rest, sorted);
	g_free(other);
	g_free(entries);
	symbols->entries = sorted;
	symbols->n_allocated = symbols->n_entries;
}

/* Leaves the best entry of each address; of equals the first of the file. */
static void drop_other_names(KmtSymTable *symbols)
{
	Entry *e = symbols->entries;
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

/* "name size refcount users state address"; what does not fit is left out. */
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
		TextRange range;

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
			g_array_index(loader->symbols->modules, KallsymsModule,
				      number - 1)
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
	/* No kernel has so many symbols, and entries have no place for more
	 * than 32 bits. */
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
	if (loader->hidden) {
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
	g_free(((KallsymsModule *)module)->name);
}

void kmt_sym_table_drop(KmtSymTableLoader *loader)
{
	if (!loader)
		return;
	kmt_sym_table_free(loader->symbols);
	g_hash_table_unref(loader->modules);
	g_free(loader->modules_path);
	g_free(loader->path);
	g_free(loader);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Loader, kmt_sym_table_drop)

KmtSymTableLoader *kmt_sym_table_begin(const char *path, const char *modules,
				       GError **error)
{
	g_autoptr(Loader) loader = g_new0(Loader, 1);
	KmtSymTable *symbols = g_new0(KmtSymTable, 1);

	loader->path = g_strdup(path);
	loader->modules_path = g_strdup(modules);
	loader->symbols = symbols;
	loader->modules = g_hash_table_new(kmt_str_hash, g_str_equal);
	loader->hidden = TRUE;
	symbols->modules = g_array_new(FALSE, FALSE, sizeof(KallsymsModule));
	g_array_set_clear_func(symbols->modules, clear_module);
	if (!open_text(symbols, path, error))
		return NULL;
	loader->at = symbols->file.text;
	return g_steal_pointer(&loader);
}

KmtSymTable *kmt_sym_table_end(KmtSymTableLoader *given, GError **error)
{
	g_autoptr(Loader) loader = given;
	KmtSymTable *symbols = loader->symbols;
	const char *modules = loader->modules_path;
	g_autofree char *modules_text = NULL;
	GStatBuf status;

	kmt_sym_table_go_on(loader, G_MAXUINT);
	if (!check_loaded(loader, error))
		return NULL;
	if (loader->unordered) {
		sort_entries(symbols);
		drop_other_names(symbols);
	}
	if (modules && g_stat(modules, &status) == 0 &&
	    status.st_size <= MAX_MODULES_SIZE &&
	    g_file_get_contents(modules, &modules_text, NULL, NULL))
		parse_modules(loader, modules_text);
	return g_steal_pointer(&loader->symbols);
}

KmtSymTable *kmt_sym_table_load(const char *path, const char *modules,
				GError **error)
{
	KmtSymTableLoader *loader = kmt_sym_table_begin(path, modules, error);

	return loader ? kmt_sym_table_end(loader, error) : NULL;
}

void kmt_sym_table_free(KmtSymTable *symbols)
{
	if (!symbols)
		return;
	g_free(symbols->entries);
	g_array_unref(symbols->modules);
	kmt_sym_text_file_clear(&symbols->file);
	g_free(symbols);
}

guint64 kmt_sym_table_stext(const KmtSymTable *symbols)
{
	return symbols->kernel.start;
}

guint64 kmt_sym_table_text(const KmtSymTable *symbols)
{
	return symbols->text;
}

/* Threads may end the same name at once: with the same byte. */
static const char *entry_name(const KmtSymTable *symbols, const Entry *entry)
{
	char *name = symbols->file.text + entry->name;
	char *end = name + entry->length;

	if (__atomic_load_n(end, __ATOMIC_RELAXED))
		__atomic_store_n(end, '\0', __ATOMIC_RELAXED);
	return name;
}

static const KallsymsModule *entry_module(const KmtSymTable *symbols,
					  const Entry *entry)
{
	return entry->module ? &g_array_index(symbols->modules, KallsymsModule,
					      entry->module - 1u)
			     : NULL;
}

guint kmt_sym_table_count(const KmtSymTable *symbols)
{
	return symbols->n_entries;
}

void kmt_sym_table_get(const KmtSymTable *symbols, guint index,
		       KmtSymEntry *entry)
{
	const Entry *e = &symbols->entries[index];
	const KallsymsModule *module = entry_module(symbols, e);

	entry->address = e->address;
	entry->name = entry_name(symbols, e);
	entry->module = module ? module->name : NULL;
	entry->code = e->code;
}

/* Its number + 1; 0: it has no symbols. */
static guint module_number(const KmtSymTable *symbols, const char *module)
{
	guint i;

	for (i = 0; i < symbols->modules->len; i++)
		if (strcmp(g_array_index(symbols->modules, KallsymsModule, i)
				   .name,
			   module) == 0)
			return i + 1;
	return 0;
}

void kmt_sym_table_foreach_of_module(const KmtSymTable *symbols,
				     const char *module, KmtSymFunc func,
				     gpointer user)
{
	guint i, number = module_number(symbols, module);
	KmtSymEntry entry;

	for (i = 0; number && i < symbols->n_entries; i++) {
		if (symbols->entries[i].module != number)
			continue;
		kmt_sym_table_get(symbols, i, &entry);
		func(&entry, user);
	}
}

guint64 kmt_sym_table_module_start(const KmtSymTable *symbols,
				   const char *module)
{
	guint number = module_number(symbols, module);

	return number ? g_array_index(symbols->modules, KallsymsModule,
				      number - 1)
				.range.start
		      : 0;
}

static gboolean in_range(const TextRange *range, guint64 address)
{
	return address >= range->start && address < range->end;
}

/* Whether the section that holds the function also holds address. */
static gboolean in_section(const KmtSymTable *symbols, const Entry *entry,
			   guint64 address)
{
	const KallsymsModule *module = entry_module(symbols, entry);

	if (address - entry->address >= MAX_FUNCTION_BYTES)
		return FALSE;
	if (module) {
		/* The end of another section of it is not known. */
		if (!in_range(&module->range, entry->address))
			return TRUE;
		return in_range(&module->range, address);
	}
	if (!symbols->kernel.end)
		return TRUE;
	return in_range(&symbols->kernel, address) ||
	       in_range(&symbols->init, address);
}

/* The function that address is in, by the symbol nearest below it. */
static const Entry *find(const KmtSymTable *symbols, guint64 address)
{
	const Entry *entries = symbols->entries, *entry;
	guint low = 0, high = symbols->n_entries;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	entry = &entries[low - 1];
	if (!entry->code || !in_section(symbols, entry, address))
		return NULL;
	return entry;
}

/*
 * A return address is that of the instruction after the call.  Where the call
 * is the last instruction of its function (what it calls does not return, or is
 * the end of a tail), that is the next function already.  So the byte before
 * says which function it was, and the offset is the return address's own: what
 * the kernel prints as %pB in its backtraces, in the form of %pS.
 */
gboolean kmt_sym_table_lookup(const KmtSymTable *symbols, guint64 address,
			      KmtSymbol *symbol)
{
	const Entry *entry = address ? find(symbols, address - 1) : NULL;
	const KallsymsModule *module;

	/* Nothing before it: then it is the start of the first function. */
	if (!entry)
		entry = find(symbols, address);
	if (!entry)
		return FALSE;
	module = entry_module(symbols, entry);
	symbol->name = entry_name(symbols, entry);
	symbol->module = module ? module->name : NULL;
	symbol->offset = address - entry->address;
	return TRUE;
}
