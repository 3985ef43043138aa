/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the kernel's addresses, for a capture whose file has none. */
#ifndef KMEMTRACE_IMPORT_SYMBOLS_H
#define KMEMTRACE_IMPORT_SYMBOLS_H

#include "import/import.h"

typedef struct {
	const char *kallsyms; /* files that the user gave, or NULL */
	const char *modules;
	const char *proc; /* where procfs is mounted */
	const char *sys;  /* and sysfs */
} KmtSymbolFiles;

/*
 * Puts kallsyms and modules beside the records: those that were given, or this
 * machine's if it runs that very kernel, at the same addresses.  *note: what
 * the user should know, or NULL.
 */
gboolean kmt_symbols_copy(KmtImport *import, KmtOutput *output,
			  const KmtSymbolFiles *files, char **note,
			  GError **error);

#endif
