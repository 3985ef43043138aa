// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: a kallsyms file, followed by a line "--modules--" and the text
 * of /proc/modules. The table that lib/symbols loads is compared with the
 * result of a slow and simple reader.
 */
#include "config.h"

#include "fuzz/exercise.h"
#include "fuzz/scratch.h"
#include "fuzz/target.h"
#include "lib/symbols/kallsyms.h"

#include <string.h>
#include <unistd.h>

#define SEPARATOR "--modules--\n"
/* Size that a pipe accepts before anyone reads from it, in bytes. */
#define MAX_PIPE   60000
#define MAX_NAME   1024
#define MAX_LOOKUP 200

/* ---- simple reader ---- */

typedef struct {
	guint64 address;
	char *name;
	char *module;
} Line;

static void clear_line(gpointer p)
{
	Line *line = p;

	g_free(line->name);
	g_free(line->module);
}

static gboolean is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Return the next word of a line. Return NULL if there is none, or if the word
 * has a byte that is not allowed in a word. The caller frees the word. */
static char *next_word(const char **at)
{
	const char *start;

	while (is_blank(**at))
		(*at)++;
	start = *at;
	while (**at && !is_blank(**at)) {
		if (!g_ascii_isgraph(**at))
			return NULL;
		(*at)++;
	}
	return *at > start ? g_strndup(start, (gsize)(*at - start)) : NULL;
}

/*
 * Parse a line without its newline. Return FALSE if the line does not describe
 * a symbol.
 */
static gboolean read_line(const char *text, Line *line)
{
	g_autofree char *address = next_word(&text), *type = NULL;
	g_autofree char *name = NULL, *module = NULL;
	gsize length;

	/* A carriage return is not accepted after the address. */
	if (!address || *text == '\r' ||
	    strspn(address, "0123456789abcdefABCDEF") != strlen(address))
		return FALSE;
	while (address[0] == '0' && address[1])
		memmove(address, address + 1, strlen(address));
	if (strlen(address) > 16)
		return FALSE;
	line->address = g_ascii_strtoull(address, NULL, 16);
	/* Any byte may be the type of a well-formed line; the check below
	 * accepts only types of symbols with an address. */
	while (is_blank(*text))
		text++;
	if (!*text || (text[1] && !is_blank(text[1])))
		return FALSE;
	type = g_strndup(text, 1);
	text++;
	name = next_word(&text);
	if (!name || strlen(name) > MAX_NAME)
		return FALSE;
	while (is_blank(*text))
		text++;
	if (*text) {
		module = next_word(&text);
		if (*text && !is_blank(*text))
			return FALSE;
		length = module ? strlen(module) : 0;
		if (length > MAX_NAME)
			return FALSE;
		if (length > 2 && *module == '[' && module[length - 1] == ']')
			line->module = g_strndup(module + 1, length - 2);
	}
	line->name = g_steal_pointer(&name);
	if (!line->address || !g_ascii_isalpha(*type) ||
	    strchr("aAnNuU", *type) || line->name[0] == '$' ||
	    g_str_has_prefix(line->name, ".L") ||
	    g_str_has_prefix(line->name, "L0")) {
		clear_line(line);
		return FALSE;
	}
	return TRUE;
}

static GArray *read_lines(const char *text, gsize size)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(Line));
	const char *at = text, *end = text + size;

	g_array_set_clear_func(lines, clear_line);
	while (at < end) {
		const char *stop = at;
		g_autofree char *copy = NULL;
		Line line = {0};

		while (stop < end && *stop && *stop != '\n')
			stop++;
		copy = g_strndup(at, (gsize)(stop - at));
		if (read_line(copy, &line))
			g_array_append_val(lines, line);
		at = stop + 1;
	}
	return lines;
}

/*
 * Check that each symbol of the table is a line, and that each address of a
 * line has a symbol.
 */
static void compare_lines(const KmtSymTable *symbols, const GArray *lines)
{
	g_autoptr(GHashTable) seen =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) addresses =
		g_hash_table_new(g_int64_hash, g_int64_equal);
	KmtSymEntry entry;
	guint i;

	for (i = 0; i < lines->len; i++) {
		Line *line = &g_array_index(lines, Line, i);

		g_hash_table_add(addresses, &line->address);
		g_hash_table_add(
			seen,
			g_strdup_printf("%" G_GINT64_MODIFIER "x %s %s",
					line->address, line->name,
					line->module ? line->module : ""));
	}
	for (i = 0; i < kmt_sym_table_count(symbols); i++) {
		g_autofree char *key = NULL;

		kmt_sym_table_get(symbols, i, &entry);
		key = g_strdup_printf("%" G_GINT64_MODIFIER "x %s %s",
				      entry.address, entry.name,
				      entry.module ? entry.module : "");
		g_assert_true(g_hash_table_contains(seen, key));
	}
	g_assert_cmpuint(g_hash_table_size(addresses), ==,
			 kmt_sym_table_count(symbols));
}

