/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions by the directory of a built kernel tree that they were compiled in,
 * for kernels without debug information.
 */
#ifndef KMEMTRACE_SYMBOLS_BUILD_TREE_H
#define KMEMTRACE_SYMBOLS_BUILD_TREE_H

#include <glib.h>

#define KMT_SYM_BUILD_TREE_ERROR (kmt_sym_build_tree_error_quark())
GQuark kmt_sym_build_tree_error_quark(void);

typedef enum {
	KMT_SYM_BUILD_TREE_ERROR_UNSUPPORTED, /* built without libelf */
	KMT_SYM_BUILD_TREE_ERROR_READ,	    /* no directory that can be read */
	KMT_SYM_BUILD_TREE_ERROR_NOT_BUILT, /* no object files in it */
} KmtSymBuildTreeError;

/* What kmt_sym_build_tree_directory() says if it cannot tell one from another.
 */
#define KMT_SYM_BUILD_TREE_AMBIGUOUS "(ambiguous)"

typedef struct KmtSymBuildTree KmtSymBuildTree;

/* Reads the symbols of all objects under path, which takes its time. */
KmtSymBuildTree *kmt_sym_build_tree_open(const char *path, GError **error);
void kmt_sym_build_tree_free(KmtSymBuildTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymBuildTree, kmt_sym_build_tree_free)

/*
 * "net/core"; KMT_SYM_BUILD_TREE_AMBIGUOUS if functions of that name are in
 * several directories; NULL if in none.  module NULL: of the kernel itself.
 * Equal directories are the same string, which is the tree's.  Any thread.
 */
const char *kmt_sym_build_tree_directory(const KmtSymBuildTree *tree,
					 const char *function,
					 const char *module);

#endif
