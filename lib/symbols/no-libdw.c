// SPDX-License-Identifier: GPL-2.0-or-later
/* What needs libdw, where it was not there when the programs were built. */
#include "config.h"

#include "lib/symbols/dwarf.h"
#include "lib/symbols/build-tree.h"

#define WITHOUT_LIBDW                                                          \
	"this program was built without libdw, which reads debug information " \
	"and object files"

G_DEFINE_QUARK(kmt_tree_error, kmt_tree_error)

KmtDwarf *kmt_dwarf_open(const KmtDwarfOptions *options,
			 const KmtSymbols *symbols, GPtrArray *warnings,
			 GError **error)
{
	g_set_error_literal(error, KMT_DWARF_ERROR, KMT_DWARF_ERROR_UNSUPPORTED,
			    WITHOUT_LIBDW);
	return NULL;
}

void kmt_dwarf_free(KmtDwarf *dwarf)
{
}

gboolean kmt_dwarf_lookup(KmtDwarf *dwarf, guint64 address,
			  KmtSourceLine *source)
{
	return FALSE;
}

const char *kmt_dwarf_directory(KmtDwarf *dwarf, guint64 address)
{
	return NULL;
}

void kmt_dwarf_check_modules(KmtDwarf *dwarf, const guint64 *addresses, guint n,
			     GPtrArray *warnings)
{
}

KmtTree *kmt_tree_open(const char *path, GError **error)
{
	g_set_error_literal(error, KMT_TREE_ERROR, KMT_TREE_ERROR_UNSUPPORTED,
			    WITHOUT_LIBDW);
	return NULL;
}

void kmt_tree_free(KmtTree *tree)
{
}

const char *kmt_tree_directory(const KmtTree *tree, const char *function,
			       const char *module)
{
	return NULL;
}
