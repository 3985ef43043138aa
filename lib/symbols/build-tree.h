/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Map a kernel function to the source directory it was compiled in.  The input
 * is a built kernel tree, so that kernels without debug information can be
 * used.
 */
#ifndef KMEMTRACE_SYMBOLS_BUILD_TREE_H
#define KMEMTRACE_SYMBOLS_BUILD_TREE_H

#include <glib.h>

#define KMT_SYM_BUILD_TREE_ERROR (kmt_sym_build_tree_error_quark())
GQuark kmt_sym_build_tree_error_quark(void);

typedef enum {
	KMT_SYM_BUILD_TREE_ERROR_UNSUPPORTED, /* built without libdw */
	KMT_SYM_BUILD_TREE_ERROR_READ,	      /* not a readable directory */
	KMT_SYM_BUILD_TREE_ERROR_NOT_BUILT, /* no object files in the directory
					     */
} KmtSymBuildTreeError;

/* Result of kmt_sym_build_tree_directory() for a function name whose possible
 * definitions are in several directories. */
#define KMT_SYM_BUILD_TREE_AMBIGUOUS "(ambiguous)"

typedef struct KmtSymBuildTree KmtSymBuildTree;

/*
 * Read the symbols of the kernel's object files under @path.  For a whole
 * kernel this takes seconds.  On error return NULL with a
 * KMT_SYM_BUILD_TREE_ERROR.  The caller frees the result.
 */
KmtSymBuildTree *kmt_sym_build_tree_open(const char *path, GError **error);
void kmt_sym_build_tree_free(KmtSymBuildTree *tree);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymBuildTree, kmt_sym_build_tree_free)

/*
 * Return the directory that @function was compiled in, relative to the root of
 * the tree: "net/core".  @module is the module that holds the function, NULL
 * for the kernel itself.  Definitions for @module are preferred to others; of
 * the definitions for @module, strong ones are preferred to weak ones. The
 * result is KMT_SYM_BUILD_TREE_AMBIGUOUS if the preferred definitions are in
 * several directories, and NULL if there is no definition. Equal directories
 * are the same string, which is valid as long as the tree. Any thread may call
 * this function.
 */
const char *kmt_sym_build_tree_directory(const KmtSymBuildTree *tree,
					 const char *function,
					 const char *module);

#endif
