// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "lib/symbols/symbolizer.h"

#include <string.h>

static void warn(GPtrArray *warnings, const char *format, ...)
	G_GNUC_PRINTF(2, 3);

static void warn(GPtrArray *warnings, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(warnings, g_strdup_vprintf(format, args));
	va_end(args);
}

#define NO_NAMES_HINT                                                          \
	"call sites are shown as addresses; name the kernel's symbols with "   \
	"--kallsyms or --system-map"

/*
 * Record why the symbols cannot be loaded. kmt_symbolizer_check() reports the
 * problem.
 */
static void set_load_error(KmtSymbolizer *symbolizer, const GError *error)
{
	symbolizer->load_error =
		g_strdup_printf("%s: %s", error->message, NO_NAMES_HINT);
	g_clear_pointer(&symbolizer->source, g_free);
}

static void open_captured(KmtSymbolizer *symbolizer,
			  const KmtSymbolizerOptions *options,
			  GPtrArray *warnings)
{
	if (!options->captured_kallsyms) {
		warn(warnings,
		     "the capture has no kallsyms that can be read: %s",
		     NO_NAMES_HINT);
		return;
	}
	symbolizer->source = g_strdup(options->captured_name);
	symbolizer->captured_kallsyms = g_strdup(options->captured_kallsyms);
	symbolizer->captured_modules = g_strdup(options->captured_modules);
}

static void load_captured(KmtSymbolizer *symbolizer)
{
	g_autoptr(GError) error = NULL;

	symbolizer->symbols =
		kmt_sym_table_load(symbolizer->captured_kallsyms,
				   symbolizer->captured_modules, &error);
	if (!symbolizer->symbols)
		set_load_error(symbolizer, error);
	g_clear_pointer(&symbolizer->captured_modules, g_free);
	g_free(symbolizer->captured_kallsyms);
	g_atomic_pointer_set(&symbolizer->captured_kallsyms, NULL);
}

/*
 * Return the symbols. The first call loads the captured kallsyms. NULL: there
 * are no symbols.
 */
static KmtSymTable *get_symbols(const KmtSymbolizer *const_symbolizer)
{
	KmtSymbolizer *symbolizer = (KmtSymbolizer *)const_symbolizer;

	if (g_atomic_pointer_get(&symbolizer->captured_kallsyms)) {
		g_mutex_lock(&symbolizer->lock);
		if (symbolizer->captured_kallsyms)
			load_captured(symbolizer);
		g_mutex_unlock(&symbolizer->lock);
	}
	return symbolizer->symbols;
}

/*
 * Warn if a System.map does not match the captured kallsyms. A System.map has
 * the addresses that the kernel was linked for. If the kernel moved itself at
 * boot (KASLR), the captured kallsyms has other addresses.
 */
static void compare_with_captured(const KmtSymbolizer *symbolizer,
				  const char *captured_kallsyms,
				  GPtrArray *warnings)
{
	g_autoptr(KmtSymTable) captured = NULL;
	guint64 captured_stext,
		map_stext = kmt_sym_table_stext(symbolizer->symbols);

	if (captured_kallsyms)
		captured = kmt_sym_table_load(captured_kallsyms, NULL, NULL);
	if (!captured)
		return;
	captured_stext = kmt_sym_table_stext(captured);
	if (map_stext && captured_stext && map_stext != captured_stext)
		warn(warnings,
		     "'%s' does not match the traced kernel, whose _stext was "
		     "0x%016" G_GINT64_MODIFIER
		     "x, not 0x%016" G_GINT64_MODIFIER
		     "x (another kernel, or moved by KASLR); omit "
		     "--system-map to use the captured kallsyms",
		     symbolizer->source, captured_stext, map_stext);
}

static gboolean open_symbols(KmtSymbolizer *symbolizer,
			     const KmtSymbolizerOptions *options,
			     GPtrArray *warnings, GError **error)
{
	const char *path = options->kallsyms;

	if (!path)
		path = options->system_map;
	if (!path) {
		open_captured(symbolizer, options, warnings);
		return TRUE;
	}
	symbolizer->symbols =
		kmt_sym_table_load(path, options->captured_modules, error);
	if (!symbolizer->symbols)
		return FALSE;
	symbolizer->source = g_strdup(path);
	if (options->system_map)
		compare_with_captured(symbolizer, options->captured_kallsyms,
				      warnings);
	return TRUE;
}

/* Return @id in lower case, or NULL unless it consists of at least four
 * hexadecimal digits. The check is needed because the build ID becomes part of
 * a path. */
static char *checked_build_id(const char *id)
{
	if (!id || strlen(id) < 4 ||
	    id[strspn(id, "0123456789abcdefABCDEF")] != '\0')
		return NULL;
	return g_ascii_strdown(id, -1);
}

