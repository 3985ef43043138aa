/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of tasks and functions in a trace.dat file. */
#ifndef KMEMTRACE_IMPORT_DAT_NAMES_H
#define KMEMTRACE_IMPORT_DAT_NAMES_H

#include "import/dat-file.h"
#include "import/import.h"

/*
 * Copy names from the task table of the file to import, for the tasks that
 * import has found in events and that have no name yet. Call the function after
 * all events were added.
 */
void kmt_dat_name_tasks(const KmtDatFile *dat, KmtImport *import);

/*
 * Write the file's kallsyms into the capture. A kallsyms without addresses is
 * ignored. Returns FALSE and sets *error if the capture cannot be written.
 */
gboolean kmt_dat_name_functions(const KmtDatFile *dat, KmtImport *import,
				GError **error);

#endif
