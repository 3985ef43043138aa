/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of kernel functions, from /proc/kallsyms or a System.map. Both files
 * consist of lines "address type name"; kallsyms appends "[module]" to the
 * symbols of a module.
 *
 * Any thread may load a KmtSymTable. Afterwards, several threads may use the
 * table at the same time.
 */
#ifndef KMEMTRACE_SYMBOLS_KALLSYMS_H
#define KMEMTRACE_SYMBOLS_KALLSYMS_H

#include <glib.h>

#define KMT_SYM_TABLE_ERROR (kmt_sym_table_error_quark())
GQuark kmt_sym_table_error_quark(void);

typedef enum {
	KMT_SYM_TABLE_ERROR_READ,
	KMT_SYM_TABLE_ERROR_FORMAT, /* no line describes a symbol, or the file
				     * is too large */
	KMT_SYM_TABLE_ERROR_HIDDEN, /* all addresses are 0 (kptr_restrict) */
} KmtSymTableError;

typedef struct KmtSymTable KmtSymTable;

/* Symbol of an address. The KmtSymTable owns the strings, or the KmtSymTags if
 * the symbol comes from an allocation tag. */
typedef struct {
	const char *name;
	const char *module; /* NULL: the kernel itself */
	guint64 offset;	    /* of the address from the start of the function, in
			     * bytes */
	guint line;	    /* source line if the symbol comes from an
			     * allocation tag (offset is then 0); else 0 */
} KmtSymbol;

/*
 * Load a symbol table. @path names a file, a pipe, or /proc/kallsyms itself. A
 * regular file is mapped if possible; if a mapped file is truncated afterwards,
 * access raises SIGBUS. @modules is the path of a copy of /proc/modules, from
 * which the address ranges of modules are read if possible, or NULL. On error
 * return NULL with a KMT_SYM_TABLE_ERROR. The caller frees the result.
 */
KmtSymTable *kmt_sym_table_load(const char *path, const char *modules,
				GError **error);

void kmt_sym_table_free(KmtSymTable *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymTable, kmt_sym_table_free)

/*
 * Find the function that contains a return address. Return FALSE if no known
 * function contains it. Any thread may call this function.
 */
gboolean kmt_sym_table_lookup(const KmtSymTable *symbols, guint64 address,
			      KmtSymbol *symbol);

/*
 * kmt_sym_table_stext() returns the address of _stext, and kmt_sym_table_text()
 * returns the address of _text; 0 if unknown.
 */
guint64 kmt_sym_table_stext(const KmtSymTable *symbols);
guint64 kmt_sym_table_text(const KmtSymTable *symbols);

/*
 * One symbol. The table is sorted by address and has one symbol for each
 * address.
 */
typedef struct {
	guint64 address;
	const char *name; /* owned by the KmtSymTable */
	/* owned by the KmtSymTable; NULL: the kernel itself */
	const char *module;
	gboolean code; /* the symbol is a function */
} KmtSymEntry;

guint kmt_sym_table_count(const KmtSymTable *symbols);
/*
 * Get the symbol with this index, which must be less than
 * kmt_sym_table_count().
 */
void kmt_sym_table_get(const KmtSymTable *symbols, guint index,
		       KmtSymEntry *entry);
/* Call @func for each symbol of the table that belongs to the module, in order
 * of address. */
typedef void (*KmtSymFunc)(const KmtSymEntry *entry, gpointer user);
void kmt_sym_table_foreach_of_module(const KmtSymTable *symbols,
				     const char *module, KmtSymFunc func,
				     gpointer user);

/*
 * Return the start address of the module according to the copy of
 * /proc/modules; 0 if unknown.
 */
guint64 kmt_sym_table_module_start(const KmtSymTable *symbols,
				   const char *module);

#endif
