/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the kernel's addresses, for a capture whose file has none. */
#ifndef KMEMTRACE_IMPORT_IMPORT_SYMBOLS_H
#define KMEMTRACE_IMPORT_IMPORT_SYMBOLS_H

#include "import/import.h"

/*
 * The kallsyms from which kmt_import_symbols_copy() would take names, as text,
 * or NULL.  The kernel of import has to be known.  The caller frees the text.
 */
char *kmt_import_symbols_text(const KmtImport *import,
			      const KmtImportSymbolFiles *files);

/*
 * Puts kallsyms and modules beside the records: those that were given, or this
 * machine's if it runs that very kernel, at the same addresses, or those of
 * perf's build-id cache.  *note: what the user should know, or NULL.
 */
gboolean kmt_import_symbols_copy(KmtImport *import, KmtCaptureWriter *output,
				 const KmtImportSymbolFiles *files, char **note,
				 GError **error);

#endif
