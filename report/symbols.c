// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/symbols.h"

#include <string.h>

/* No function is longer; an address farther behind a symbol is not in it. */
#define MAX_FUNCTION_BYTES (1u << 20)

/* The kernel allows for 512. */
#define MAX_NAME 1024

typedef struct {
	guint64 address;
	const char *name;
	const char *module;
	guint32 line; /* place in the file */
	guint8 code;
	guint8 weak;
} Entry;

typedef struct {
	guint64 start;
	guint64 end; /* the byte after it; 0: unknown */
} Range;

struct KmtSymbols {
	char *text;	     /* the file, cut into strings */
	GArray *entries;     /* of Entry, by address, the best name of each */
	Range kernel;	     /* _stext to _etext */
	Range init;	     /* _sinittext to _einittext */
	GHashTable *modules; /* name -> Range */
};

G_DEFINE_QUARK(kmt - symbols - error - quark, kmt_symbols_error)

/* The types that nm and kallsyms give to functions; weak ones included. */
static gboolean is_code_type(char type)
{
	return strchr("tTwW", type) != NULL;
}

/* Absolute and undefined symbols are numbers, not places. */
static gboolean is_place(char type)
{
	return g_ascii_isalpha(type) && !strchr("aAnNuU", type);
}

static char *next_word(char **text)
{
	char *word = *text + strspn(*text, " \t\r");
	char *end = word + strcspn(word, " \t\r");

	*text = end;
	if (*end)
		*(*text)++ = '\0';
	return word;
}

static gboolean is_printable(const char *word)
{
	for (; *word; word++)
		if (!g_ascii_isgraph(*word))
			return FALSE;
	return TRUE;
}

static gboolean parse_line(char *line, Entry *entry, char *type)
{
	char *address = next_word(&line);
	char *type_word = next_word(&line);
	char *name = next_word(&line);
	char *module = next_word(&line);
	gsize length = strlen(module);

	if (!*name || strlen(name) > MAX_NAME || length > MAX_NAME ||
	    strlen(type_word) != 1 || !is_printable(name) ||
	    !is_printable(module))
		return FALSE;
	if (!g_ascii_string_to_unsigned(address, 16, 0, G_MAXUINT64,
					&entry->address, NULL))
		return FALSE;
	*type = *type_word;
	entry->name = name;
	entry->module = NULL;
	if (length > 2 && module[0] == '[' && module[length - 1] == ']') {
		module[length - 1] = '\0';
		entry->module = module + 1;
	}
	entry->code = is_code_type(*type);
	entry->weak = *type == 'w' || *type == 'W';
	return TRUE;
}

/* Labels that the linker puts at the ends of a section are no functions. */
static void note_label(KmtSymbols *symbols, Entry *entry)
{
	const struct {
		const char *name;
		guint64 *place;
		gboolean end;
	} labels[] = {
		{"_stext", &symbols->kernel.start, FALSE},
		{"_etext", &symbols->kernel.end, TRUE},
		{"_sinittext", &symbols->init.start, FALSE},
		{"_einittext", &symbols->init.end, TRUE},
	};
	guint i;

	for (i = 0; i < G_N_ELEMENTS(labels); i++) {
		if (entry->module || strcmp(entry->name, labels[i].name) != 0)
			continue;
		*labels[i].place = entry->address;
		if (labels[i].end)
			entry->code = FALSE;
	}
}

/* Whether the name looks like __start_x, __stop_x, __end_x, __x_start, ... */
static gboolean is_linker_label(const char *name)
{
	return g_str_has_prefix(name, "__") && strlen(name) >= 8 &&
	       (g_str_has_prefix(name, "__start_") ||
		g_str_has_prefix(name, "__stop_") ||
		g_str_has_prefix(name, "__end_") ||
		g_str_has_suffix(name, "_start") ||
		g_str_has_suffix(name, "_end"));
}

/*
 * Of several names for one address the kernel prints the first by these rules
 * (and sorts its kallsyms by them; a System.map is not so sorted).
 */
static int compare_entries(gconstpointer a, gconstpointer b)
{
	const Entry *x = a, *y = b;
	int order;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->code != y->code)
		return x->code ? -1 : 1;
	order = x->weak - y->weak;
	if (!order)
		order = is_linker_label(x->name) - is_linker_label(y->name);
	if (!order)
		order = (int)strspn(x->name, "_") - (int)strspn(y->name, "_");
	if (!order)
		order = x->line < y->line ? -1 : x->line > y->line;
	return order;
}

/* Leaves the first entry of each address. */
static void drop_other_names(GArray *entries)
{
	Entry *e = (Entry *)(void *)entries->data;
	guint i, n = 0;

	for (i = 0; i < entries->len; i++)
		if (!n || e[n - 1].address != e[i].address)
			e[n++] = e[i];
	g_array_set_size(entries, n);
}

