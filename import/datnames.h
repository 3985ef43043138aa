/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of tasks and functions in a trace.dat. */
#ifndef KMEMTRACE_IMPORT_DATNAMES_H
#define KMEMTRACE_IMPORT_DATNAMES_H

#include "import/datfile.h"
#include "import/import.h"

/* Name the tasks of import's records. */
void dat_name_tasks(const DatFile *dat, KmtImport *import);

/* Make the file's kallsyms that of the capture, if it has addresses. */
gboolean dat_name_functions(const DatFile *dat, KmtImport *import,
			    GError **error);

#endif
