/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of kernel functions, from /proc/kallsyms or a System.map: both are
 * lines of "address type name", kallsyms adds "[module]".
 *
 * A KmtSymbols may be loaded in any thread, or by several in turn, and asked by
 * several at once.
 */
#ifndef KMEMTRACE_SYMBOLS_KALLSYMS_H
#define KMEMTRACE_SYMBOLS_KALLSYMS_H

#include <glib.h>

#define KMT_SYMBOLS_ERROR (kmt_symbols_error_quark())
GQuark kmt_symbols_error_quark(void);

typedef enum {
	KMT_SYMBOLS_ERROR_READ,
	KMT_SYMBOLS_ERROR_FORMAT, /* no line of it is a symbol */
	KMT_SYMBOLS_ERROR_HIDDEN, /* all addresses are 0 (kptr_restrict) */
} KmtSymbolsError;

typedef struct KmtSymbols KmtSymbols;

/* The strings are those of the KmtSymbols. */
typedef struct {
	const char *name;
	const char *module; /* NULL: the kernel itself */
	guint64 offset;	    /* of the address, from the function's start */
} KmtSymbol;

/*
 * path: a file, a pipe or /proc/kallsyms itself; a file stays mapped, and one
 * that is shortened meanwhile raises SIGBUS.  modules: a copy of /proc/modules,
 * which tells where modules end; or NULL.
 */
KmtSymbols *kmt_symbols_load(const char *path, const char *modules,
			     GError **error);

/*
 * The same little by little.  Whoever began it ends it: what remains is read
 * then, and loader is gone.
 */
typedef struct KmtSymbolsLoader KmtSymbolsLoader;

KmtSymbolsLoader *kmt_symbols_begin(const char *path, const char *modules,
				    GError **error);
/* Reads so many lines more.  FALSE: there are none left. */
gboolean kmt_symbols_go_on(KmtSymbolsLoader *loader, guint n_lines);
KmtSymbols *kmt_symbols_end(KmtSymbolsLoader *loader, GError **error);
/* Nobody needs them after all. */
void kmt_symbols_drop(KmtSymbolsLoader *loader);

void kmt_symbols_free(KmtSymbols *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymbols, kmt_symbols_free)

/* FALSE if address, a return address, lies in no known function. */
gboolean kmt_symbols_lookup(const KmtSymbols *symbols, guint64 address,
			    KmtSymbol *symbol);

/* The addresses of _stext and _text; 0 if unknown. */
guint64 kmt_symbols_stext(const KmtSymbols *symbols);
guint64 kmt_symbols_text(const KmtSymbols *symbols);

/* The symbols by address, one for each address that has any. */
typedef struct {
	guint64 address;
	const char *name;   /* of the KmtSymbols */
	const char *module; /* likewise; NULL: the kernel itself */
	gboolean code;	    /* of a function */
} KmtSymbolEntry;

guint kmt_symbols_count(const KmtSymbols *symbols);
/* index < kmt_symbols_count(symbols) */
void kmt_symbols_get(const KmtSymbols *symbols, guint index,
		     KmtSymbolEntry *entry);
/* Those of a module only. */
typedef void (*KmtSymbolFunc)(const KmtSymbolEntry *entry, gpointer user);
void kmt_symbols_foreach_of_module(const KmtSymbols *symbols,
				   const char *module, KmtSymbolFunc func,
				   gpointer user);

/* Where modules says that a module begins; 0 if it does not. */
guint64 kmt_symbols_module_start(const KmtSymbols *symbols, const char *module);

#endif
