/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selects the reader of the user's input. */
#ifndef KMEMTRACE_IMPORT_INPUT_FILE_H
#define KMEMTRACE_IMPORT_INPUT_FILE_H

#include "import/import.h"

/*
 * Import the files at paths, which ends with NULL.  Several of them have to be
 * of one perf record --switch-output.  buffer: see kmt_import_trace_dat().
 */
gboolean kmt_import_read(KmtImport *import, char *const *paths,
			 const char *buffer, GError **error);

#endif
