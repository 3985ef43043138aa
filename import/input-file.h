/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the reader for the user's input files. */
#ifndef KMEMTRACE_IMPORT_INPUT_FILE_H
#define KMEMTRACE_IMPORT_INPUT_FILE_H

#include "import/import.h"

/*
 * Import the files in the NULL-terminated array paths. Several files must come
 * from one perf record --switch-output. For buffer, see kmt_import_trace_dat().
 * Returns FALSE and sets *error if the files cannot be imported.
 */
gboolean kmt_import_read(KmtImport *import, char *const *paths,
			 const char *buffer, GError **error);

#endif
