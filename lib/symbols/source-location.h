/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translate addresses of the running kernel to addresses of a debug file. The
 * translation is computed from the symbols that occur both in the kernel's
 * symbol table and in the debug file.
 */
#ifndef KMEMTRACE_SYMBOLS_SOURCE_LOCATION_H
#define KMEMTRACE_SYMBOLS_SOURCE_LOCATION_H

#include "lib/symbols/debug-file.h"
#include "lib/symbols/kallsyms.h"

/*
 * Compute how far KASLR moved the kernel: *bias is the running address minus
 * the address in the file. Unless @is_same (the build IDs are equal), a sample
 * of the symbols must agree. @path is used in messages. On error return FALSE
 * with a KMT_SYM_DWARF_ERROR.
 */
gboolean kmt_sym_kernel_offset(const KmtSymDebugFile *vmlinux, const char *path,
			       const KmtSymTable *symbols, gboolean is_same,
			       guint64 *bias, GError **error);

/*
 * Address map of a module. The kernel places each section of a module
 * separately, so each section has its own offset.
 */
typedef struct KmtSymModuleMap KmtSymModuleMap;

/*
 * Create the map for the module @module from the symbols of its debug file and
 * of the running kernel. The file must outlive the map. Return NULL if the file
 * does not match the running module. The caller frees the map.
 */
KmtSymModuleMap *kmt_sym_module_map_new(const KmtSymDebugFile *file,
					const KmtSymTable *symbols,
					const char *module);
void kmt_sym_module_map_free(KmtSymModuleMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymModuleMap, kmt_sym_module_map_free)

/*
 * Translate a running @address into *file_address, an address of the file.
 * @symbol is the result of kmt_sym_table_lookup() for @address. Return FALSE if
 * the address in the file is not known.
 */
gboolean kmt_sym_module_map_lookup(const KmtSymModuleMap *map, guint64 address,
				   const KmtSymbol *symbol,
				   guint64 *file_address);

#endif
