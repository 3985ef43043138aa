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
static void set_problem(KmtSymbolizer *names, const GError *error)
{
	names->problem =
		g_strdup_printf("%s: %s", error->message, NO_NAMES_HINT);
	g_clear_pointer(&names->source, g_free);
}

static void end_captured(KmtSymbolizer *names)
{
	g_autoptr(GError) error = NULL;

	names->symbols = kmt_sym_table_end(names->loader, &error);
	if (!names->symbols)
		set_problem(names, error);
	g_atomic_pointer_set(&names->loader, NULL);
}

/*
 * Number of kallsyms lines per kmt_symbolizer_load_some(). Reading them takes
 * about 5 us.
 */
#define SOME_LINES 256

static void open_captured(KmtSymbolizer *names,
			  const KmtSymbolizerOptions *options,
			  GPtrArray *warnings)
{
	g_autoptr(GError) error = NULL;

	if (!options->captured_kallsyms) {
		warn(warnings,
		     "the capture has no kallsyms that can be read: %s",
		     NO_NAMES_HINT);
		return;
	}
	names->source = g_strdup(options->captured_name);
	names->loader = kmt_sym_table_begin(options->captured_kallsyms,
					    options->captured_modules, &error);
	if (!names->loader)
		set_problem(names, error);
}

gboolean kmt_symbolizer_load_some(const KmtSymbolizer *const_names)
{
	KmtSymbolizer *names = (KmtSymbolizer *)const_names;
	gboolean more;

	if (!g_atomic_pointer_get(&names->loader) ||
	    !g_mutex_trylock(&names->lock))
		return FALSE;
	more = names->loader && kmt_sym_table_go_on(names->loader, SOME_LINES);
	g_mutex_unlock(&names->lock);
	return more;
}

/*
 * Return the symbols. If the captured kallsyms is still being loaded, finish
 * loading first. NULL: there are no symbols.
 */
static KmtSymTable *symbols_of(const KmtSymbolizer *const_names)
{
	KmtSymbolizer *names = (KmtSymbolizer *)const_names;

	if (g_atomic_pointer_get(&names->loader)) {
		g_mutex_lock(&names->lock);
		if (names->loader)
			end_captured(names);
		g_mutex_unlock(&names->lock);
	}
	return names->symbols;
}

/*
 * Warn if a System.map does not match the captured kallsyms. A System.map has
 * the addresses that the kernel was linked for. If the kernel moved itself at
 * boot (KASLR), the captured kallsyms has other addresses.
 */
static void compare_with_captured(const KmtSymbolizer *names,
				  const char *captured_kallsyms,
				  GPtrArray *warnings)
{
	g_autoptr(KmtSymTable) captured = NULL;
	guint64 there, here = kmt_sym_table_stext(names->symbols);

	if (captured_kallsyms)
		captured = kmt_sym_table_load(captured_kallsyms, NULL, NULL);
	if (!captured)
		return;
	there = kmt_sym_table_stext(captured);
	if (here && there && here != there)
		warn(warnings,
		     "'%s' does not match the traced kernel, whose _stext was "
		     "0x%016" G_GINT64_MODIFIER
		     "x, not 0x%016" G_GINT64_MODIFIER
		     "x (another kernel, or moved by KASLR); omit "
		     "--system-map to use the captured kallsyms",
		     names->source, there, here);
}

static gboolean open_symbols(KmtSymbolizer *names,
			     const KmtSymbolizerOptions *options,
			     GPtrArray *warnings, GError **error)
{
	const char *path = options->kallsyms;

	if (!path)
		path = options->system_map;
	if (!path) {
		open_captured(names, options, warnings);
		return TRUE;
	}
	names->symbols =
		kmt_sym_table_load(path, options->captured_modules, error);
	if (!names->symbols)
		return FALSE;
	names->source = g_strdup(path);
	if (options->system_map)
		compare_with_captured(names, options->captured_kallsyms,
				      warnings);
	return TRUE;
}

/* Return @id in lower case, or NULL unless it is hexadecimal. The check is
 * needed because the build ID becomes part of a path. */
static char *checked_build_id(const char *id)
{
	if (!id || strlen(id) < 4 ||
	    id[strspn(id, "0123456789abcdefABCDEF")] != '\0')
		return NULL;
	return g_ascii_strdown(id, -1);
}

static gboolean open_dwarf(KmtSymbolizer *names,
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
	names->dwarf = kmt_sym_dwarf_open(&dwarf_options, symbols_of(names),
					  warnings, error);
	return names->dwarf != NULL;
}

