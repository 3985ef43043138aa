/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of kernel functions, from /proc/kallsyms or a System.map: both are
 * lines of "address type name", kallsyms adds "[module]".
 */
#ifndef KMEMTRACE_REPORT_SYMBOLS_H
#define KMEMTRACE_REPORT_SYMBOLS_H

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

/* modules: a copy of /proc/modules, which tells where modules end; or NULL. */
KmtSymbols *kmt_symbols_load(const char *path, const char *modules,
			     GError **error);
void kmt_symbols_free(KmtSymbols *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymbols, kmt_symbols_free)

/* FALSE if address, a return address, lies in no known function. */
gboolean kmt_symbols_lookup(const KmtSymbols *symbols, guint64 address,
			    KmtSymbol *symbol);

/* The address of _stext; 0 if unknown. */
guint64 kmt_symbols_stext(const KmtSymbols *symbols);

#endif
