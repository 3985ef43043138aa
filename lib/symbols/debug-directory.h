/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find the debug files of a kernel and of its modules in a directory. */
#ifndef KMEMTRACE_SYMBOLS_DEBUG_DIRECTORY_H
#define KMEMTRACE_SYMBOLS_DEBUG_DIRECTORY_H

#include <glib.h>

typedef struct KmtSymDebugDir KmtSymDebugDir;

/*
 * Index the debug files of modules below @path. @release is the release of the
 * traced kernel, or NULL. If the directory has files of several releases, the
 * files of @release are preferred. Return NULL with a G_FILE_ERROR if @path is
 * not a readable directory. The caller frees the result.
 */
KmtSymDebugDir *kmt_sym_debug_dir_open(const char *path, const char *release,
				       GError **error);
void kmt_sym_debug_dir_free(KmtSymDebugDir *dir);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KmtSymDebugDir, kmt_sym_debug_dir_free)

/*
 * Return the path of the vmlinux, or NULL if the directory has none. @build_id
 * is hexadecimal, or NULL if unknown. The caller frees the path.
 */
char *kmt_sym_debug_dir_vmlinux(const KmtSymDebugDir *dir,
				const char *build_id);

/*
 * Return the paths (const char *) of the module's debug files, the most likely
 * file first; NULL if there are none. A '-' in a file name counts as '_', and
 * @module must have '_', as in kallsyms. @dir owns the array.
 */
const GPtrArray *kmt_sym_debug_dir_module(const KmtSymDebugDir *dir,
					  const char *module);

#endif