KmtSymbolizer *kmt_symbolizer_open(const KmtSymbolizerOptions *options,
				   GPtrArray *warnings, GError **error)
{
	g_autoptr(KmtSymbolizer) names = g_new0(KmtSymbolizer, 1);

	g_mutex_init(&names->lock);
	names->gfp = kmt_sym_gfp_of_release(options->release);
	if (options->raw)
		return g_steal_pointer(&names);
	if (!open_symbols(names, options, warnings, error) ||
	    !open_dwarf(names, options, warnings, error))
		return NULL;
	if (options->source) {
		names->tree = kmt_sym_build_tree_open(options->source, error);
		if (!names->tree)
			return NULL;
	}
	return g_steal_pointer(&names);
}

void kmt_symbolizer_free(KmtSymbolizer *names)
{
	if (!names)
		return;
	kmt_sym_dwarf_free(names->dwarf);
	kmt_sym_build_tree_free(names->tree);
	kmt_sym_table_drop(names->loader);
	kmt_sym_table_free(names->symbols);
	g_mutex_clear(&names->lock);
	g_free(names->problem);
	g_free(names->source);
	g_free(names);
}

void kmt_symbolizer_check(const KmtSymbolizer *names, const guint64 *addresses,
			  guint n, GPtrArray *warnings)
{
	KmtSymTable *symbols = symbols_of(names);
	guint i, n_unknown = 0, n_known = 0;
	KmtSymbol symbol;

	if (names->problem)
		warn(warnings, "%s", names->problem);
	if (!symbols)
		return;
	/* Address 0 stands for a caller that was not recorded. */
	for (i = 0; i < n; i++)
		if (kmt_sym_table_lookup(symbols, addresses[i], &symbol))
			n_known++;
		else
			n_unknown += addresses[i] != 0;
	/* A System.map has no modules. Call sites in modules normally are fewer
	 * than half of all call sites. */
	if (n_unknown > n_known)
		warn(warnings,
		     "%u of %u call sites lie in no function of '%s': the file "
		     "belongs to another kernel, or has the addresses of this "
		     "kernel before KASLR",
		     n_unknown, n_unknown + n_known, names->source);
	if (names->dwarf)
		kmt_sym_dwarf_check_modules(names->dwarf, addresses, n,
					    warnings);
}

const char *kmt_symbolizer_path(const KmtSymbolizer *names)
{
	symbols_of(names);
	return names->source;
}

gboolean kmt_symbolizer_symbol(const KmtSymbolizer *names, guint64 address,
			       KmtSymbol *symbol)
{
	KmtSymTable *symbols = symbols_of(names);

	return symbols && kmt_sym_table_lookup(symbols, address, symbol);
}

char *kmt_symbolizer_format(const KmtSymbolizer *names, guint64 address)
{
	KmtSymbol symbol;

	if (!kmt_symbolizer_symbol(names, address, &symbol))
		return NULL;
	if (!symbol.module)
		return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x",
				       symbol.name, symbol.offset);
	return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x [%s]", symbol.name,
			       symbol.offset, symbol.module);
}

char *kmt_symbolizer_describe(const KmtSymbolizer *names, guint64 address)
{
	char *name = kmt_symbolizer_format(names, address);
	GString *text;
	KmtSymSourceLine source;
	guint i;

	/* Page tracepoints do not record the caller. */
	if (!name && address == 0)
		return g_strdup("(caller not recorded)");
	if (!name || !kmt_symbolizer_source(names, address, &source))
		return name;
	text = g_string_new(NULL);
	for (i = 0; source.inlined[i]; i++)
		g_string_append_printf(text, "%s <- ", source.inlined[i]);
	g_string_append(text, name);
	if (source.file)
		g_string_append_printf(text, " %s:%u", source.file,
				       source.line);
	g_free(name);
	return g_string_free(text, FALSE);
}

gboolean kmt_symbolizer_source(const KmtSymbolizer *names, guint64 address,
			       KmtSymSourceLine *source)
{
	return names->dwarf &&
	       kmt_sym_dwarf_lookup(names->dwarf, address, source);
}

const char *kmt_symbolizer_directory(const KmtSymbolizer *names,
				     guint64 address)
{
	const char *directory = NULL;
	KmtSymbol symbol;

	if (names->dwarf)
		directory = kmt_sym_dwarf_directory(names->dwarf, address);
	if (!directory && names->tree &&
	    kmt_symbolizer_symbol(names, address, &symbol))
		directory = kmt_sym_build_tree_directory(
			names->tree, symbol.name, symbol.module);
	return directory;
}

char *kmt_symbolizer_gfp(const KmtSymbolizer *names, guint64 flags)
{
	return kmt_sym_gfp_format(names->gfp, flags);
}
