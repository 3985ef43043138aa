/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the code of a file with debug information was in the running kernel,
 * by the symbols that both have.
 */
#ifndef KMEMTRACE_SYMBOLS_SOURCE_LOCATION_H
#define KMEMTRACE_SYMBOLS_SOURCE_LOCATION_H

#include "lib/symbols/debug-file.h"
#include "lib/symbols/kallsyms.h"

/*
 * How far the kernel was moved (KASLR): running address minus the file's.
 * Unless is_same, as build ids have shown, a sample of its symbols must agree.
 * path is for messages; errors are KMT_SYM_DWARF_ERROR.
 */
gboolean kmt_sym_kernel_offset(const KmtSymDebugFile *vmlinux, const char *path,
			       const KmtSymTable *symbols, gboolean is_same,
			       guint64 *bias, GError **error);

/* A module: each of its sections went elsewhere. */
typedef struct KmtSymModuleMap KmtSymModuleMap;

/* NULL: the file is not of the module that was running. */
KmtSymModuleMap *kmt_sym_module_map_new(const KmtSymDebugFile *file,
					const KmtSymTable *symbols,
					const char *module);
void kmt_sym_module_map_free(KmtSymModuleMap *place);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymModuleMap, kmt_sym_module_map_free)

/* The file's address for one that symbol was found for; FALSE: unknown. */
gboolean kmt_sym_module_map_lookup(const KmtSymModuleMap *place,
				   guint64 address, const KmtSymbol *symbol,
				   guint64 *in_file);

#endif
