// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include "report/names.h"

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

static void open_captured(KmtNames *names, const KmtCapture *capture,
			  const char *modules, GPtrArray *warnings)
{
	g_autofree char *path = kmt_capture_path(capture, "kallsyms");
	g_autoptr(GError) error = NULL;

	if (!path) {
		warn(warnings, "the capture has no kallsyms: %s",
		     NO_NAMES_HINT);
		return;
	}
	names->symbols = kmt_symbols_load(path, modules, &error);
	if (names->symbols)
		names->source = g_steal_pointer(&path);
	else
		warn(warnings, "%s: %s", error->message, NO_NAMES_HINT);
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

KmtNames *kmt_names_open(const KmtCapture *capture,
			 const KmtNamesOptions *options, GPtrArray *warnings,
			 GError **error)
{
	g_autoptr(KmtNames) names = g_new0(KmtNames, 1);
	g_autofree char *modules = kmt_capture_path(capture, "modules");
	const char *path = options->kallsyms;

	if (options->raw)
		return g_steal_pointer(&names);
	if (!path)
		path = options->system_map;
	if (!path) {
		open_captured(names, capture, modules, warnings);
		return g_steal_pointer(&names);
	}
	names->symbols = kmt_symbols_load(path, modules, error);
	if (!names->symbols)
		return NULL;
	names->source = g_strdup(path);
	if (options->system_map)
		compare_with_captured(names, capture, warnings);
	return g_steal_pointer(&names);
}

void kmt_names_free(KmtNames *names)
{
	if (!names)
		return;
	kmt_symbols_free(names->symbols);
	g_free(names->source);
	g_free(names);
}

void kmt_names_check(const KmtNames *names, const KmtSites *sites,
		     GPtrArray *warnings)
{
	guint32 i, n_unknown = 0;
	KmtSymbol symbol;

	if (!names->symbols)
		return;
	for (i = 0; i < sites->n_sites; i++)
		if (!kmt_symbols_lookup(names->symbols, sites->sites[i].address,
					&symbol))
			n_unknown++;
	/* Those in modules that a System.map does not have stay below half. */
	if (n_unknown > sites->n_sites / 2)
		warn(warnings,
		     "%u of %u call sites lie in no function of '%s': it is "
		     "of another kernel, or of this one before KASLR moved it",
		     n_unknown, sites->n_sites, names->source);
}

char *kmt_names_format(const KmtNames *names, guint64 address)
{
	KmtSymbol symbol;

	if (!names->symbols ||
	    !kmt_symbols_lookup(names->symbols, address, &symbol))
		return NULL;
	if (!symbol.module)
		return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x",
				       symbol.name, symbol.offset);
	return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x [%s]", symbol.name,
			       symbol.offset, symbol.module);
}
