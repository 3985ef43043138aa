// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stubs for a build without libdw. The functions that open debug information or
 * a build tree return an error.
 */
#include "config.h"

#include "lib/symbols/dwarf.h"
#include "lib/symbols/build-tree.h"

#define WITHOUT_LIBDW                                                          \
	"this program was built without libdw, which reads debug information " \
	"and object files"

G_DEFINE_QUARK(kmt_sym_build_tree_error, kmt_sym_build_tree_error)

KmtSymDwarf *kmt_sym_dwarf_open(const KmtSymDwarfOptions *options,
				const KmtSymTable *symbols, GPtrArray *warnings,
				GError **error)
{
	g_set_error_literal(error, KMT_SYM_DWARF_ERROR,
			    KMT_SYM_DWARF_ERROR_UNSUPPORTED, WITHOUT_LIBDW);
	return NULL;
}

void kmt_sym_dwarf_free(KmtSymDwarf *dwarf)
{
}

gboolean kmt_sym_dwarf_lookup(KmtSymDwarf *dwarf, guint64 address,
			      KmtSymSourceLine *source)
{
	return FALSE;
}

const char *kmt_sym_dwarf_directory(KmtSymDwarf *dwarf, guint64 address)
{
	return NULL;
}

void kmt_sym_dwarf_check_modules(KmtSymDwarf *dwarf, const guint64 *addresses,
				 guint n, GPtrArray *warnings)
{
}

KmtSymBuildTree *kmt_sym_build_tree_open(const char *path, GError **error)
{
	g_set_error_literal(error, KMT_SYM_BUILD_TREE_ERROR,
			    KMT_SYM_BUILD_TREE_ERROR_UNSUPPORTED,
			    WITHOUT_LIBDW);
	return NULL;
}

void kmt_sym_build_tree_free(KmtSymBuildTree *tree)
{
}

const char *kmt_sym_build_tree_directory(const KmtSymBuildTree *tree,
					 const char *function,
					 const char *module)
{
	return NULL;
}
