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

/* That they cannot be loaded is told by kmt_names_check(). */
static void set_problem(KmtNames *names, const GError *error)
{
	names->problem =
		g_strdup_printf("%s: %s", error->message, NO_NAMES_HINT);
	g_clear_pointer(&names->source, g_free);
}

static void end_captured(KmtNames *names)
{
	g_autoptr(GError) error = NULL;

	names->symbols = kmt_symbols_end(names->loader, &error);
	if (!names->symbols)
		set_problem(names, error);
	g_atomic_pointer_set(&names->loader, NULL);
}

/* Lines of kallsyms that are read at once: some 5 us. */
#define SOME_LINES 256

static void open_captured(KmtNames *names, const KmtCapture *capture,
			  const char *modules, GPtrArray *warnings)
{
	g_autofree char *path = kmt_capture_path(capture, "kallsyms");
	g_autoptr(GError) error = NULL;

	if (!path) {
		warn(warnings,
		     "the capture has no kallsyms that can be read: %s",
		     NO_NAMES_HINT);
		return;
	}
	names->source = kmt_capture_path_name(capture, path);
	names->loader = kmt_symbols_begin(path, modules, &error);
	if (!names->loader)
		set_problem(names, error);
}

gboolean kmt_names_load_some(const KmtNames *const_names)
{
	KmtNames *names = (KmtNames *)const_names;
	gboolean more;

	if (!g_atomic_pointer_get(&names->loader) ||
	    !g_mutex_trylock(&names->lock))
		return FALSE;
	more = names->loader && kmt_symbols_go_on(names->loader, SOME_LINES);
	g_mutex_unlock(&names->lock);
	return more;
}

/* They may not be loaded yet. */
static KmtSymbols *symbols_of(const KmtNames *const_names)
{
	KmtNames *names = (KmtNames *)const_names;

	if (g_atomic_pointer_get(&names->loader)) {
		g_mutex_lock(&names->lock);
		if (names->loader)
			end_captured(names);
		g_mutex_unlock(&names->lock);
	}
	return names->symbols;
}

/*
 * A System.map has the addresses that the kernel was linked for.  If the kernel
 * moved itself at boot (KASLR), the captured kallsyms shows it.
 */
static void compare_with_captured(const KmtNames *names,
				  const KmtCapture *capture,
				  GPtrArray *warnings)
{
	g_autofree char *path = kmt_capture_path(capture, "kallsyms");
	g_autoptr(KmtSymbols) captured = NULL;
	guint64 there, here = kmt_symbols_stext(names->symbols);

	if (path)
		captured = kmt_symbols_load(path, NULL, NULL);
	if (!captured)
		return;
	there = kmt_symbols_stext(captured);
	if (here && there && here != there)
		warn(warnings,
		     "'%s' does not fit: the traced kernel's _stext was "
		     "0x%016" G_GINT64_MODIFIER
		     "x, not 0x%016" G_GINT64_MODIFIER
		     "x (another kernel, or moved by KASLR); leave "
		     "--system-map "
		     "out to use the captured kallsyms",
		     names->source, there, here);
}

static gboolean open_symbols(KmtNames *names, const KmtCapture *capture,
			     const KmtNamesOptions *options,
			     GPtrArray *warnings, GError **error)
{
	g_autofree char *modules = kmt_capture_path(capture, "modules");
	const char *path = options->kallsyms;

	if (!path)
		path = options->system_map;
	if (!path) {
		open_captured(names, capture, modules, warnings);
		return TRUE;
	}
	names->symbols = kmt_symbols_load(path, modules, error);
	if (!names->symbols)
		return FALSE;
	names->source = g_strdup(path);
	if (options->system_map)
		compare_with_captured(names, capture, warnings);
	return TRUE;
}

static char *meta_value(const KmtCapture *capture, const char *key)
{
	if (!capture->meta)
		return NULL;
	return g_key_file_get_string(capture->meta, "capture", key, NULL);
}

/* In lower case; NULL if it is none: paths are made of it. */
static char *captured_build_id(const KmtCapture *capture)
{
	char *id = meta_value(capture, "build_id");

	if (id && (strlen(id) < 4 || id[strspn(id, "0123456789abcdefABCDEF")]))
		g_clear_pointer(&id, g_free);
	if (id) {
		g_autofree char *given = id;

		id = g_ascii_strdown(given, -1);
	}
	return id;
}

