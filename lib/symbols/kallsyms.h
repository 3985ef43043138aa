/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of kernel functions, from /proc/kallsyms or a System.map: both are
 * lines of "address type name", kallsyms adds "[module]".
 *
 * A KmtSymTable may be loaded in any thread, or by several in turn, and asked
 * by several at once.
 */
#ifndef KMEMTRACE_SYMBOLS_KALLSYMS_H
#define KMEMTRACE_SYMBOLS_KALLSYMS_H

#include <glib.h>

#define KMT_SYM_TABLE_ERROR (kmt_sym_table_error_quark())
GQuark kmt_sym_table_error_quark(void);

typedef enum {
	KMT_SYM_TABLE_ERROR_READ,
	KMT_SYM_TABLE_ERROR_FORMAT, /* no line of it is a symbol */
	KMT_SYM_TABLE_ERROR_HIDDEN, /* all addresses are 0 (kptr_restrict) */
} KmtSymTableError;

typedef struct KmtSymTable KmtSymTable;

/* The strings are those of the KmtSymTable. */
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
KmtSymTable *kmt_sym_table_load(const char *path, const char *modules,
				GError **error);

/*
 * The same little by little.  Whoever began it ends it: what remains is read
 * then, and loader is gone.
 */
typedef struct KmtSymTableLoader KmtSymTableLoader;

KmtSymTableLoader *kmt_sym_table_begin(const char *path, const char *modules,
				       GError **error);
/* Reads so many lines more.  FALSE: there are none left. */
gboolean kmt_sym_table_go_on(KmtSymTableLoader *loader, guint n_lines);
KmtSymTable *kmt_sym_table_end(KmtSymTableLoader *loader, GError **error);
/* Nobody needs them after all. */
void kmt_sym_table_drop(KmtSymTableLoader *loader);

void kmt_sym_table_free(KmtSymTable *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymTable, kmt_sym_table_free)

/* FALSE if address, a return address, lies in no known function. */
gboolean kmt_sym_table_lookup(const KmtSymTable *symbols, guint64 address,
			      KmtSymbol *symbol);

/* The addresses of _stext and _text; 0 if unknown. */
guint64 kmt_sym_table_stext(const KmtSymTable *symbols);
guint64 kmt_sym_table_text(const KmtSymTable *symbols);

/* The symbols by address, one for each address that has any. */
typedef struct {
	guint64 address;
	const char *name;   /* of the KmtSymTable */
	const char *module; /* likewise; NULL: the kernel itself */
	gboolean code;	    /* of a function */
} KmtSymEntry;

guint kmt_sym_table_count(const KmtSymTable *symbols);
/* index < kmt_sym_table_count(symbols) */
void kmt_sym_table_get(const KmtSymTable *symbols, guint index,
		       KmtSymEntry *entry);
/* Those of a module only. */
typedef void (*KmtSymFunc)(const KmtSymEntry *entry, gpointer user);
void kmt_sym_table_foreach_of_module(const KmtSymTable *symbols,
				     const char *module, KmtSymFunc func,
				     gpointer user);

/* Where modules says that a module begins; 0 if it does not. */
guint64 kmt_sym_table_module_start(const KmtSymTable *symbols,
				   const char *module);

#endif
