/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug files of a kernel and its modules, in a directory. */
#ifndef KMEMTRACE_SYMBOLS_DEBUG_DIRECTORY_H
#define KMEMTRACE_SYMBOLS_DEBUG_DIRECTORY_H

#include <glib.h>

typedef struct KmtSymDebugDir KmtSymDebugDir;

/*
 * release: of the traced kernel, whose files come first where there are those
 * of several; or NULL.  NULL with a G_FILE_ERROR if path is no directory that
 * can be read.
 */
KmtSymDebugDir *kmt_sym_debug_dir_open(const char *path, const char *release,
				       GError **error);
void kmt_sym_debug_dir_free(KmtSymDebugDir *dir);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymDebugDir, kmt_sym_debug_dir_free)

/* Path of the vmlinux; build_id in hex or NULL.  NULL: none is there. */
char *kmt_sym_debug_dir_vmlinux(const KmtSymDebugDir *dir,
				const char *build_id);

/*
 * Paths (const char *) of the module's files, the likeliest first; NULL: none.
 * '-' and '_' are the same in names of modules.
 */
const GPtrArray *kmt_sym_debug_dir_module(const KmtSymDebugDir *dir,
					  const char *module);

#endif
