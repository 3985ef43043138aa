/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of kernel functions for a recording that does not contain them. */
#ifndef KMEMTRACE_IMPORT_IMPORT_SYMBOLS_H
#define KMEMTRACE_IMPORT_IMPORT_SYMBOLS_H

#include "import/import.h"

/*
 * Return the text of the kallsyms that kmt_import_symbols_copy() would use if
 * the input contained no kallsyms, or NULL. kmt_import_kernel() must be filled
 * in before. The caller frees the text.
 */
char *kmt_import_symbols_text(const KmtImport *import,
			      const KmtImportSymbolFiles *files);

/*
 * Write kallsyms and modules into the capture. The sources, in order of
 * preference: the files of --kallsyms and --modules, a kallsyms of the input
 * that was already written, this machine if it still runs the recorded boot,
 * and perf's build-id cache. *note receives a sentence for the user, which the
 * caller frees, or NULL. Returns FALSE and sets *error if a given file or the
 * modules of this machine cannot be read, or the capture cannot be written.
 */
gboolean kmt_import_symbols_copy(KmtImport *import, KmtCaptureWriter *output,
				 const KmtImportSymbolFiles *files, char **note,
				 GError **error);

#endif