static gboolean open_dwarf(KmtNames *names, const KmtCapture *capture,
			   const KmtNamesOptions *options, const char *release,
			   GPtrArray *warnings, GError **error)
{
	g_autofree char *build_id = captured_build_id(capture);
	const KmtDwarfOptions dwarf_options = {
		.vmlinux = options->vmlinux,
		.debug_dir = options->debug_dir,
		.build_id = build_id,
		/* Paths are made of it. */
		.release = release && !strchr(release, '/') ? release : NULL,
	};

	if (!options->vmlinux && !options->debug_dir)
		return TRUE;
	names->dwarf = kmt_dwarf_open(&dwarf_options, symbols_of(names),
				      warnings, error);
	return names->dwarf != NULL;
}

KmtNames *kmt_names_open(const KmtCapture *capture,
			 const KmtNamesOptions *options, GPtrArray *warnings,
			 GError **error)
{
	g_autoptr(KmtNames) names = g_new0(KmtNames, 1);
	g_autofree char *release = meta_value(capture, "kernel_release");

	g_mutex_init(&names->lock);
	names->gfp = kmt_gfp_of_release(release);
	if (options->raw)
		return g_steal_pointer(&names);
	if (!open_symbols(names, capture, options, warnings, error) ||
	    !open_dwarf(names, capture, options, release, warnings, error))
		return NULL;
	if (options->source) {
		names->tree = kmt_tree_open(options->source, error);
		if (!names->tree)
			return NULL;
	}
	return g_steal_pointer(&names);
}

void kmt_names_free(KmtNames *names)
{
	if (!names)
		return;
	kmt_dwarf_free(names->dwarf);
	kmt_tree_free(names->tree);
	kmt_symbols_drop(names->loader);
	kmt_symbols_free(names->symbols);
	g_mutex_clear(&names->lock);
	g_free(names->problem);
	g_free(names->source);
	g_free(names);
}

void kmt_names_check(const KmtNames *names, const guint64 *addresses, guint n,
		     GPtrArray *warnings)
{
	KmtSymbols *symbols = symbols_of(names);
	guint i, n_unknown = 0, n_known = 0;
	KmtSymbol symbol;

	if (names->problem)
		warn(warnings, "%s", names->problem);
	if (!symbols)
		return;
	/* Address 0 is a caller that was not recorded. */
	for (i = 0; i < n; i++)
		if (kmt_symbols_lookup(symbols, addresses[i], &symbol))
			n_known++;
		else
			n_unknown += addresses[i] != 0;
	/* Those in modules that a System.map does not have stay below half. */
	if (n_unknown > n_known)
		warn(warnings,
		     "%u of %u call sites lie in no function of '%s': it is "
		     "of another kernel, or of this one before KASLR moved it",
		     n_unknown, n_unknown + n_known, names->source);
	if (names->dwarf)
		kmt_dwarf_check_modules(names->dwarf, addresses, n, warnings);
}

const char *kmt_names_path(const KmtNames *names)
{
	symbols_of(names);
	return names->source;
}

gboolean kmt_names_symbol(const KmtNames *names, guint64 address,
			  KmtSymbol *symbol)
{
	KmtSymbols *symbols = symbols_of(names);

	return symbols && kmt_symbols_lookup(symbols, address, symbol);
}

char *kmt_names_format(const KmtNames *names, guint64 address)
{
	KmtSymbol symbol;

	if (!kmt_names_symbol(names, address, &symbol))
		return NULL;
	if (!symbol.module)
		return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x",
				       symbol.name, symbol.offset);
	return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x [%s]", symbol.name,
			       symbol.offset, symbol.module);
}

char *kmt_names_describe(const KmtNames *names, guint64 address)
{
	char *name = kmt_names_format(names, address);
	GString *text;
	KmtSourceLine source;
	guint i;

	/* Of pages, tracepoints do not tell it. */
	if (!name && address == 0)
		return g_strdup("(caller not recorded)");
	if (!name || !kmt_names_source(names, address, &source))
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

gboolean kmt_names_source(const KmtNames *names, guint64 address,
			  KmtSourceLine *source)
{
	return names->dwarf && kmt_dwarf_lookup(names->dwarf, address, source);
}

const char *kmt_names_directory(const KmtNames *names, guint64 address)
{
	const char *directory = NULL;
	KmtSymbol symbol;

	if (names->dwarf)
		directory = kmt_dwarf_directory(names->dwarf, address);
	if (!directory && names->tree &&
	    kmt_names_symbol(names, address, &symbol))
		directory = kmt_tree_directory(names->tree, symbol.name,
					       symbol.module);
	return directory;
}

char *kmt_names_gfp(const KmtNames *names, guint64 flags)
{
	return kmt_gfp_format(names->gfp, flags);
}