static void parse_symbols(KmtSymbols *symbols, guint *n_valid, gboolean *hidden)
{
	char *line = symbols->text;
	guint32 number = 0;

	*hidden = TRUE;
	while (*line) {
		char *end = line + strcspn(line, "\n");
		char *next = *end ? end + 1 : end;
		Entry entry;
		char type;

		*end = '\0';
		if (parse_line(line, &entry, &type)) {
			(*n_valid)++;
			*hidden &= entry.address == 0;
			entry.line = number;
			note_label(symbols, &entry);
			if (is_place(type) && entry.address)
				g_array_append_val(symbols->entries, entry);
		}
		number++;
		line = next;
	}
	g_array_sort(symbols->entries, compare_entries);
	drop_other_names(symbols->entries);
}

/* "name size refcount users state address"; what does not fit is left out. */
static void parse_modules(KmtSymbols *symbols, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	guint i;

	for (i = 0; lines[i]; i++) {
		g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
		guint64 size;
		Range range;

		if (g_strv_length(words) < 6)
			continue;
		if (!g_ascii_string_to_unsigned(words[1], 10, 1, G_MAXUINT32,
						&size, NULL))
			continue;
		range.start = g_ascii_strtoull(words[5], NULL, 16);
		if (!range.start || range.start > G_MAXUINT64 - size)
			continue;
		range.end = range.start + size;
		g_hash_table_insert(symbols->modules, g_strdup(words[0]),
				    g_memdup2(&range, sizeof(range)));
	}
}

KmtSymbols *kmt_symbols_load(const char *path, const char *modules,
			     GError **error)
{
	g_autoptr(KmtSymbols) symbols = g_new0(KmtSymbols, 1);
	g_autofree char *modules_text = NULL;
	g_autoptr(GError) read_error = NULL;
	gboolean hidden = FALSE;
	guint n_valid = 0;
	gsize length, i;

	symbols->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
	symbols->modules =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	if (!g_file_get_contents(path, &symbols->text, &length, &read_error)) {
		g_set_error(error, KMT_SYMBOLS_ERROR, KMT_SYMBOLS_ERROR_READ,
			    "cannot read the symbols: %s", read_error->message);
		return NULL;
	}
	/* Damage must not hide the lines behind it. */
	for (i = 0; i < length; i++)
		if (!symbols->text[i])
			symbols->text[i] = '\n';
	parse_symbols(symbols, &n_valid, &hidden);
	if (n_valid == 0) {
		g_set_error(error, KMT_SYMBOLS_ERROR, KMT_SYMBOLS_ERROR_FORMAT,
			    "no symbols in '%s': neither /proc/kallsyms nor a "
			    "System.map",
			    path);
		return NULL;
	}
	if (hidden) {
		g_set_error(error, KMT_SYMBOLS_ERROR, KMT_SYMBOLS_ERROR_HIDDEN,
			    "all addresses in '%s' are 0: copied under "
			    "kptr_restrict, without the right to see them",
			    path);
		return NULL;
	}
	if (modules && g_file_get_contents(modules, &modules_text, NULL, NULL))
		parse_modules(symbols, modules_text);
	return g_steal_pointer(&symbols);
}

void kmt_symbols_free(KmtSymbols *symbols)
{
	if (!symbols)
		return;
	g_array_unref(symbols->entries);
	g_hash_table_unref(symbols->modules);
	g_free(symbols->text);
	g_free(symbols);
}

guint64 kmt_symbols_stext(const KmtSymbols *symbols)
{
	return symbols->kernel.start;
}

static gboolean in_range(const Range *range, guint64 address)
{
	return address >= range->start && address < range->end;
}

/* Whether the section that holds the function also holds address. */
static gboolean in_section(const KmtSymbols *symbols, const Entry *entry,
			   guint64 address)
{
	const Range *range;

	if (address - entry->address >= MAX_FUNCTION_BYTES)
		return FALSE;
	if (entry->module) {
		range = g_hash_table_lookup(symbols->modules, entry->module);
		/* The end of another section of it is not known. */
		if (!range || !in_range(range, entry->address))
			return TRUE;
		return in_range(range, address);
	}
	if (!symbols->kernel.end)
		return TRUE;
	return in_range(&symbols->kernel, address) ||
	       in_range(&symbols->init, address);
}

/* The function that address is in, by the symbol nearest below it. */
static const Entry *find(const KmtSymbols *symbols, guint64 address)
{
	guint low = 0, high = symbols->entries->len;
	const Entry *entries = (const Entry *)(void *)symbols->entries->data;
	const Entry *entry;

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
gboolean kmt_symbols_lookup(const KmtSymbols *symbols, guint64 address,
			    KmtSymbol *symbol)
{
	const Entry *entry = address ? find(symbols, address - 1) : NULL;

	/* Nothing before it: then it is the start of the first function. */
	if (!entry)
		entry = find(symbols, address);
	if (!entry)
		return FALSE;
	symbol->name = entry->name;
	symbol->module = entry->module;
	symbol->offset = address - entry->address;
	return TRUE;
}