static gboolean open_dwarf(KmtSymbolizer *symbolizer,
			   const KmtSymbolizerOptions *options,
			   GPtrArray *warnings, GError **error)
{
	g_autofree char *build_id = checked_build_id(options->build_id);
	const char *release = options->release;
	const KmtSymDwarfOptions dwarf_options = {
		.vmlinux = options->vmlinux,
		.debug_dir = options->debug_dir,
		.build_id = build_id,
		/* The release becomes part of a path, so reject a slash. */
		.release = release && !strchr(release, '/') ? release : NULL,
	};

	if (!options->vmlinux && !options->debug_dir)
		return TRUE;
	symbolizer->dwarf = kmt_sym_dwarf_open(
		&dwarf_options, get_symbols(symbolizer), warnings, error);
	return symbolizer->dwarf != NULL;
}

KmtSymbolizer *kmt_symbolizer_open(const KmtSymbolizerOptions *options,
				   GPtrArray *warnings, GError **error)
{
	g_autoptr(KmtSymbolizer) symbolizer = g_new0(KmtSymbolizer, 1);

	g_mutex_init(&symbolizer->lock);
	symbolizer->gfp = kmt_sym_gfp_of_release(options->release);
	if (options->raw)
		return g_steal_pointer(&symbolizer);
	if (options->n_tags)
		symbolizer->tags =
			kmt_sym_tags_new(options->tags, options->n_tags);
	if (!open_symbols(symbolizer, options, warnings, error) ||
	    !open_dwarf(symbolizer, options, warnings, error))
		return NULL;
	if (options->source) {
		symbolizer->tree =
			kmt_sym_build_tree_open(options->source, error);
		if (!symbolizer->tree)
			return NULL;
	}
	return g_steal_pointer(&symbolizer);
}

void kmt_symbolizer_free(KmtSymbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	kmt_sym_dwarf_free(symbolizer->dwarf);
	kmt_sym_build_tree_free(symbolizer->tree);
	kmt_sym_tags_free(symbolizer->tags);
	g_free(symbolizer->captured_kallsyms);
	g_free(symbolizer->captured_modules);
	kmt_sym_table_free(symbolizer->symbols);
	g_mutex_clear(&symbolizer->lock);
	g_free(symbolizer->load_error);
	g_free(symbolizer->source);
	g_free(symbolizer);
}

void kmt_symbolizer_check(const KmtSymbolizer *symbolizer,
			  const guint64 *addresses, guint n,
			  GPtrArray *warnings)
{
	KmtSymTable *symbols = get_symbols(symbolizer);
	guint i, n_unknown = 0, n_known = 0;
	KmtSymbol symbol;

	if (symbolizer->load_error)
		warn(warnings, "%s", symbolizer->load_error);
	if (!symbols)
		return;
	/* Address 0 stands for a caller that was not recorded. */
	for (i = 0; i < n; i++) {
		/* A tag of any time names the address. */
		KmtSymSite site = kmt_symbolizer_alloc_site(
			symbolizer, addresses[i], G_MININT64);

		if (kmt_symbolizer_symbol(symbolizer, &site, &symbol))
			n_known++;
		else
			n_unknown += addresses[i] != 0;
	}
	/* A System.map has no modules. Call sites in modules normally are fewer
	 * than half of all call sites. */
	if (n_unknown > n_known)
		warn(warnings,
		     "%u of %u call sites lie in no function of '%s': the file "
		     "belongs to another kernel, or has the addresses of this "
		     "kernel before KASLR",
		     n_unknown, n_unknown + n_known, symbolizer->source);
	if (symbolizer->dwarf)
		kmt_sym_dwarf_check_modules(symbolizer->dwarf, addresses, n,
					    warnings);
}

const char *kmt_symbolizer_path(const KmtSymbolizer *symbolizer)
{
	get_symbols(symbolizer);
	return symbolizer->source;
}

/*
 * Return whether a symbol is that of a function. The compiler may have added a
 * suffix, as in function.isra.0.
 */
static gboolean is_function(const char *symbol, const char *function)
{
	gsize n = strlen(function);

	return strncmp(symbol, function, n) == 0 &&
	       (!symbol[n] || symbol[n] == '.');
}

KmtSymSite kmt_symbolizer_alloc_site(const KmtSymbolizer *symbolizer,
				     guint64 address, gint64 time)
{
	return (KmtSymSite){
		address, kmt_sym_tags_lookup(symbolizer->tags, address, time)};
}