/* ---- reader under test ---- */

static void count_entry(const KmtSymEntry *entry, gpointer user)
{
	++*(guint *)user;
}

/*
 * Look up an address. A symbol that is found must be at or below the address,
 * not too far away, and have a name.
 */
static void check_lookup(const KmtSymTable *symbols, guint64 address)
{
	KmtSymbol symbol = {0};

	if (!kmt_sym_table_lookup(symbols, address, &symbol))
		return;
	g_assert_nonnull(symbol.name);
	g_assert_cmpuint(strlen(symbol.name), >, 0);
	g_assert_cmpuint(symbol.offset, <=, address);
	g_assert_cmpuint(symbol.offset, <=, 1u << 20);
}

static void check_lookups_near(const KmtSymTable *symbols,
			       const KmtSymEntry *entry)
{
	static const guint64 offsets[] = {0,	   1,	     2,	      0xfff,
					  0xfffff, 0x100000, 0x100001};
	guint i, n = 0;

	for (i = 0; i < G_N_ELEMENTS(offsets); i++) {
		check_lookup(symbols, entry->address + offsets[i]);
		check_lookup(symbols, entry->address - offsets[i]);
	}
	if (!entry->module)
		return;
	kmt_sym_table_foreach_of_module(symbols, entry->module, count_entry,
					&n);
	g_assert_cmpuint(n, >, 0);
	check_lookup(symbols,
		     kmt_sym_table_module_start(symbols, entry->module));
}

static void check_symbols(const KmtSymTable *symbols)
{
	KmtSymEntry entry;
	guint64 last = 0;
	guint i;

	for (i = 0; i < kmt_sym_table_count(symbols); i++) {
		kmt_sym_table_get(symbols, i, &entry);
		g_assert_cmphex(entry.address, >, last);
		last = entry.address;
		if (i < MAX_LOOKUP)
			check_lookups_near(symbols, &entry);
	}
	check_lookup(symbols, 0);
	check_lookup(symbols, G_MAXUINT64);
	check_lookup(symbols, kmt_sym_table_stext(symbols));
	check_lookup(symbols, kmt_sym_table_text(symbols));
}

static void compare_tables(const KmtSymTable *a, const KmtSymTable *b)
{
	KmtSymEntry x, y;
	guint i;

	g_assert_cmpuint(kmt_sym_table_count(a), ==, kmt_sym_table_count(b));
	for (i = 0; i < kmt_sym_table_count(a); i++) {
		kmt_sym_table_get(a, i, &x);
		kmt_sym_table_get(b, i, &y);
		g_assert_cmphex(x.address, ==, y.address);
		g_assert_cmpstr(x.name, ==, y.name);
		g_assert_cmpstr(x.module, ==, y.module);
	}
}

/* Load the text through a pipe, which uses read() instead of mmap(). */
static KmtSymTable *load_pipe(const char *text, gsize size)
{
	g_autofree char *path = NULL;
	KmtSymTable *symbols;
	int ends[2];

	if (pipe(ends) < 0 || write(ends[1], text, size) != (gssize)size)
		g_error("cannot write to a pipe");
	close(ends[1]);
	path = g_strdup_printf("/proc/self/fd/%d", ends[0]);
	symbols = kmt_sym_table_load(path, NULL, NULL);
	close(ends[0]);
	return symbols;
}

static void check_text(const char *text, gsize size, const char *modules)
{
	const char *path = kmt_scratch_write("kallsyms", text, size);
	g_autoptr(GError) error = NULL;
	g_autoptr(KmtSymTable) symbols =
		kmt_sym_table_load(path, modules, &error);
	g_autoptr(KmtSymTable) piped = NULL;
	g_autoptr(GArray) lines = NULL;

	g_assert_true((symbols == NULL) == (error != NULL));
	if (size <= MAX_PIPE) {
		piped = load_pipe(text, size);
		g_assert_true((symbols == NULL) == (piped == NULL));
	}
	if (!symbols)
		return;
	if (piped)
		compare_tables(symbols, piped);
	check_symbols(symbols);
	/* @text has no NULs behind names: check_symbols() wrote such NULs, but
	 * only into the symbol table's private mapping of the file. */
	lines = read_lines(text, size);
	compare_lines(symbols, lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *modules = NULL;
	gsize before = size;

	kmt_exercise_begin();
	kmt_scratch_directory();
	if (size) {
		modules = memmem(text, size, SEPARATOR, strlen(SEPARATOR));
	}
	if (modules) {
		before = (gsize)(modules - text);
		modules += strlen(SEPARATOR);
		modules = kmt_scratch_write("modules", modules,
					    size - before - strlen(SEPARATOR));
	}
	check_text(text, before, modules);
	kmt_scratch_clear();
	return 0;
}
