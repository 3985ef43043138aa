/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug files of a kernel and its modules, in a directory. */
#ifndef KMEMTRACE_SYMBOLS_DEBUG_DIRECTORY_H
#define KMEMTRACE_SYMBOLS_DEBUG_DIRECTORY_H

#include <glib.h>

typedef struct KmtDebugDir KmtDebugDir;

/*
 * release: of the traced kernel, whose files come first where there are those
 * of several; or NULL.  NULL with a G_FILE_ERROR if path is no directory that
 * can be read.
 */
KmtDebugDir *kmt_debug_dir_open(const char *path, const char *release,
				GError **error);
void kmt_debug_dir_free(KmtDebugDir *dir);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtDebugDir, kmt_debug_dir_free)

/* Path of the vmlinux; build_id in hex or NULL.  NULL: none is there. */
char *kmt_debug_dir_vmlinux(const KmtDebugDir *dir, const char *build_id);

/*
 * Paths (const char *) of the module's files, the likeliest first; NULL: none.
 * '-' and '_' are the same in names of modules.
 */
const GPtrArray *kmt_debug_dir_module(const KmtDebugDir *dir,
				      const char *module);

#endif