gboolean kmt_symbolizer_symbol(const KmtSymbolizer *symbolizer,
			       const KmtSymSite *site, KmtSymbol *symbol)
{
	const KmtSymTag *tag = site->tag;
	KmtSymTable *symbols = get_symbols(symbolizer);
	gboolean found =
		symbols && kmt_sym_table_lookup(symbols, site->address, symbol);

	/*
	 * If the address is in the function that its tag names, return this
	 * function with the offset. Otherwise return the function of the tag:
	 * the compiler inlined that function into the function at the address,
	 * or the address is that of the tag itself and in no function, or
	 * another module had the address when the symbols were captured.
	 */
	if (!tag || (found && is_function(symbol->name, tag->function)))
		return found;
	*symbol = (KmtSymbol){.name = tag->function,
			      .module = tag->module,
			      .line = tag->line};
	return TRUE;
}

guint64 kmt_symbolizer_stext(const KmtSymbolizer *symbolizer)
{
	KmtSymTable *symbols = get_symbols(symbolizer);

	return symbols ? kmt_sym_table_stext(symbols) : 0;
}

/* Append an offset as "+0x1f". */
static void append_offset(GString *text, guint64 offset)
{
	char digits[3 + 16];
	gsize first = sizeof(digits);

	do {
		digits[--first] = "0123456789abcdef"[offset & 15];
		offset >>= 4;
	} while (offset);
	first -= 3;
	memcpy(digits + first, "+0x", 3);
	g_string_append_len(text, digits + first,
			    (gssize)(sizeof(digits) - first));
}

/* Append a symbol as kmt_symbolizer_format() formats it. A comparison calls
 * this function for each call site of each capture; g_string_append_printf()
 * takes five times the instructions. */
static void append_symbol(GString *text, const KmtSymbol *symbol)
{
	g_string_append(text, symbol->name);
	if (!symbol->line)
		append_offset(text, symbol->offset);
	if (symbol->module) {
		g_string_append_len(text, " [", 2);
		g_string_append(text, symbol->module);
		g_string_append_c(text, ']');
	}
}

char *kmt_symbolizer_format(const KmtSymbolizer *symbolizer,
			    const KmtSymSite *site)
{
	KmtSymbol symbol;
	GString *text;

	if (!kmt_symbolizer_symbol(symbolizer, site, &symbol))
		return NULL;
	text = g_string_new(NULL);
	append_symbol(text, &symbol);
	return g_string_free(text, FALSE);
}

void kmt_symbolizer_append(GString *text, const KmtSymbol *symbol,
			   const KmtSymSourceLine *source)
{
	guint i;

	for (i = 0; source && source->inlined[i]; i++) {
		g_string_append(text, source->inlined[i]);
		g_string_append(text, " <- ");
	}
	append_symbol(text, symbol);
	if (source && source->file)
		g_string_append_printf(text, " %s:%u", source->file,
				       source->line);
}

char *kmt_symbolizer_describe(const KmtSymbolizer *symbolizer,
			      const KmtSymSite *site)
{
	KmtSymSourceLine source;
	KmtSymbol symbol;
	GString *text;

	/* Page tracepoints do not record the caller. */
	if (!kmt_symbolizer_symbol(symbolizer, site, &symbol))
		return site->address ? NULL : g_strdup("(caller not recorded)");
	text = g_string_new(NULL);
	kmt_symbolizer_append(text, &symbol,
			      kmt_symbolizer_source(symbolizer, site, &source)
				      ? &source
				      : NULL);
	return g_string_free(text, FALSE);
}

gboolean kmt_symbolizer_source(const KmtSymbolizer *symbolizer,
			       const KmtSymSite *site, KmtSymSourceLine *source)
{
	static const char *const none[] = {NULL};
	const KmtSymTag *tag = site->tag;

	if (tag) {
		*source = (KmtSymSourceLine){tag->file, tag->line, none};
		return TRUE;
	}
	return symbolizer->dwarf &&
	       kmt_sym_dwarf_lookup(symbolizer->dwarf, site->address, source);
}

const char *kmt_symbolizer_directory(const KmtSymbolizer *symbolizer,
				     const KmtSymSite *site)
{
	const char *directory = NULL;
	KmtSymbol symbol;

	if (site->tag)
		return site->tag->directory;
	if (symbolizer->dwarf)
		directory = kmt_sym_dwarf_directory(symbolizer->dwarf,
						    site->address);
	if (!directory && symbolizer->tree &&
	    kmt_symbolizer_symbol(symbolizer, site, &symbol))
		directory = kmt_sym_build_tree_directory(
			symbolizer->tree, symbol.name, symbol.module);
	return directory;
}

char *kmt_symbolizer_gfp(const KmtSymbolizer *symbolizer, guint64 flags)
{
	return kmt_sym_gfp_format(symbolizer->gfp, flags);
}
